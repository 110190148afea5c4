"""The command that trains: its flags and its messages.

python -m training.train FOLDER                             one's own files, or the mixture; saved in runs/FOLDER
python -m training.train DATA runs/translate --task translate
accelerate launch --num_processes 2 -m training.train …     several processes or GPUs
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from model.command_line import Parser, command, run_as
from model.transformer.config import TransformerConfig
from training import own_files
from training.data import is_mixture
from training.settings import HELP, OWN, PRESETS, TrainingSettings

ENOUGH = 10_000_000  # bytes of text to read, all passes together; a model of the usual shape then needs minutes
MAX_PASSES = 20  # after which a model mostly memorizes a text


def _parser() -> Parser:
    parser = Parser(
        prog="python -m training.train",
        usage="python -m training.train FOLDER [RUN] [flags]",
        description="Train a model on a folder of your own text and conversations, or a chat model or a translator as "
        "Attend's own were trained. The same command resumes a run that was stopped: Ctrl-C saves first, and whatever "
        "happens, no more than --save-minutes of work are lost.",
    )
    parser.add_argument(
        "folder", metavar="FOLDER", type=Path, help="the folder with *.txt, *.jsonl and *.jsonl.gz to learn"
    )
    parser.add_argument(
        "output",
        metavar="RUN",
        type=Path,
        nargs="?",
        help="the folder for the run: checkpoint, loss curve, and state to resume (default runs/ and FOLDER's name)",
    )
    for field in fields(TrainingSettings):
        parser.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=type(field.default),
            metavar={int: "N", float: "X", str: "WORD"}[type(field.default)],
            help=f"{field.metadata[HELP]} (default {_DEFAULTS.get(field.name) or _default(field.name)})",
        )
    return parser


_DEFAULTS = {
    "task": "chat if the folder has files of the mixture, otherwise own",
    "passes": f"1.0; 7.0 for a translator; for own files as many as read {ENOUGH // 10**6} MB, 1 to {MAX_PASSES}",
}


def _default(name: str) -> str:
    """A setting's value in the first preset, and in the others where it differs."""
    first, own, translate = (_in_words(getattr(PRESETS[task], name)) for task in ("chat", "own", "translate"))
    others = {"own files": own, "a translator": translate}
    return "; ".join([first, *(f"{value} for {whom}" for whom, value in others.items() if value != first)])


def _in_words(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"


def _preset(task: str | None, folder: Path, init_from: str) -> TrainingSettings:
    """The settings for whatever no flag sets: those of the task, in the shape of the checkpoint to begin with."""
    preset = PRESETS.get(task or ("chat" if is_mixture(folder) else "own"), OWN)
    if preset.task == "own":
        passes = round(ENOUGH / max(1, own_files.size(folder)))
        preset = replace(preset, passes=float(min(max(1, passes), MAX_PASSES)))
    if not init_from:
        return preset
    from model.transformer import checkpoint  # imports torch, which takes seconds

    config = TransformerConfig.from_dict(checkpoint.read_config(Path(init_from)))
    shape = {field.name for field in fields(TransformerConfig)} & {field.name for field in fields(TrainingSettings)}
    return replace(preset, **{name: getattr(config, name) for name in shape - {"dropout"}})


@command
def main(arguments: Sequence[str] | None = None) -> int:
    flags = vars(_parser().parse_args(arguments))
    folder, output = flags.pop("folder"), flags.pop("output")
    output = output or Path("runs") / folder.resolve().name
    overrides = {name: value for name, value in flags.items() if value is not None}
    settings = replace(_preset(flags["task"], folder, flags["init_from"] or ""), **overrides)
    from training.run.loop import train  # imports torch

    code = train(settings, folder, output)
    if not code:
        print(f"The model is in {output}: to use it, type {run_as('app')} --model {output}")
    return code


if __name__ == "__main__":
    sys.exit(main())
