"""What there is to know of one setting, and the check that every value of it goes through. Knows no setting by name.

A `Parameter` is a number or one word of several; those that may hold more than one value are in `compound.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, Literal

from model.errors import AttendError

Value = int | float | str | tuple[str, ...] | tuple[int, ...] | tuple[tuple[int, float], ...]
Control = Literal["number", "word", "text", "order"]
DECLARATION = "parameter"  # the key of a field's declaration in its metadata


class SettingError(AttendError):
    """Settings that cannot be; the sentence calls them by their names in programs.

    Args:
        names: those that it names, each before any value that somebody sent.
    """

    def __init__(self, sentence: str, *names: str) -> None:
        super().__init__(sentence)
        self.names = names

    def called(self, labels: Mapping[str, str]) -> str:
        """The sentence with other names for them, such as those on a page."""
        sentence = str(self)
        for name in self.names:
            sentence = sentence.replace(name, labels[name], 1)
        return sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One setting: for its check, its control on the page, its flag and its line in the README."""

    neutral: Value | None  # changes nothing; None where every value does something
    help: str  # one line
    strategies: tuple[str, ...]  # those that use it
    integer: bool = False
    minimum: int | float = 0
    maximum: int | float = 1
    step: int | float = 1  # of a slider
    choices: tuple[str, ...] = ()  # of a parameter that is a word or more; it has no range
    name: str = ""  # this and the default are those of the field that carries the declaration
    default: Value = ""

    @property
    def control(self) -> Control:
        """What people set it with: a number, a choice of one word, a text to write, or an order to arrange."""
        return "word" if self.choices else "number"

    @property
    def accepts(self) -> str:
        """The values, for people."""
        return ", ".join(self.choices) or f"{self.minimum} to {self.maximum}"

    @property
    def hint(self) -> str:
        """What a flag's value looks like."""
        return "|".join(self.choices) or ("N" if self.integer else "X")

    def checked(self, value: object) -> Value:
        """The value in the parameter's own type, or an error that says what would be accepted."""
        if self.choices:
            word = str(value).lower() if isinstance(value, bool) else value  # JSON's true and false are words, too
            if isinstance(word, str) and word in self.choices:
                return word
            raise AttendError(f"{self.name} is {shown(value)}, but must be one of {', '.join(self.choices)}.")
        return number(self.name, value, self.minimum, self.maximum, integer=self.integer)

    def typed(self, value: Value) -> int | float | str:
        """The value as a control or a flag has it; `checked` reads it back."""
        assert isinstance(value, int | float | str)
        return value

    def plain(self, value: Value) -> object:
        """The value as JSON has it; `checked` reads it back."""
        return value


def setting(
    default: Value,
    help: str,
    strategies: tuple[str, ...],
    *,
    neutral: Value | EllipsisType | None = ...,
    integer: bool = False,
    minimum: int | float = 0,
    maximum: int | float = 1,
    step: int | float = 1,
    choices: tuple[str, ...] = (),
    kind: type[Parameter] = Parameter,
) -> Any:
    """A dataclass field that carries its declaration; where nothing else is said, its default is neutral."""
    declaration = kind(
        neutral=default if isinstance(neutral, EllipsisType) else neutral,
        help=help,
        strategies=strategies,
        integer=integer,
        minimum=minimum,
        maximum=maximum,
        step=step,
        choices=choices,
    )
    return field(default=default, metadata={DECLARATION: declaration})


def number(name: str, value: object, minimum: float, maximum: float, *, integer: bool = False) -> int | float:
    """A number in a range, or an error that names what it was for."""
    limits = f"between {minimum} and {maximum}"
    kind = "a whole number" if integer else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AttendError(f"{name} is {shown(value)}, but must be {kind} {limits}.")
    if not minimum <= value <= maximum:  # false for NaN, too
        raise AttendError(f"{name} is {shown(value)}, but must lie {limits}: choose a value in that range.")
    if integer and value != int(value):  # from JSON, 40 may arrive as 40.0
        raise AttendError(f"{name} is {shown(value)}, but must be {kind} {limits}.")
    return int(value) if integer else float(value)


def shown(value: object) -> str:
    """A value inside a sentence: short, whatever was sent."""
    if value is None:  # as an emptied control says it
        return "empty"
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a very large number"
    try:
        text = repr(value)
    except RecursionError:
        return "a deeply nested value"
    return text if len(text) <= 40 else f"{text[:37]}..."
