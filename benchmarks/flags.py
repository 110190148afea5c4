"""The flags that benchmarks share. Imports nothing slow, so --help and errors appear at once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from model.command_line import count

_HELP = {
    "prompt_tokens": "tokens of the prompt",
    "new_tokens": "tokens to generate",
    "lengths": "tokens of the prompts",
    "rounds": "rounds to measure, of which the median counts",
    "threads": "threads to compute with",
    "cards": "cards of settings to compare",
    "sentences": "sentences to translate or to score",
    "batch": "sentences of one request",
    "beams": "beams of the search",
    "starts": "starts of the program to measure",
    "tokens": "tokens of the text",
    "replicas": "replicas of the model",
    "visitors": "how many visitors chat at once",
    "students": "how many students ask at once",
    "typists": "how many visitors type at once",
    "words": "words to leave out, one after the other",
    "patched": "tokens of the two texts that are patched",
    "seconds": "seconds for which they chat",
}


def add_model(parser: ArgumentParser, default: str = "attend-chat") -> None:
    parser.add_argument(
        "--model", metavar="MODEL", default=default, help=f"a model's name or folder (default {default})"
    )


def add_counts(parser: ArgumentParser, **defaults: int | list[int]) -> None:
    """Add flags for positive integers, described in `_HELP`; a flag whose default is a list takes several."""
    for name, default in defaults.items():
        several: dict[str, Any] = {"nargs": "+"} if isinstance(default, list) else {}
        default_text = " ".join(map(str, default)) if isinstance(default, list) else default
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="N",
            type=count,
            default=default,
            help=f"{_HELP[name]} (default {default_text})",
            **several,
        )


def add_port(parser: ArgumentParser, default: int) -> None:
    """Add the flag for the port on which a benchmark serves the page."""
    help = f"port to serve the page on (default {default})"
    parser.add_argument("--port", metavar="N", type=int, default=default, help=help)
