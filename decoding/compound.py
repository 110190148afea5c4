"""Settings that may hold more than one value: texts, an order, biases, layers. None of them is known by name.

They also read what people type into a box or behind a flag, and write themselves the same way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from decoding.parameter import Control, Parameter, Value, number, shown
from model.errors import AttendError

MOST_ENTRIES, MOST_CHARACTERS = 100, 200  # nobody needs more, and all cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Compound(Parameter):
    """Several values; typed, they stand between commas."""

    @property
    def control(self) -> Control:
        return "text"

    def typed(self, value: Value) -> str:
        return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)

    def plain(self, value: Value) -> object:
        return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts(Compound):
    """Several texts; typed, they stand between commas, or as a JSON list where they hold commas or are blank."""

    may_be_blank: ClassVar[bool] = False  # an entry such as a line end

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
        joined = Compound.typed(self, value)
        return joined if self.checked(joined) == value else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlankTexts(Texts):
    """Texts that may be blank, such as a line end."""

    may_be_blank: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Compound):
    """All choices in an order. Those named take each other's places; the others keep theirs."""

    @property
    def control(self) -> Control:
        return "order"

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Biases(Compound):
    """A number for each of some token ids."""

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
            biases[int(token)] = number(
                f"The bias of token {token} in {self.name}", _read(pair[1]), self.minimum, self.maximum
            )
        return tuple(sorted(biases.items()))

    def typed(self, value: Value) -> str:
        return ", ".join(f"{token}:{bias}" for token, bias in dict(value).items())  # type: ignore[arg-type]

    def plain(self, value: Value) -> object:
        return {str(token): bias for token, bias in value}  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers(Compound):
    """Layers of a model: one of the words, or numbers."""

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
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value
