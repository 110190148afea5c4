"""The command that trains: its flags and its messages.

python -m training.train DATA runs/chat                     one process, on whatever device there is
python -m training.train DATA runs/translate --task translate
accelerate launch --num_processes 2 -m training.train …     several processes or GPUs
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from model.command_line import Parser, command
from training.settings import HELP, PRESETS, TrainingSettings


def _parser() -> Parser:
    parser = Parser(
        prog="python -m training.train",
        usage="python -m training.train DATA RUN [flags]",
        description="Train a chat model or a translator. The same command resumes a run that was stopped: Ctrl-C saves "
        "first, and whatever happens, no more than --save-minutes of work are lost.",
    )
    parser.add_argument("data", metavar="DATA", type=Path, help="the folder with the training data")
    parser.add_argument(
        "output", metavar="RUN", type=Path, help="the folder for the run: checkpoint, loss curve, and state to resume"
    )
    for field in fields(TrainingSettings):
        chat, translate = (getattr(PRESETS[task], field.name) for task in ("chat", "translate"))
        same = chat == translate or field.name == "task"
        default = _in_words(chat) if same else f"{_in_words(chat)}; {_in_words(translate)} for a translator"
        parser.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=type(field.default),
            metavar={int: "N", float: "X", str: "WORD"}[type(field.default)],
            help=f"{field.metadata[HELP]} (default {default})",
        )
    return parser


def _in_words(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"


@command
def main(arguments: Sequence[str] | None = None) -> int:
    flags = vars(_parser().parse_args(arguments))
    folder, output = flags.pop("data"), flags.pop("output")
    preset = PRESETS.get(flags["task"] or "chat", PRESETS["chat"])
    settings = replace(preset, **{name: value for name, value in flags.items() if value is not None})
    from training.run.loop import train  # imports torch, which takes seconds

    return train(settings, folder, output)


if __name__ == "__main__":
    sys.exit(main())
