"""Reads plain values from outside, such as a parsed file, and says what is wrong with them.

The errors hold only the reason; the caller puts it into a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decoding.parameters.parameter import quoted

MAX_ID = 2**31
MAX_LABEL = 200  # characters of one token or of a stage's name


class InvalidDocument(Exception):
    """Something in a document is impossible; the message is the reason, as in "the rank of step 3 can't be 0"."""


def as_mapping(subject: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise wrong(subject, value)
    return value


def list_in(subject: str, holder: Mapping[str, Any], name: str, most: int) -> list[Any]:
    value = holder.get(name)
    if not isinstance(value, list):
        raise wrong(subject, value)
    if len(value) > most:
        raise InvalidDocument(f"{subject} can't be more than {most:,}")
    return value


def as_text(subject: str, value: object, most: int = MAX_LABEL) -> str:
    """
    Args:
        most: characters.
    """
    if not isinstance(value, str) or len(value) > most:
        raise wrong(subject, value)
    return value


def as_number(subject: str, value: object, low: float, high: float) -> float:
    # sums of probabilities may pass 1 by rounding; no comparison holds for NaN
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high + 1e-6:
        raise wrong(subject, value)
    return value


def as_count(subject: str, value: object, low: int, high: int) -> int:
    """A whole number; both ends are included."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise wrong(subject, value)
    return value


def as_switch(subject: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong(subject, value)
    return value


def ids_in(subject: str, holder: Mapping[str, Any], name: str, most: int, vocabulary: int = MAX_ID) -> tuple[int, ...]:
    """Token ids, each smaller than `vocabulary`."""
    return tuple(as_count(subject, each, 0, vocabulary - 1) for each in list_in(subject, holder, name, most))


def wrong(subject: str, value: object) -> InvalidDocument:
    described = quoted(value or None) if isinstance(value, list | dict | str) else quoted(value)
    return InvalidDocument(f"{subject} can't be {described}")
