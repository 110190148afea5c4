"""Makes checkpoints/gru-translate, the two recurrent translators of Learn; see `experiments.translators`.

    python -m experiments.gru_translate DATA checkpoints/gru-translate

writes both checkpoints and `bleu.json`: BLEU by sentence length, of both and of attend-translate.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from model.command_line import Parser, command


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m experiments.gru_translate",
        description="Train the two recurrent translators of Learn and measure them by sentence length (an hour).",
    )
    parser.add_argument("data", metavar="DATA", type=Path, help="the folder with the training data")
    parser.add_argument("output", metavar="FOLDER", type=Path, help="the folder to write; checkpoints in it are kept")
    read = parser.parse_args(arguments)
    from experiments.translators import publish  # brings torch, which takes seconds

    publish(read.data, read.output)


if __name__ == "__main__":
    sys.exit(main())
