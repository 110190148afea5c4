"""What a reader can change in a chapter: each input is declared once, with its first value, its limits and its field.

From these follow the check of what the page sends, which gets a plain sentence if it is anything else, and the slot in
the chapter's text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from decoding.parameters.parameter import Parameter, quoted
from model import names
from model.errors import AttendError
from model.text.tokenizer import check_whole
from ui.kit.validation import checked_switch
from ui.learn.text.slots import CHECK, NUMBERS, Slot, field, slider
from ui.learn.wording import counted
from ui.runs.models import Models

Inputs = Mapping[str, Any]  # what the page sent

MAX_NUMBER = 1e6  # of a matrix's: beyond it float32 shows nothing but rounding


@dataclass(frozen=True, slots=True)
class Input:
    """One value: its first, its check, and its slot."""

    first: Any
    check: Callable[[str, Any], Any] | None  # by its name; None if the chapter has to read it, knowing its models
    slot: Slot | None  # None if it is changed by a button or a drawing

    def read(self, sent: Inputs, name: str) -> Any:
        """The value that was sent, or else the first; `AttendError` for one that can't be."""
        value = sent.get(name, self.first)
        return self.check(name, value) if self.check else value


def read_all(inputs: Mapping[str, Input], sent: Inputs) -> dict[str, Any]:
    """The values of all inputs that can be checked without a model."""
    return {name: one.read(sent, name) for name, one in inputs.items() if one.check}


def without_slot(declared: Input) -> Input:
    """The same input, which a button or a drawing changes instead of a field."""
    return replace(declared, slot=None)


def checked_by_chapter(first: Any = None, slot: Slot | None = None) -> Input:
    """A value that the chapter checks itself, knowing its models."""
    return Input(first, None, slot)


def whole(first: int, least: int, most: int, slot: Slot | None = None) -> Input:
    """A whole number between two limits."""
    return _number(first, least, most, slot or slider(least, most), int)


def real(first: float, least: float, most: float, step: float = 1) -> Input:
    """A number between two limits."""
    return _number(first, least, most, slider(least, most, step), float)


def _number(first: float, least: float, most: float, slot: Slot, kind: type[int] | type[float]) -> Input:
    wanted = f"a {'whole number' if kind is int else 'number'} from {_decimal(least)} to {_decimal(most)}"

    def check(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, kind)) or not least <= value <= most:
            raise _refusal(_subject(name), value, wanted)
        return kind(value)

    return Input(first, check, slot)


def setting(parameter: Parameter[Any]) -> Input:
    """A setting of decoding, within its own limits."""
    default, least, most = parameter.default, parameter.minimum, parameter.maximum
    if parameter.integer:
        return whole(default, int(least), int(most))
    return real(default, least, most, parameter.step)


def switch(*, subject: str, first: bool = False) -> Input:
    """On or off; `subject` names it in a sentence."""
    return Input(first, lambda _, value: checked_switch(value, subject), CHECK)


def choice(first: Any, possible: Sequence[Any], slot: Slot | None = None) -> Input:
    """One of these texts or numbers."""

    def check(name: str, value: Any) -> Any:
        if isinstance(value, bool) or value not in possible:
            raise _refusal(_subject(name), value, f"one of {', '.join(map(str, possible))}")
        return possible[possible.index(value)]

    return Input(first, check, slot)


def text(first: str, most: int, subject: str | None = None, **look: Any) -> Input:
    """A text that is not blank, of at most `most` characters.

    Args:
        subject: what the sentence calls it, if that isn't its name.
        look: of its field, see `ui.learn.text.slots.field`.
    """

    def check(name: str, value: Any) -> str:
        called = subject or _subject(name)
        if not isinstance(value, str):
            raise _refusal(called, value, "text")
        if not value.strip():
            raise AttendError(f"{called} is empty: type something.")
        if len(value) > most:
            raise AttendError(f"{called} has {len(value):,} characters, but the limit is {most:,}: shorten it.")
        check_whole(value)
        return value

    return Input(first, check, field(**look))


def ids(first: Sequence[int], longest: int, count: int, slot: Slot) -> Input:
    """The words of a text, by their numbers in a vocabulary of `count` words."""

    def check(name: str, value: Any) -> tuple[int, ...]:
        is_list = isinstance(value, list | tuple) and 1 <= len(value) <= longest
        if not is_list or not all(type(id) is int and 0 <= id < count for id in value):
            wanted = f"a list of 1 to {longest} whole numbers from 0 to {count - 1}, the ids of words"
            raise _refusal(_subject(name), value, wanted)
        return tuple(value)

    return Input(first, check, slot)


def matrix(first: Sequence[Sequence[float]], slot: Slot = NUMBERS, most: float = MAX_NUMBER) -> Input:
    """Rows of finite numbers, in the shape of the first, none larger than `most`."""
    rows, columns = len(first), len(first[0])

    def check(name: str, value: Any) -> list[list[float]]:
        is_list = isinstance(value, Sequence) and not isinstance(value, str) and len(value) == rows
        if not is_list or not all(isinstance(row, Sequence) and len(row) == columns for row in value):
            shape = f"{counted(rows, 'row')} of {columns} numbers"
            raise AttendError(f"{_subject(name)} must have {shape}: reload the page to start again.")
        for cell in (cell for row in value for cell in row):
            if isinstance(cell, bool) or not isinstance(cell, int | float) or not abs(cell) <= most:
                content = "an empty cell" if cell is None else quoted(cell)
                limits = f"from −{most:,.0f} to {most:,.0f}"
                raise AttendError(f"{_subject(name)} can't contain {content}: each must be a number {limits}.")
        return [[float(cell) for cell in row] for row in value]

    return Input(first, check, slot)


def offered(models: Models, *others: str) -> tuple[str, ...]:
    """The models to choose from: those that come with the page, and others."""
    return tuple(dict.fromkeys((*(name for name in names.embedded() if name in models.names), *others)))


def _decimal(value: float) -> str:
    """Write a number without an exponent, which not everybody can read."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def _refusal(subject: str, value: Any, wanted: str) -> AttendError:
    return AttendError(f"{subject} is {quoted(value)}, but must be {wanted}.")


def _subject(name: str) -> str:
    return name.replace("_", " ").capitalize()
