"""All commands: help and refused names without waiting for torch, every flag explained, a quiet Ctrl-C."""

from __future__ import annotations

import argparse
from importlib import import_module

import pytest

from model.command_line import INTERRUPTED, Parser
from tests.helpers.commands import run_command
from tests.helpers.paths import ROOT

COMMANDS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for top in ("app.py", "generate.py", "model/export.py", "training", "benchmarks", "experiments")
    for path in ([ROOT / top] if top.endswith(".py") else (ROOT / top).rglob("*.py"))
    if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
)
SLOW = {"torch", "transformers", "accelerate", "gradio", "matplotlib"}  # each takes a second or more to import


@pytest.mark.parametrize(
    "command",
    [
        "generate Hi --model atend-chat",
        "app --port {port} --model atend-chat",
        "model.export atend-chat {folder}",
        "training.evaluate --model atend-chat --data test.jsonl.gz",
        "training.talk --model atend-chat",
        "benchmarks.decoding --model atend-chat",
        "benchmarks.parts --model atend-chat",
        "benchmarks.page --model atend-chat",
        "benchmarks.start --model atend-chat",
        "benchmarks.streaming --model atend-chat",
        "benchmarks.together --model atend-chat",
        "benchmarks.translation --model atend-chat",
        "benchmarks.updates --model atend-chat",
        "experiments.alignment Bonjour --models atend-chat",
    ],
)
def test_a_mistyped_model_is_refused_without_waiting_for_torch(command: str, free_port: int) -> None:
    ran = run_command(*command.format(port=free_port, folder="no-such-folder").split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "There is no model 'atend-chat': did you mean attend-chat?\n"
    assert not ran.packages & SLOW


@pytest.mark.parametrize("module", COMMANDS)
def test_help_does_not_wait_for_torch(module: str) -> None:
    ran = run_command(module, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("usage: ") and not ran.packages & SLOW


@pytest.mark.parametrize("module", COMMANDS)
def test_every_flag_is_explained(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    explained: list[bool] = []

    def parse_args(parser: argparse.ArgumentParser, *_: object) -> None:
        explained.extend(bool(action.help) for action in parser._actions)
        raise KeyboardInterrupt

    monkeypatch.setattr(Parser, "parse_args", parse_args)
    assert import_module(module).main([]) == INTERRUPTED  # and Ctrl-C ends it without a traceback
    assert len(explained) > 1 and all(explained)
