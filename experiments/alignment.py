"""Draws where translators attend in a sentence while they translate it, side by side.

python -m experiments.alignment "Où est la gare ?" --output alignment.png
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from model import catalog
from model.command_line import Parser, command
from model.errors import AttendError
from model.loaded import LoadedModel

LONGEST = 60  # tokens of a translation


def draw(sentence: str, models: Mapping[str, LoadedModel], path: Path) -> None:
    """Draw each model's greedy translation with the cross-attention of its last layer, averaged over the heads."""
    from matplotlib.figure import Figure

    from lesson.recurrence.translation import translate  # brings torch, which takes seconds

    figure = Figure(figsize=(5.5 * len(models), 5), layout="constrained")
    for axes, (name, loaded) in zip(figure.subplots(1, len(models), squeeze=False)[0], models.items(), strict=True):
        translation = translate(loaded, sentence, LONGEST)
        assert translation.alignment is not None
        axes.imshow(translation.alignment.numpy(), cmap="Blues", vmin=0.0, vmax=1.0)  # (T, S)
        source, tokens = (
            [loaded.tokenizer.label(token) for token in side] for side in (translation.source, translation.tokens)
        )
        axes.set_xticks(range(len(source)), source, rotation=60)
        axes.set_yticks(range(len(tokens)), tokens)
        axes.set_title(name)
    figure.savefig(path, dpi=110)


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m experiments.alignment",
        description="Draw where translators look while they translate a sentence.",
    )
    parser.add_argument("sentence", metavar="SENTENCE", help="the sentence to translate")
    parser.add_argument(
        "--models",
        metavar="MODEL",
        nargs="+",
        default=["attend-translate"],
        help="translators, by name or folder (default attend-translate)",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        default=Path("alignment.png"),
        help="the picture to write (default alignment.png)",
    )
    read = parser.parse_args(arguments)
    models = {name: catalog.load(name) for name in read.models}
    for name, loaded in models.items():
        if not loaded.model.decoder_start:
            raise AttendError(f"{name} is no translator, so it has no source to look at: choose another model.")
    try:
        draw(read.sentence, models, read.output)
    except (OSError, ValueError) as error:  # matplotlib's, for an ending that it does not know
        raise AttendError(f"{read.output} can't be written ({error}): choose another file.") from error
    print(f"Wrote {read.output}.")


if __name__ == "__main__":
    sys.exit(main())
