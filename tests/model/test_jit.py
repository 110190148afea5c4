"""Compiled functions are kept on the disk, and made anew when any source beside them changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

KERNELS = """
from model.jit import compiled

@compiled
def scaled(value):
    return {factor} * value
"""
STEP = """
from kernels import scaled
from model.jit import announced, compiled

@compiled
def step(value):
    return scaled(value) + 1

with announced():
    print(step(5))
"""


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join((str(folder), str(ROOT)))
    return subprocess.run(
        [sys.executable, str(folder / "step.py")],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "kernels.py").write_text(KERNELS.format(factor=2))
    (sources / "step.py").write_text(STEP)
    return sources


def kept(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.rglob("*.nbi"))


def test_a_second_start_compiles_nothing_until_a_file_changes(folder: Path) -> None:
    first, second = run(folder), run(folder)
    assert (first.stdout, second.stdout) == ("11\n", "11\n")
    assert "Compiling for this processor" in first.stderr and not second.stderr
    before = kept(folder / "__pycache__")
    for path in (folder / "__pycache__").iterdir():
        os.utime(path, (0, 0))  # as if nothing had been added for long
    (folder / "kernels.py").write_text(KERNELS.format(factor=3))  # step.py, into which it was compiled, is the same
    third = run(folder)
    assert third.stdout == "16\n" and "Compiling" in third.stderr
    after = kept(folder / "__pycache__")
    assert before and after and not set(before) & set(after)  # the old ones are gone


def test_where_the_folder_cannot_be_written_the_user_s_cache_is_taken(folder: Path, tmp_path: Path) -> None:
    (folder / "__pycache__").write_text("a file, so no folder can be made here")
    first, second = (run(folder, XDG_CACHE_HOME=str(tmp_path / "cache")) for _ in range(2))
    assert first.stdout == second.stdout == "11\n" and "Compiling" in first.stderr and not second.stderr
    assert kept(tmp_path / "cache" / "attend")


def test_where_nothing_can_be_written_it_is_compiled_at_each_start(folder: Path) -> None:
    (folder / "__pycache__").write_text("a file, so no folder can be made here")
    runs = [run(folder, XDG_CACHE_HOME="/dev/null") for _ in range(2)]
    assert [ran.stdout for ran in runs] == ["11\n", "11\n"] and all("Compiling" in ran.stderr for ran in runs)


def test_a_numba_that_does_not_start_counts_as_none(folder: Path) -> None:
    (folder / "numba").mkdir()
    (folder / "numba" / "__init__.py").write_text("raise ImportError('Numba needs NumPy 1.0 or less')")
    assert run(folder).stdout == "11\n" and not kept(folder)


def test_without_numba_plain_functions_do_the_same(folder: Path) -> None:
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['numba'] = None\n")
    assert run(folder).stdout == "11\n"
