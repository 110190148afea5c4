"""Attend as a package: built as a stranger builds it, installed beside nothing but its dependencies, and used."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

import attend
from setup import FOLDERS, MODULES, inside_package
from terminal.attend_command import COMMANDS
from tests.conftest import unused_port
from tests.helpers.paths import ROOT
from tests.helpers.waiting import LONGEST

COPIED = ("*.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "requirements*.txt", *FOLDERS)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """By way of a source distribution, from a copy, since a build leaves files behind."""
    folder = tmp_path_factory.mktemp("wheel")
    for path in (path for pattern in COPIED for path in ROOT.glob(pattern)):
        target = folder / "source" / path.name
        if path.is_dir():
            shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.parent.mkdir(exist_ok=True)
            shutil.copy(path, target)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(folder / "source")]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Variables for an environment with the wheel, in whose path its dependencies stand and nothing of the repository.

    numba can't be imported there, since compiling takes a minute.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--quiet", "--python", str(python), "install", "--no-deps", "--no-index"]
    subprocess.run([*install, str(wheel)], check=True, stderr=subprocess.DEVNULL)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    (folder / "without" / "numba").mkdir(parents=True)
    (folder / "without" / "numba" / "__init__.py").write_text("raise ImportError")
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    yield {**os.environ, "PATH": path, "PYTHONPATH": str(folder / "without")}


def run(environment: dict[str, str], folder: Path, *command: str) -> str:
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_wheel_brings_one_package(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {"attend", f"attend-{attend.__version__}.dist-info"}
    assert {f"attend/{module}.py" for module in (*MODULES, "__init__")} <= {*names}


def test_only_imports_of_our_own_rooms_change_and_no_line_moves() -> None:
    source = '"""from model.x import y"""\nfrom model.errors import A  # from ui\nif A:\n    from ui import kit\n'
    expected = source.replace("from model.errors", "from attend.model.errors").replace(
        "from ui im", "from attend.ui im"
    )
    assert inside_package(source) == expected
    assert inside_package("from models import x\nfrom . import ui\nimport attend\n") == (
        "from models import x\nfrom . import ui\nimport attend\n"
    )
    with pytest.raises(ValueError, match=r"line 1 imports ui\.kit"):
        inside_package("import ui.kit\n")


def test_programs_import_it_beside_modules_of_the_same_names(environment: dict[str, str], tmp_path: Path) -> None:
    for name in (*FOLDERS, *MODULES):
        (tmp_path / f"{name}.py").write_text("raise ImportError('somebody else')")
    program = 'import attend; print(attend.load("attend-chat").chat("Hi!", strategy="greedy").text, attend.__file__)'
    text, _, file = run(environment, tmp_path, "python", "-c", program).strip().rpartition(" ")
    assert text == attend.load("attend-chat").chat("Hi!", strategy="greedy").text
    assert not Path(file).is_relative_to(ROOT)


def test_its_commands_work_in_any_folder(environment: dict[str, str], tmp_path: Path) -> None:
    assert run(environment, tmp_path, "attend", "--version") == f"Attend {attend.__version__}\n"
    greedy = ("--strategy", "greedy", "--model", "attend-translate")
    translation = attend.load("attend-translate").generate("Où est la gare ?", strategy="greedy").text
    assert run(environment, tmp_path, "attend", "generate", "Où est la gare ?", *greedy) == f"{translation}\n"
    for name in COMMANDS:
        assert run(environment, tmp_path, "attend", name, "--help").startswith(f"usage: attend {name} ")


def test_it_serves_the_page_with_the_embedded_models(environment: dict[str, str], tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{(port := unused_port())}"
    command = ["attend", "--port", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None and f"ready at {address}" in server.stdout.readline()
        try:
            assert "Attend" in httpx.get(address, timeout=LONGEST).text
            listed = httpx.get(f"{address}/v1/models").json()["data"]
            assert {"attend-chat", "attend-translate"} <= {model["id"] for model in listed}
            messages = [{"role": "user", "content": "Hi!"}]
            body = {"model": "attend-chat", "messages": messages, "strategy": "greedy"}
            answer = httpx.post(f"{address}/v1/chat/completions", json=body, timeout=LONGEST).json()
            expected = attend.load("attend-chat").chat("Hi!", strategy="greedy").text
            assert answer["choices"][0]["message"]["content"].strip() == expected.strip()
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(LONGEST) == 0
    assert not list(tmp_path.iterdir())
