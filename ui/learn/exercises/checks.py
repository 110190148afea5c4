"""Conditions on a chapter's result, as data, which `web/course/exercises.js` reads on the page without a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from model.errors import AttendError

T = TypeVar("T")
Comparison = Literal["==", "!=", "<", ">", "in", "not in"]
# Where a value stands in the result, such as "weights.0.-1"; how it is compared; with what, or where that stands:
# a text is always a place, and a place names no key with a dot in it.
Check = tuple[str, Comparison, Any]
Checks = Sequence[Check]  # all of them must hold

_COMPARE: Mapping[Comparison, Callable[[Any, Any], bool]] = {
    "==": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one is not None and one < other,
    ">": lambda one, other: one is not None and one > other,
    "in": lambda one, other: one in other,
    "not in": lambda one, other: one not in other,
}


def fulfilled(checks: Checks, result: Mapping[str, Any]) -> bool:
    """Whether all hold; `AttendError` if the part of the result that they ask for is missing."""
    return all(
        _COMPARE[how](_at(result, place), _at(result, to) if isinstance(to, str) else to) for place, how, to in checks
    )


def _at(result: Mapping[str, Any], place: str) -> Any:
    value: Any = result
    for step in place.split("."):
        value = needed(value)
        value = value[int(step)] if isinstance(value, list | tuple) else value[step]
    return list(value) if isinstance(value, tuple) else value


def needed(value: T | None) -> T:
    """A part of a chapter's result; `AttendError` if it is None, since the page doesn't offer the model for it."""
    if value is None:
        raise AttendError(
            "This page doesn't offer attend-chat, so this can't be checked: go on with the next exercise."
        )
    return value
