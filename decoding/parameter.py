"""What there is to know of one setting, and the check that every value of it goes through. Knows no setting by name.

A `Parameter` is a number or one word of several; `Texts`, `Order`, `Biases` and `Layers` are the settings that may hold
more than one value. Those also read what people type into a box or behind a flag, and write themselves the same way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, ClassVar

from model.errors import AttendError

Value = int | float | str | tuple[str, ...] | tuple[int, ...] | tuple[tuple[int, float], ...]
DECLARATION = "parameter"  # the key of a field's declaration in its metadata
MOST_ENTRIES, MOST_CHARACTERS = 100, 200  # of a setting that holds several values; nobody needs more, and all cost


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
    def numeric(self) -> bool:
        return not self.choices

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts(Parameter):
    """Several texts; typed, they stand between commas, or as a JSON list where they hold commas or are blank."""

    may_be_blank: ClassVar[bool] = False  # an entry such as a line end

    @property
    def numeric(self) -> bool:
        return False

    @property
    def accepts(self) -> str:
        return "texts, between commas or as a JSON list"

    @property
    def hint(self) -> str:
        return "TEXT,…"

    def checked(self, value: object) -> Value:
        if isinstance(value, str):
            is_list = value.lstrip().startswith("[")
            value = (
                _from_json(self, value) if is_list else [text for part in value.split(",") if (text := part.strip())]
            )
        texts = _entries(self, value)
        for text in texts:
            blank = isinstance(text, str) and not (text if self.may_be_blank else text.strip())
            if not isinstance(text, str) or blank or len(text) > MOST_CHARACTERS:
                raise AttendError(
                    f"{self.name} holds {shown(text)}, but each entry must be a text of 1 to {MOST_CHARACTERS} "
                    f"characters{'' if self.may_be_blank else ' that are not all blank'}."
                )
            if any("\ud800" <= character <= "\udfff" for character in text):  # JSON and a shell can send it
                raise AttendError(
                    f"{self.name} holds {shown(text)}, in which half a character stands alone: delete it and type it "
                    "again."
                )
        return tuple(dict.fromkeys(texts))

    def typed(self, value: Value) -> str:
        assert isinstance(value, tuple)
        joined = ", ".join(map(str, value))
        return joined if self.checked(joined) == value else json.dumps(value, ensure_ascii=False)

    def plain(self, value: Value) -> object:
        assert isinstance(value, tuple)
        return list(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlankTexts(Texts):
    """Texts that may be blank, such as a line end."""

    may_be_blank: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Parameter):
    """All choices in an order. Those named take each other's places; the others keep theirs."""

    @property
    def numeric(self) -> bool:
        return False

    @property
    def accepts(self) -> str:
        return "names of stages, between commas; those not named keep their places"

    @property
    def hint(self) -> str:
        return "NAME,…"

    def checked(self, value: object) -> Value:
        if isinstance(value, str):
            value = [name for part in value.split(",") if (name := part.strip())]
        names = _entries(self, value)
        for place, name in enumerate(names):
            if name not in self.choices:
                raise AttendError(f"{self.name} names {shown(name)}: choose from {', '.join(self.choices)}.")
            if name in names[:place]:
                raise AttendError(f"{self.name} names {name} twice: name every stage once at most.")
        named = iter(names)
        return tuple(next(named) if stage in names else stage for stage in self.choices)

    def typed(self, value: Value) -> str:
        assert isinstance(value, tuple)
        return ", ".join(map(str, value))

    def plain(self, value: Value) -> object:
        assert isinstance(value, tuple)
        return list(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Biases(Parameter):
    """A number for each of some token ids."""

    @property
    def numeric(self) -> bool:
        return False

    @property
    def accepts(self) -> str:
        return f"id:bias, between commas, each bias {self.minimum} to {self.maximum}"

    @property
    def hint(self) -> str:
        return "ID:X,…"

    def checked(self, value: object) -> Value:
        if isinstance(value, str):
            is_object = value.lstrip().startswith("{")
            parts = [pair.split(":") for pair in value.split(",") if pair.strip()]
            value = _from_json(self, value) if is_object else parts
        pairs = _entries(self, list(value.items()) if isinstance(value, Mapping) else value)
        biases: dict[int, float] = {}
        for pair in pairs:
            if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
                raise AttendError(f"{self.name} holds {shown(pair)}, but each entry must be a token's id and its bias.")
            token = number(f"A token in {self.name}", _read(pair[0]), 0, 2**31 - 1, integer=True)
            if token in biases:
                raise AttendError(f"{self.name} names token {token} twice: name every token once at most.")
            biases[int(token)] = number(f"The bias of token {token}", _read(pair[1]), self.minimum, self.maximum)
        return tuple(sorted(biases.items()))

    def typed(self, value: Value) -> str:
        return ", ".join(f"{token}:{bias}" for token, bias in dict(value).items())  # type: ignore[arg-type]

    def plain(self, value: Value) -> object:
        return {str(token): bias for token, bias in value}  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers(Parameter):
    """Layers of a model: one of the words, or numbers."""

    @property
    def numeric(self) -> bool:
        return False

    @property
    def accepts(self) -> str:
        return f"{', '.join(self.choices)}, or numbers between commas"

    @property
    def hint(self) -> str:
        return "|".join((*self.choices, "N,…"))

    def checked(self, value: object) -> Value:
        if isinstance(value, str):
            if value.strip() in self.choices:
                return value.strip()
            value = [_read(part) for part in value.split(",")]
        entries = _entries(self, [value] if isinstance(value, int | float) else value)
        layers = {int(number(f"A layer in {self.name}", one, 0, self.maximum, integer=True)) for one in entries}
        if not layers:
            raise AttendError(f"{self.name} names no layer, but must be: {self.accepts}.")
        return tuple(sorted(layers))

    def typed(self, value: Value) -> str:
        return value if isinstance(value, str) else ", ".join(map(str, value))  # type: ignore[arg-type]

    def plain(self, value: Value) -> object:
        return list(value) if isinstance(value, tuple) else value


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
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _entries(parameter: Parameter, value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise AttendError(f"{parameter.name} is {shown(value)}, but must be: {parameter.accepts}.")
    if len(value) > MOST_ENTRIES:
        raise AttendError(f"{parameter.name} has {len(value):,} entries: give {MOST_ENTRIES} or fewer.")
    return list(value)


def _from_json(parameter: Parameter, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AttendError(f"{parameter.name} is {shown(text)}, but must be: {parameter.accepts}.") from error


def _read(value: object) -> object:
    """A number that was typed, or came as the name in a JSON object; anything else stays what it is."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return value
