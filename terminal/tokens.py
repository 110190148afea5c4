"""Tokens in a terminal: their text, coloured by probability, and a table of how each was chosen.

A model may write control characters, which would move a terminal's cursor or change its title, so a terminal gets
pictures of them instead. A file or another program gets the text as it is.
"""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self, TextIO

import attend

# The least probability of each shade, and its background among the 256 colours: none, then pale yellow to orange-red.
SHADES = ((0.9, None), (0.5, 229), (0.2, 222), (0.05, 215), (0.0, 209))
_BLACK, _RESET = "\x1b[38;5;16m", "\x1b[0m"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but the tab and the line feed
_PICTURES = 0x2400  # where Unicode has the pictures of the first 32 control characters


@dataclass(frozen=True, slots=True)
class TokenPrinter:
    """Prints a text token by token and, afterwards, how its tokens were chosen."""

    out: TextIO
    terminal: bool  # whether somebody looks at it
    coloured: bool
    candidates: int = 0  # of each token in the table; 0 for no table

    @classmethod
    def on(cls, out: TextIO, *, colour: bool, candidates: int = 0) -> Self:
        """Colours are for terminals, and for people who have not turned them off with NO_COLOR (no-color.org)."""
        terminal = out.isatty()
        return cls(out, terminal, colour and terminal and not os.environ.get("NO_COLOR"), candidates)

    def text(self, text: str) -> None:
        print(visible_controls(text) if self.terminal else text, end="", file=self.out, flush=True)

    def token(self, token: attend.Token) -> None:
        background = background_of(token.probability) if self.coloured else None
        text = visible_controls(token.text) if self.terminal else token.text
        print(text if background is None else painted(text, background), end="", file=self.out, flush=True)

    def explain(self, run: attend.Run, context_length: int) -> None:
        """The legend of the colours, the table, and why the text stopped, if they were asked for."""
        if self.coloured:
            print(f"\n{legend()}", file=self.out)
        if self.candidates:
            width = shutil.get_terminal_size().columns if self.terminal else 0
            print("", *token_table(run.tokens, self.candidates, width), sep="\n", file=self.out)
            print(f"\nIt {why_it_stopped(run, context_length)}", file=self.out, flush=True)


def legend() -> str:
    """What the colours mean."""
    bounds = [least for least, _ in SHADES]
    ranges = [
        f"{100 * bounds[0]:.0f} % and more",
        *(f"{100 * low:.0f} to {100 * high:.0f} %" for high, low in pairwise(bounds)),
    ]
    names = (
        name if background is None else painted(f" {name} ", background)
        for name, (_, background) in zip(ranges, SHADES, strict=True)
    )
    return "Probability of each token: " + "  ".join(names)


def background_of(probability: float) -> int | None:
    """The background of a token, the redder the less probable it was; None for a probable one."""
    return next(background for least, background in SHADES if probability >= least)


def painted(text: str, background: int) -> str:
    """A text on a background; line feeds stay outside, since some terminals would colour the rest of the line."""
    code = f"\x1b[48;5;{background}m{_BLACK}"
    return "\n".join(f"{code}{line}{_RESET}" if line else "" for line in text.split("\n"))


def visible_controls(text: str) -> str:
    """A text whose control characters, except tabs and line feeds, are replaced by pictures."""
    return _CONTROL.sub(
        lambda match: chr(_PICTURES + ord(match[0])) if ord(match[0]) < 32 else "\N{SYMBOL FOR DELETE}", text
    )


def token_table(tokens: Sequence[attend.Token], count: int, width: int = 0) -> Iterator[str]:
    """The lines of a table: how each token was chosen, and its `count` most probable candidates.

    A candidate has its probability by the model and, where filters changed it, what it was after them; one that they
    removed is in brackets. The entropy is that of the model's distribution, in bits.

    Args:
        width: columns of the terminal, beyond which the candidates continue on the next line; 0 for no limit.
    """
    rows = [("", "token", "model", "filtered", "rank", "entropy", "drawn")]
    candidates = [["the most probable"]]
    for number, token in enumerate(tokens, start=1):
        drawn = token.choice.draw
        rows.append(
            (
                f"{number}",
                quoted(token),
                percent(token.probability),
                percent(token.final_probability),
                f"{token.rank}",
                f"{token.choice.entropy:.2f}",
                "" if drawn is None else f"{drawn:.3f}",
            )
        )
        candidates.append([_candidate(candidate) for candidate in token.candidates[:count]])
    if not any(token.choice.draw is not None for token in tokens):
        rows = [cells[:6] for cells in rows]
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    indent = " " * (sum(widths) + 2 * (len(widths) - 1))
    for (number, text, *figures), cells in zip(rows, candidates, strict=True):
        padding = " " * (widths[1] - columns_of(text))  # `ljust` would count characters, not columns
        line = "  ".join([number.rjust(widths[0]), text + padding, *map(str.rjust, figures, widths[2:])])
        for cell in cells:
            longer = f"{line}  {cell}"
            if width and columns_of(line) > len(indent) and columns_of(longer) > width:
                yield line
                longer = f"{indent}  {cell}"
            line = longer
        yield line


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes: Chinese characters and emoji take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def quoted(token: attend.Token) -> str:
    """A token's own text in quotes, special tokens and single bytes by their names."""
    own = next((candidate.text for candidate in token.candidates if candidate.id == token.id), token.text)
    return _quoted(own)


def _quoted(text: str) -> str:
    mark = "'" if '"' in text and "'" not in text else '"'
    return mark + visible_controls(text.replace("\n", "⏎").replace("\t", "⇥")) + mark


def _candidate(candidate: attend.Candidate) -> str:
    before, after = percent(candidate.probability), percent(candidate.final_probability)
    if candidate.final_probability == 0.0:
        return f"({_quoted(candidate.text)} {before})"
    return f"{_quoted(candidate.text)} {before}" + (f"→{after}" if after != before else "")


def percent(probability: float) -> str:
    """As the page writes it: never 0 for more than nothing, nor 100 for less than all."""
    text = f"{100 * probability:.2f}"
    if probability == 0.0:
        text = "0"
    elif text == "0.00":
        text = "<0.01"
    elif probability < 1.0 and text == "100.00":
        text = ">99.99"
    return f"{text} %"


def why_it_stopped(run: attend.Run, context_length: int) -> str:
    """The reason as a sentence without its subject."""
    limit = run.settings.max_new_tokens
    match run.finish_reason:
        case "stop":
            return f"stopped because the model ended the text with {quoted(run.tokens[-1])}."
        case "stop_text":
            return f"stopped at the stop text {run.trace.stop_text!r}."
        case "cancelled":
            return "stopped because you interrupted it."
        case "length" if len(run.tokens) < limit:
            return f"stopped at the end of the model's context of {context_length:,} tokens."
        case _:
            return f"stopped at the length limit of {limit:,} tokens: raise --max-new-tokens for more."
