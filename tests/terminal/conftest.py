"""generate.py as it is typed, in this process or in another."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import generate
from tests.helpers.paths import ROOT

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tiny_checkpoint: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """generate.py with these arguments on the tiny checkpoint: exit code, stdout, stderr."""
    # Timing the threads costs more than these runs; the test in another process does it.
    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)

    def call(*arguments: str, model: str | None = None) -> tuple[int, str, str]:
        code = generate.main([*arguments, "--model", model or str(tiny_checkpoint)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "generate.py"), *arguments]
