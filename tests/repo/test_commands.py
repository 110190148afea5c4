"""What all commands promise: help and refusals of names without waiting for torch, flags explained, a quiet Ctrl-C."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module

import pytest

from model.command_line import INTERRUPTED, Parser
from tests.helpers.paths import ROOT

COMMANDS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for top in ("app.py", "generate.py", "model/export.py", "training", "benchmarks", "experiments")
    for path in ([ROOT / top] if top.endswith(".py") else (ROOT / top).rglob("*.py"))
    if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
)
SLOW = ("torch", "transformers", "accelerate", "gradio", "matplotlib")  # each takes a second or more to import
# Run a module as a command, then say on the last line of the output which slow ones it brought.
RUN = f"""
import runpy, sys
try:
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
finally:
    print("\\n", *(set({SLOW}) & set(sys.modules)))
"""


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RUN, module, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "command",
    [
        "generate Hi --model atend-chat",
        "app --port {port} --model atend-chat",
        "model.export atend-chat {folder}",
        "training.evaluate --model atend-chat --data test.jsonl.gz",
        "training.talk --model atend-chat",
        "benchmarks.decoding --model atend-chat",
        "benchmarks.page --model atend-chat",
        "benchmarks.streaming --model atend-chat",
        "benchmarks.together --model atend-chat",
        "benchmarks.translation --model atend-chat",
        "benchmarks.updates --model atend-chat",
        "experiments.alignment Bonjour --models atend-chat",
    ],
)
def test_a_mistyped_model_is_refused_without_waiting_for_torch(command: str, free_port: int) -> None:
    done = run(*command.format(port=free_port, folder="no-such-folder").split())
    assert (done.returncode, done.stdout.strip()) == (2, "")
    assert done.stderr == "There is no model 'atend-chat': did you mean attend-chat?\n"


@pytest.mark.parametrize("module", COMMANDS)
def test_help_does_not_wait_for_torch(module: str) -> None:
    done = run(module, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ") and done.stdout.splitlines()[-1].strip() == ""


@pytest.mark.parametrize("module", COMMANDS)
def test_every_flag_is_explained(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    explained: list[bool] = []

    def parse_args(parser: argparse.ArgumentParser, *_: object) -> None:
        explained.extend(bool(action.help) for action in parser._actions)
        raise KeyboardInterrupt

    monkeypatch.setattr(Parser, "parse_args", parse_args)
    assert import_module(module).main([]) == INTERRUPTED  # and Ctrl-C ends it without a traceback
    assert len(explained) > 1 and all(explained)
