"""The mean of the weights of several runs that began with the same ones: a "model soup" (Wortsman et al., 2022).

python -m training.run.soup FOLDER FOLDER --output FOLDER
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from model.command_line import Parser, command, writing
from model.errors import AttendError


def average_checkpoints(folders: Sequence[Path], output: Path) -> None:
    """Write the mean of the weights of checkpoint folders as another, with the vocabulary that they share.

    Raises `AttendError` if a folder is no checkpoint, if their shapes or vocabularies differ, or if `output` can't be
    written.
    """
    import torch  # not at the top, since --help would wait for it

    from model.transformer import checkpoint

    models = [checkpoint.load(folder) for folder in folders]
    for folder, model in zip(folders, models, strict=True):
        vocabulary = folder / checkpoint.TOKENIZER
        if model.config != models[0].config or not _is_same(vocabulary, folders[0] / checkpoint.TOKENIZER):
            raise AttendError(
                f"{folder} has another shape or vocabulary than {folders[0]}: choose runs that began with one model."
            )
    with torch.no_grad():
        for name, weight in models[0].named_parameters():
            copies = torch.stack([model.get_parameter(name) for model in models])  # (runs, ...)
            weight.copy_(copies.mean(dim=0))
    with writing(output):
        checkpoint.save(models[0], output)
        shutil.copyfile(folders[0] / checkpoint.TOKENIZER, output / checkpoint.TOKENIZER)


def _is_same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m training.run.soup",
        description="Write the mean of the weights of two or more runs that began with the same weights.",
    )
    parser.add_argument("folders", metavar="FOLDER", nargs="+", type=Path, help="the checkpoint folders")
    parser.add_argument(
        "--output", metavar="FOLDER", required=True, type=Path, help="the folder to write; created if it is missing"
    )
    options = parser.parse_args(arguments)
    if len(options.folders) < 2:
        raise AttendError("Only one folder is given: give the folders of two runs or more.")
    average_checkpoints(options.folders, options.output)
    print(f"Wrote {options.output}, the mean of {len(options.folders)} models.")


if __name__ == "__main__":
    sys.exit(main())
