"""The Dockerfile, as far as it can be held to without a container runtime: the page starts from what it copies."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from gradio_client import Client

import app
from tests.conftest import unused_port
from tests.helpers.paths import ROOT
from tests.helpers.waiting import LONGEST
from tests.repo.test_readme import COMMANDS, FRONT
from ui.limits import variable

TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LINES = [line for line in TEXT.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
INSTRUCTIONS = [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1].strip()) for line in LINES]


def of(kind: str) -> list[str]:
    return [rest for name, rest in INSTRUCTIONS if name == kind]


def copied() -> list[str]:
    """The sources of all COPY instructions."""
    return [source for line in of("COPY") for source in line.split()[:-1]]


def test_it_runs_as_a_plain_user_on_the_python_of_spaces() -> None:
    assert of("FROM") == [f"python:{yaml.safe_load(FRONT)['python_version']}-slim"]
    (user,) = of("USER")
    assert any(re.search(rf"useradd .*--uid 1000 {user}$", line) for line in of("RUN"))
    after = [name for name, _ in INSTRUCTIONS[INSTRUCTIONS.index(("USER", user)) :]]
    assert not {"RUN", "COPY", "ADD"} & {*after} and "ENTRYPOINT" in after  # nothing is written as that user


def test_its_port_and_its_health_check_are_those_of_the_page() -> None:
    assert of("EXPOSE") == [str(app.PORT)] and of("ENV") == [f"PORT={app.PORT}"]
    (health,) = of("HEALTHCHECK")
    python, flag, program = json.loads(health.partition("CMD ")[2])
    assert (python, flag) == ("python", "-c") and "/healthz" in program
    ast.parse(program)


def test_the_first_page_says_how_to_build_and_run_it() -> None:
    written = [" ".join(command) for command in COMMANDS if command[0] == "docker"]
    assert written == re.findall(r"^#   (docker .*)$", TEXT, flags=re.MULTILINE)
    assert len(written) == 2 and f"{app.PORT}:{app.PORT}" in written[1]


def test_the_build_gets_what_it_copies_and_nothing_else() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    assert rules[0] == "*" and {rule[1:] for rule in rules if rule[0] == "!"} == {*copied()}
    assert all((ROOT / source).exists() for source in copied())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What is copied and nothing else, and beside it a numba that can't be imported: compiling takes a minute."""
    (tmp_path / "app").mkdir()
    for source in copied():
        if source.endswith("/"):
            shutil.copytree(ROOT / source, tmp_path / "app" / source)
        else:
            shutil.copy(ROOT / source, tmp_path / "app")
    (tmp_path / "without" / "numba").mkdir(parents=True)
    (tmp_path / "without" / "numba" / "__init__.py").write_text("raise ImportError")
    return tmp_path


def test_the_page_starts_from_the_copied_files_is_healthy_and_ends_its_answer_on_a_stop_signal(folder: Path) -> None:
    """With the very entry point and health check. Without numba the model takes nine seconds or more for 300 tokens,
    the signal far less. A shell that starts the page in the background makes it ignore Ctrl-C."""
    port = unused_port()
    python, *arguments = json.loads(of("ENTRYPOINT")[0])
    _, *checking = json.loads(of("HEALTHCHECK")[0].partition("CMD ")[2])
    patience = {variable("finish_seconds"): f"{LONGEST:g}"}
    environment = {**os.environ, **patience, "PORT": str(port), "PYTHONPATH": str(folder / "without")}
    command = ["sh", "-c", f"trap '' INT; exec {shlex.join([sys.executable, *arguments])}"]
    with subprocess.Popen(command, cwd=folder / "app", env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert python == "python" and server.stdout is not None and "ready" in server.stdout.readline()
        assert subprocess.run([sys.executable, *checking], env=environment, timeout=LONGEST).returncode == 0
        assert httpx.get(f"http://localhost:{port}/config").status_code == 200
        settings = {"max_new_tokens": 300, "min_new_tokens": 300, "seed": 1}
        answer = Client(f"http://localhost:{port}", verbose=False).submit(
            "Hi", [], "attend-chat", settings, "", api_name="/chat"
        )
        begun: Any = next(answer)
        server.send_signal(signal.SIGTERM)
        last: Any = [begun, *answer][-1]
        assert len(begun["tokens"]) < len(last["trace"]["ids"]) == 300
        assert server.wait(LONGEST) == 0
    assert subprocess.run([sys.executable, *checking], env=environment, capture_output=True).returncode != 0
