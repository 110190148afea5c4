"""How chapters send numbers, and how they write them in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from torch import Tensor

from model.errors import AttendError
from model.loaded import LoadedModel
from ui.kit.packing import significant


def rounded(value: float, digits: int = 4) -> float | None:
    """The number as it is sent, with `digits` significant digits; None if it is not finite."""
    return significant(value, digits) if math.isfinite(value) else None


def sent(value: Any, digits: int = 4) -> Any:
    """What a lesson computed, as it is sent: records as objects, tensors as lists, and each float `rounded`."""
    match value:
        case float():
            return rounded(value, digits)
        case Tensor():
            return sent(value.tolist(), digits)
        case list() | tuple():
            return [sent(one, digits) for one in value]
        case Mapping():
            return {name: sent(one, digits) for name, one in value.items()}
    if is_dataclass(value):
        return {one.name: sent(getattr(value, one.name), digits) for one in fields(value)}
    return value


def decimals(value: float | None, digits: int = 2) -> str:
    """A number as the page writes it: with a real minus sign, and never a minus zero."""
    if value is None:
        return "−∞"
    text = f"{value:.{digits}f}"
    return text.replace("-", "" if float(text) == 0 else "−")


def short(value: float, digits: int = 4) -> str:
    """A number as short as it can be written with so many significant digits: 0.8, 14, 0.0025."""
    value += 0.0  # no minus zero
    text = (
        f"{float(f'{value:.{digits}g}'):.12f}".rstrip("0").rstrip(".") if abs(value) >= 1e-6 else f"{value:.{digits}g}"
    )
    return text.replace("-", "−")


def scientific(value: float, digits: int = 2) -> str:
    """A formula for a number that may be tiny or huge: 1.5, 0.056, 3.1 · 10^(−8)."""
    if not value or 1e-3 <= abs(value) < 1e6:
        return short(value, digits)
    factor, _, power = f"{value:.{digits - 1}e}".partition("e")
    return f"{factor} · 10^({int(power)})".replace("-", "−")


def percent(share: float, digits: int = 2) -> str:
    """A share as every view writes it: never a 0 for more than nothing, nor a 100 for less than all."""
    text, least = f"{100 * share:.{digits}f}", 10.0**-digits
    if share > 0 and float(text) == 0:
        text = f"<{least:.{digits}f}"
    elif share < 1 and float(text) >= 100:
        text = f">{100 - least:.{digits}f}"
    return f"{'0' if share == 0 else text}\u00a0%"


def product_sum(left: Iterable[str], right: Iterable[str]) -> str:
    """A sum of products written out: 0.15 · je + 0.05 · suis."""
    return " + ".join(f"{one} · {other}" for one, other in zip(left, right, strict=True))


def dot_terms(left: Sequence[float], right: Sequence[float]) -> str:
    """A dot product written out."""
    return product_sum(map(short, left), map(short, right))


def vector(values: Sequence[float], digits: int | None = None) -> str:
    """A vector written out: (5, 7)."""
    return f"({', '.join(short(value) if digits is None else decimals(value, digits) for value in values)})"


def brief(text: str, most: int = 40) -> str:
    """The beginning of a text, as much as a label has room for, with an ellipsis if it is cut."""
    return text if len(text) <= most else f"{text[:most]}…"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 word", "2 words"; `plural` where that isn't the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def bare_label(loaded: LoadedModel, token: int) -> str:
    """A token without the space before it; a token of spaces alone stays as it is."""
    label = loaded.tokenizer.label(token)
    return label.strip() or label


def bare_labels(loaded: LoadedModel, tokens: Iterable[int]) -> list[str]:
    return [bare_label(loaded, token) for token in tokens]


def labels(line: str, count: int) -> str:
    """The words that stand beside a table's rows or columns; `AttendError` unless there are as many as it has."""
    words = line.split()
    if len(words) != count:
        raise AttendError(f"The text has {counted(len(words), 'word')}, but this table needs {count}: change it.")
    return " ".join(words)
