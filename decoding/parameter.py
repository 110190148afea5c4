"""What there is to know of one setting, and the check that every value of it goes through. Knows no setting by name."""

from __future__ import annotations

from dataclasses import dataclass

from model.errors import AttendError


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One setting: for its check, its control on the page, its flag and its line in the README."""

    neutral: int | float | str | None  # changes nothing; None where every value does something
    help: str  # one line
    strategies: tuple[str, ...]  # those that use it
    integer: bool = False
    minimum: int | float = 0
    maximum: int | float = 1
    step: int | float = 1  # of a slider
    choices: tuple[str, ...] = ()  # of a parameter that is a word; it has no range
    name: str = ""  # this and the default are those of the field that carries the declaration
    default: int | float | str = ""

    def checked(self, value: object) -> int | float | str:
        """The value in the parameter's own type, or an error that says what would be accepted."""
        if self.choices:
            if isinstance(value, str) and value in self.choices:
                return value
            raise AttendError(f"{self.name} is {shown(value)}, but must be one of {', '.join(self.choices)}.")
        limits = f"between {self.minimum} and {self.maximum}"
        kind = "a whole number" if self.integer else "a number"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise AttendError(f"{self.name} is {shown(value)}, but must be {kind} {limits}.")
        if not self.minimum <= value <= self.maximum:  # false for NaN, too
            raise AttendError(f"{self.name} is {shown(value)}, but must lie {limits}: choose a value in that range.")
        if self.integer and value != int(value):  # from JSON, 40 may arrive as 40.0
            raise AttendError(f"{self.name} is {shown(value)}, but must be {kind} {limits}.")
        return int(value) if self.integer else float(value)


def shown(value: object) -> str:
    """A value inside a sentence: short, whatever was sent."""
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a very large number"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
