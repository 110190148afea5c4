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


REFUSING = (
    "generate Hi",
    "app --port {port}",
    "training.evaluate --data test.jsonl.gz",
    "training.talk",
    "training.translation.back_translate no-such-folder",
    *(
        f"benchmarks.{name}"
        for name in ("decoding", "parts", "page", "start", "streaming", "together", "translation", "updates")
    ),
)


def test_a_mistyped_model_is_refused_without_waiting_for_torch(free_port: int) -> None:
    commands = [f"{command.format(port=free_port)} --model atend-chat" for command in REFUSING]
    for command in (
        *commands,
        "model.export atend-chat no-such-folder",
        "experiments.alignment Oui --models atend-chat",
    ):
        ran = run_command(*command.split())
        refusal = (2, "", "There is no model 'atend-chat': did you mean attend-chat?\n")
        assert (ran.code, ran.out, ran.err) == refusal, command
        assert not ran.packages & SLOW, command


def test_help_does_not_wait_for_torch() -> None:
    for module in COMMANDS:
        ran = run_command(module, "--help")
        assert (ran.code, ran.err, ran.out[:7]) == (0, "", "usage: "), module
        assert not ran.packages & SLOW, module


def test_every_flag_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    explained: dict[str, list[bool]] = {}

    def parse_args(parser: argparse.ArgumentParser, *_: object) -> None:
        explained[module] = [bool(action.help) for action in parser._actions]
        raise KeyboardInterrupt

    monkeypatch.setattr(Parser, "parse_args", parse_args)
    for module in COMMANDS:
        assert import_module(module).main([]) == INTERRUPTED, module  # and Ctrl-C ends it without a traceback
        assert len(explained[module]) > 1 and all(explained[module]), module
