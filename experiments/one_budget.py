"""Trains six small translators on one budget and compares them; see `experiments.translators`.

    python -m experiments.one_budget DATA runs/one-budget

prints a table, then one JSON line, and writes `alignment.png`: where Bahdanau's attention and the transformer's look.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from model.command_line import Parser, command


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m experiments.one_budget",
        description="Train six small translators on one budget of text and compare them (a few hours).",
    )
    parser.add_argument("data", metavar="DATA", type=Path, help="the folder with the training data")
    parser.add_argument("output", metavar="RUN", type=Path, help="the folder for the models; those in it are kept")
    parser.add_argument(
        "--rate", metavar="X", type=float, help="one peak learning rate for all six (default: each kind's own)"
    )
    read = parser.parse_args(arguments)
    from experiments.translators import run  # brings torch, which takes seconds

    run(read.data, read.output, highest=read.rate)


if __name__ == "__main__":
    sys.exit(main())
