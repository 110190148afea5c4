"""What the lesson's page may send: numbers, choices, texts and matrices; anything else gets a plain sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from decoding.parameters.parameter import quoted
from model.errors import AttendError
from model.text.tokenizer import check_whole
from ui.kit.packing import significant

Given = Mapping[str, Any]

MAX_NUMBER = 1e6  # of a matrix's: beyond it float32 shows nothing but rounding


def integer(given: Given, name: str, default: int, least: int, most: int) -> int:
    """A whole number between two limits; `name` is its key and, with spaces, what the sentence calls it."""
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise AttendError(
            f"{_subject(name)} is {quoted(value)}, but must be a whole number from {least:,} to {most:,}."
        )
    return value


def number(given: Given, name: str, default: float, least: float, most: float) -> float:
    """A number between two limits."""
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise AttendError(
            f"{_subject(name)} is {quoted(value)}, but must be a number from {_decimal(least)} to {_decimal(most)}."
        )
    return float(value)


def choice(given: Given, name: str, default: str, possible: Sequence[str]) -> str:
    """One of these."""
    value = given.get(name, default)
    if value not in possible:
        raise AttendError(f"{_subject(name)} is {quoted(value)}, but must be one of {', '.join(possible)}.")
    return str(value)


def text(given: Given, name: str, default: str, most: int, subject: str | None = None) -> str:
    """A text that is not blank, of at most `most` characters; `subject` is the field's name on the page."""
    value = given.get(name, default)
    subject = _subject(name) if subject is None else subject
    if not isinstance(value, str):
        raise AttendError(f"{subject} is {quoted(value)}, but must be text.")
    if not value.strip():
        raise AttendError(f"{subject} is empty: type something.")
    if len(value) > most:
        raise AttendError(f"{subject} has {len(value):,} characters, but the limit is {most:,}: shorten it.")
    check_whole(value)
    return value


def matrix(
    given: Given, name: str, default: Sequence[Sequence[float]], *, rows: int | None = None, columns: int | None = None
) -> list[list[float]]:
    """Rows of finite numbers, of the default's shape unless `rows` or `columns` is given."""
    value = given.get(name, default)
    rows = len(default) if rows is None else rows
    columns = len(default[0]) if columns is None else columns
    right = isinstance(value, Sequence) and not isinstance(value, str) and len(value) == rows
    if not right or not all(isinstance(row, Sequence) and len(row) == columns for row in value):
        raise AttendError(
            f"{_subject(name)} must have {counted(rows, 'row')} of {columns} numbers: reload the page to start again."
        )
    for row in value:
        for cell in row:
            if isinstance(cell, bool) or not isinstance(cell, int | float) or not abs(cell) <= MAX_NUMBER:
                found = "an empty cell" if cell is None else quoted(cell)
                raise AttendError(
                    f"{_subject(name)} can't contain {found}: each must be a number from "
                    f"−{MAX_NUMBER:,.0f} to {MAX_NUMBER:,.0f}."
                )
    return [[float(cell) for cell in row] for row in value]


def rounded(value: float, digits: int = 4) -> float | None:
    """The number as it is sent, with `digits` significant digits; None if it is not finite."""
    return significant(value, digits) if math.isfinite(value) else None


def rounded_rows(values: Tensor) -> list[list[float | None]]:
    """A matrix (rows, columns) as it is sent, each number `rounded`."""
    return [[rounded(value) for value in row] for row in values.tolist()]


def decimals(value: float | None, digits: int = 2) -> str:
    """A number as the page writes it: with a real minus sign, and never a minus zero."""
    if value is None:
        return "−∞"
    text = f"{value:.{digits}f}"
    return text.replace("-", "" if float(text) == 0 else "−")


def short(value: float, digits: int = 4) -> str:
    """A number as short as it can be written with so many significant digits: 0.8, 14, 0.0025."""
    text = (
        f"{float(f'{value:.{digits}g}'):.12f}".rstrip("0").rstrip(".") if abs(value) >= 1e-6 else f"{value:.{digits}g}"
    )
    return text.replace("-", "−")


def percent(share: float, digits: int = 2) -> str:
    """A share as every view writes it: never a 0 for more than nothing, nor a 100 for less than all."""
    text, least = f"{100 * share:.{digits}f}", 10.0**-digits
    if share > 0 and float(text) == 0:
        text = f"<{least:.{digits}f}"
    elif share < 1 and float(text) >= 100:
        text = f">{100 - least:.{digits}f}"
    return f"{'0' if share == 0 else text}\u00a0%"


def dot_terms(left: Sequence[float], right: Sequence[float]) -> str:
    """A dot product written out."""
    return " + ".join(f"{short(one)} · {short(other)}" for one, other in zip(left, right, strict=True))


def vector(values: Sequence[float], digits: int | None = None) -> str:
    """A vector written out: (5, 7)."""
    return f"({', '.join(short(value) if digits is None else decimals(value, digits) for value in values)})"


def brief(text: str, most: int = 40) -> str:
    """The beginning of a text, as much as a label has room for, with an ellipsis if it is cut."""
    return text if len(text) <= most else f"{text[:most]}…"


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 word", "2 words"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _decimal(value: float) -> str:
    """Without an exponent, which not everybody reads."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def _subject(name: str) -> str:
    return name.replace("_", " ").capitalize()
