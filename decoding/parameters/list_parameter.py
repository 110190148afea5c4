"""Settings that hold several values: strings, an order, biases, layers.

They also parse what is typed into a form or a flag, and format themselves the same way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from decoding.parameters.parameter import Control, Parameter, Value, number, quoted
from model.errors import AttendError

MAX_ENTRIES, MAX_CHARACTERS = 100, 200  # more would cost time for every token

T = TypeVar("T", bound=Value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListParameter(Parameter[T]):
    """Several values, typed with commas between them."""

    @property
    def control(self) -> Control:
        return "text"

    def typed(self, value: Value) -> str:
        return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)

    def plain(self, value: Value) -> object:
        return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class StringList(ListParameter[tuple[str, ...]]):
    """Strings, typed with commas between them or, where they contain commas or are blank, as a JSON list."""

    allow_blank: bool = False  # whether an entry may be white space, such as a line end

    @property
    def accepts(self) -> str:
        return "texts, separated by commas or as a JSON list"

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
            blank = isinstance(text, str) and not (text if self.allow_blank else text.strip())
            if not isinstance(text, str) or blank or len(text) > MAX_CHARACTERS:
                raise AttendError(
                    f"{self.name} contains {quoted(text)}, but each entry must be a text of 1 to {MAX_CHARACTERS} "
                    f"characters{'' if self.allow_blank else ', not all blank'}."
                )
            if any("\ud800" <= character <= "\udfff" for character in text):  # JSON and a shell can send it
                raise AttendError(
                    f"{self.name} contains {quoted(text)}, which contains half a character: delete it and "
                    "type it again."
                )
        return tuple(dict.fromkeys(texts))

    def typed(self, value: Value) -> str:
        joined = ListParameter.typed(self, value)
        return joined if self.checked(joined) == value else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(ListParameter[tuple[str, ...]]):
    """All choices in an order. The named ones are permuted among their positions; the others stay where they are."""

    @property
    def control(self) -> Control:
        return "order"

    @property
    def accepts(self) -> str:
        return "names of filters, separated by commas; the others keep their places"

    @property
    def hint(self) -> str:
        return "NAME,…"

    def checked(self, value: object) -> Value:
        if isinstance(value, str):
            value = [name for part in value.split(",") if (name := part.strip())]
        names = _entries(self, value)
        for index, name in enumerate(names):
            if name not in self.choices:
                raise AttendError(f"{self.name} has no filter {quoted(name)}: choose from {', '.join(self.choices)}.")
            if name in names[:index]:
                raise AttendError(f"{self.name} lists {name} twice: list each filter at most once.")
        named = iter(names)
        return tuple(next(named) if stage in names else stage for stage in self.choices)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBiases(ListParameter[tuple[tuple[int, float], ...]]):
    """(token id, bias) pairs."""

    @property
    def accepts(self) -> str:
        return f"id:bias, separated by commas, each bias {self.minimum} to {self.maximum}"

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
                raise AttendError(
                    f"{self.name} contains {quoted(pair)}, but each entry must be a token id and its bias."
                )
            token = number(f"A token in {self.name}", _parse(pair[0]), 0, 2**31 - 1, integer=True)
            if token in biases:
                raise AttendError(f"{self.name} lists token {token} twice: list each token at most once.")
            biases[int(token)] = number(
                f"The bias of token {token} in {self.name}", _parse(pair[1]), self.minimum, self.maximum
            )
        return tuple(sorted(biases.items()))

    def typed(self, value: Value) -> str:
        return ", ".join(f"{token}:{bias}" for token, bias in dict(value).items())  # type: ignore[arg-type]

    def plain(self, value: Value) -> object:
        return {str(token): bias for token, bias in value}  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers(ListParameter[str | tuple[int, ...]]):
    """Layers of a model: one of the words, or numbers."""

    @property
    def accepts(self) -> str:
        return f"{', '.join(self.choices)}, or layer numbers separated by commas"

    @property
    def hint(self) -> str:
        return "|".join((*self.choices, "N,…"))

    def checked(self, value: object) -> Value:
        if isinstance(value, str):
            if value.strip() in self.choices:
                return value.strip()
            value = [_parse(part) for part in value.split(",")]
        entries = _entries(self, [value] if isinstance(value, int | float) else value)
        layers = {int(number(f"A layer in {self.name}", entry, 0, self.maximum, integer=True)) for entry in entries}
        if not layers:
            raise AttendError(f"{self.name} lists no layer, but must be: {self.accepts}.")
        return tuple(sorted(layers))


def _entries(parameter: Parameter, value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise AttendError(f"{parameter.name} is {quoted(value)}, but must be: {parameter.accepts}.")
    if len(value) > MAX_ENTRIES:
        raise AttendError(f"{parameter.name} has {len(value):,} entries: use {MAX_ENTRIES} or fewer.")
    return list(value)


def _from_json(parameter: Parameter, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AttendError(f"{parameter.name} is {quoted(text)}, but must be: {parameter.accepts}.") from error


def _parse(value: object) -> object:
    """A number that was typed or is a JSON object's key; anything else is returned unchanged."""
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value
