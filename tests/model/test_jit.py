"""Compiled functions are kept on the disk, and made anew when any source beside them changes."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
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


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def one_bit_changed(path: Path) -> None:
    """It still unpickles, but as other machine code."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def not_pickled(path: Path) -> None:
    path.write_text("<html>")


def a_folder(path: Path) -> None:
    path.unlink()
    (path / "in" / "it").mkdir(parents=True)


DAMAGES: list[Callable[[Path], None]] = [truncated, emptied, zeroed, one_bit_changed, not_pickled, a_folder]


def run(
    folder: Path, *, before: Callable[[], None] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """
    Args:
        before: called in the new process.
    """
    paths = os.pathsep.join((str(folder), str(ROOT)))
    return subprocess.run(
        [sys.executable, str(folder / "step.py")],
        preexec_fn=before,
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


def test_a_second_start_compiles_nothing_until_a_file_changes_in_a_folder_of_any_name(folder: Path) -> None:
    folder = folder.rename(os.fsdecode(os.fsencode(folder) + b"-\xe9"))  # which is not UTF-8
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
    ran = run(folder, XDG_CACHE_HOME="/dev/null")
    assert ran.stdout == "11\n" and "Compiling" in ran.stderr and not kept(folder)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("sitecustomize", "import sys\nsys.modules['numba'] = None\n"),
        ("numba", "raise ImportError('Numba needs NumPy 1.0 or less')"),
    ],
    ids=["without one", "one that does not start"],
)
def test_without_numba_plain_functions_do_the_same(folder: Path, module: str, source: str) -> None:
    (folder / f"{module}.py").write_text(source)
    assert run(folder).stdout == "11\n" and not kept(folder)


def test_damaged_files_are_discarded_and_compiled_again(folder: Path) -> None:
    """A file of each function is damaged in another way, as by a power cut or a full disk: the index or the code."""
    damages = [*itertools.product(("nbi", "nbc"), DAMAGES)]
    (folder / "step.py").write_text(
        "from model.jit import compiled\n"
        + "".join(f"@compiled\ndef add{n}(value):\n    return value + {n}\n" for n in range(len(damages)))
        + f"print({' + '.join(f'add{n}(1)' for n in range(len(damages)))})\n"
    )
    assert run(folder).stdout == "78\n"  # 0 + 1 + … + 11, and twelve ones
    for number, (suffix, damage) in enumerate(damages):
        (path,) = folder.rglob(f"*add{number}-*.{suffix}")
        damage(path)
    second, third = run(folder), run(folder)
    assert second.stdout == third.stdout == "78\n" and not third.stderr
    assert second.stderr == "Note: the compiled functions on the disk are damaged, so they are compiled again.\n"


def test_a_full_disk_is_said_and_the_function_runs(folder: Path) -> None:
    """A file may have no byte, which is an error of writing as well."""
    resource = pytest.importorskip("resource", reason="this system has no such limits")
    full = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (0, 0))
    ran = run(folder, before=full)
    assert ran.stdout == "11\n" and not kept(folder)
    assert ran.stderr.count("Note: compiled functions can't be kept in ") == 1 and "(File too large)" in ran.stderr
