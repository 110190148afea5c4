"""The command that scores a text: how probable a model finds each token of it.

    python -m terminal.score "The cat sat on the mat."
    python -m terminal.score --file text.txt --json scores.json --beside SmolLM2-135M-Instruct

Only bits per byte compare models, since the tokens of one are not those of another.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import attend
from model import names
from model.arguments import ModelArguments
from model.command_line import Parser, command, run_as
from model.errors import AttendError
from terminal.output import STDOUT, note, open_document, write_document
from terminal.prompt import add_prompt_flags, read_prompt, utf8

if TYPE_CHECKING:  # torch takes seconds
    from decoding.run.score import ScoreDocument, ScoredToken

COLUMNS = ("text", "id", "surprise", "rank", "entropy")


def command_parser() -> Parser:
    program = run_as("terminal.score")
    parser = Parser(
        prog=program,
        usage=f"{program} [TEXT] [flags]",
        description="Print how probable a model finds each token of a text, as CSV: its surprise and the entropy "
        "before it in bits, and its rank. A text longer than the model's context is read in overlapping windows.",
    )
    add_prompt_flags(parser, "TEXT", "the text to score; - reads stdin")
    add_stride_flag(parser)
    parser.add_argument("--json", metavar="FILE", help="save the scores as JSON; - prints them instead of CSV")
    models = parser.add_argument_group("model")
    ModelArguments.add_flags(models)
    models.add_argument("--beside", metavar="MODEL", help="score the text with a second model as well")
    return parser


def add_stride_flag(parser: Parser, before: str = "") -> None:
    parser.add_argument(
        "--stride",
        type=int,
        default=0,
        metavar="N",
        help=f"{before}how many tokens each window of a long text scores (default 0: half of the context)",
    )


@command
def main(arguments: Sequence[str] | None = None) -> None:
    utf8()
    flags = command_parser().parse_args(arguments)
    text = read_prompt(flags.prompt, flags.file)
    if text is None or not text.strip():
        raise AttendError("There is no text: give one, - for standard input, or --file FILE.")
    chosen = ModelArguments.from_namespace(flags)
    models = (chosen, replace(chosen, name=flags.beside)) if flags.beside else (chosen,)
    score(models, text, flags.stride, flags.json)


def score(models: Sequence[ModelArguments], text: str, stride: int, path: str | None) -> None:
    """Score a text with one model after the other, and write the scores as CSV, JSON or both.

    Args:
        stride: of the windows, in tokens; 0 is half of the context.
        path: of the JSON document, a list if there are several models; "-" for stdout, None for none.
    """
    if stride < 0:
        raise AttendError(f"--stride is {stride}, but must be 0 or more: change it.")
    for arguments in models:
        names.locate(arguments.name)  # a mistyped name is refused before a model is loaded
    from model import catalog

    scored: list[ScoreDocument] = []
    with open_document(path) as document:
        for arguments in models:
            model = attend.Model(catalog.load_arguments(arguments))
            for sentence in model.loaded.notes:
                note(sentence)
            scored.append(model.score(text, stride=stride).scored.document())
        if document is not None:
            write_document(document, scored if len(scored) > 1 else scored[0])
    if path != STDOUT:
        _print_csv(scored)
        compared = max(1, min(_bytes(one["text"]) for one in scored))
        for one in scored:
            name = f"{one['model']}: " if len(scored) > 1 else ""
            per_byte = bits_at_end(one["tokens"], compared) / compared
            note(f"{name}perplexity {one['perplexity']:.4g}, {per_byte:.4g} bits per byte.")


def bits_at_end(tokens: Sequence[ScoredToken], count: int) -> float:
    """The surprise of a text's last `count` bytes; a token that begins before them counts in part, by its bytes.

    A model may leave out the first token, and only over the same bytes can models be compared.
    """
    bits = 0.0
    for token in reversed(tokens):
        size = _bytes(token["text"])
        bits += token["surprise"] * min(1.0, count / size if size else float(count > 0))
        count = max(0, count - size)
    return bits


def _bytes(text: str) -> int:
    return len(text.encode(errors="replace"))


def _print_csv(scored: Sequence[ScoreDocument]) -> None:
    """One line for each token; with several models, its model first."""
    rows, several = csv.writer(sys.stdout, lineterminator="\n"), len(scored) > 1
    rows.writerow([*["model"] * several, *COLUMNS])
    for one in scored:
        for token in one["tokens"]:
            cells = [f"{cell:.4f}" if isinstance(cell := token[name], float) else cell for name in COLUMNS]
            rows.writerow([*[one["model"]] * several, *cells])


if __name__ == "__main__":
    sys.exit(main())
