"""The declaration of one setting: its default, range, label and help, and the check of its values.

Each parameter is declared beside the code that uses it and listed once as a field of
`decoding.settings.DecodingSettings`. A `Parameter` is a number or one word of several; those that hold several values
are in `list_parameter.py`. Knows no setting by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from model.errors import AttendError

Value = int | float | str | tuple[str, ...] | tuple[int, ...] | tuple[tuple[int, float], ...]
Control = Literal["number", "word", "text", "order"]
Section = Literal[
    "",
    "Several texts",
    "Cutting off unlikely tokens",
    "How surprising the text is",
    "Less repetition",
    "Words and endings",
    "Order of the filters",
]
_AS_DEFAULT: Any = object()
DECLARATION = "parameter"  # the key of a field's `Parameter` in its metadata

T = TypeVar("T", bound=Value)


class Settings(Protocol):
    """Values by parameter: `settings[TOP_K]` is an int. `decoding.settings.DecodingSettings` is the implementation."""

    def __getitem__(self, parameter: Parameter[T], /) -> T: ...


class SettingError(AttendError):
    """Invalid settings. The sentence calls them by their names in code.

    Args:
        names: the settings in the sentence, each mentioned before any value that a user sent.
    """

    def __init__(self, sentence: str, *names: str) -> None:
        super().__init__(sentence)
        self.names = names

    def with_labels(self, labels: Mapping[str, str]) -> str:
        """The sentence with other names for the settings, such as the labels of the page."""
        sentence = str(self)
        for name in self.names:
            sentence = sentence.replace(name, labels[name], 1)
        return sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter(Generic[T]):
    """One setting: all that its check, its control on the page, its flag and its documentation need."""

    name: str
    label: str  # what people call it
    section: Section = ""  # the heading under which forms list it; "" for the few that come first
    default: T
    help: str  # one line
    # The value that changes nothing: the default unless another is given, or None if every value does something. A
    # processor runs when one of its parameters has another value.
    neutral: T | None = _AS_DEFAULT
    integer: bool = False
    minimum: int | float = 0
    maximum: int | float = 1
    step: int | float = 1  # the step of a slider
    choices: tuple[str, ...] = ()  # words; a parameter that has them has no range
    choice_labels: tuple[str, ...] = ()  # what people call them, if that differs
    strategies: tuple[str, ...] = ()  # that use it; filled in by `decoding.settings.parameters`

    def __post_init__(self) -> None:
        if self.neutral is _AS_DEFAULT:
            object.__setattr__(self, "neutral", self.default)

    @property
    def control(self) -> Control:
        """The kind of input: a number, one word of several, free text, or a list to rearrange."""
        return "word" if self.choices else "number"

    @property
    def accepts(self) -> str:
        """The accepted values, in words."""
        return ", ".join(self.choices) or f"{self.minimum} to {self.maximum}"

    @property
    def hint(self) -> str:
        """The placeholder of its command-line flag."""
        return "|".join(self.choices) or ("N" if self.integer else "X")

    def checked(self, value: object) -> Value:
        """The value in the parameter's type; otherwise an `AttendError` that says what is accepted."""
        if self.choices:
            word = str(value).lower() if isinstance(value, bool) else value  # JSON's true and false are words, too
            if isinstance(word, str) and word in self.choices:
                return word
            raise AttendError(f"{self.name} is {quoted(value)}, but must be one of {', '.join(self.choices)}.")
        return number(self.name, value, self.minimum, self.maximum, integer=self.integer)

    def typed(self, value: Value) -> int | float | str:
        """The value as typed into a form or a flag; `checked` reads it back."""
        assert isinstance(value, int | float | str)
        return value

    def plain(self, value: Value) -> object:
        """The value for JSON; `checked` reads it back."""
        return value


Parameters = tuple[Parameter[Any], ...]


def setting(parameter: Parameter[T]) -> T:
    """A dataclass field that has the parameter's default, and the parameter itself in its metadata."""
    return field(default=parameter.default, metadata={DECLARATION: parameter})


def number(name: str, value: object, minimum: float, maximum: float, *, integer: bool = False) -> int | float:
    """The value as an int or a float; `AttendError` unless it is a number between the limits."""
    limits = f"between {minimum} and {maximum}"
    kind = "a whole number" if integer else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AttendError(f"{name} is {quoted(value)}, but must be {kind} {limits}.")
    if not minimum <= value <= maximum:  # false for NaN, too
        raise AttendError(f"{name} is {quoted(value)}, but must be {limits}.")
    if integer and value != int(value):  # from JSON, 40 may arrive as 40.0
        raise AttendError(f"{name} is {quoted(value)}, but must be {kind} {limits}.")
    return int(value) if integer else float(value)


def quoted(value: object) -> str:
    """Any value, short enough for an error message."""
    if value is None:  # sent by an emptied control
        return "empty"
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a very large number"
    try:
        text = repr(value)
    except RecursionError:
        return "a deeply nested value"
    return text if len(text) <= 40 else f"{text[:37]}..."
