"""Checks what visitors and programs send; anything invalid raises an `AttendError` with a plain sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from decoding.parameters.parameter import SettingError, quoted
from model.errors import AttendError

MAX_CHARACTERS = 20_000  # in one text; checked before it is tokenized


def checked_text(value: object, name: str) -> str:
    """A text, which may be empty; `name` is what the message calls it."""
    if not isinstance(value, str):
        raise AttendError(f"{name} must be text.")
    if len(value) > MAX_CHARACTERS:
        raise AttendError(f"{name} has {len(value):,} characters, but the limit is {MAX_CHARACTERS:,}: shorten it.")
    return value


def checked_message(value: object) -> str:
    """A message to answer, which must not be blank; see `without_blank_end`."""
    text = checked_text(value, "The message")
    if not text.strip():
        raise AttendError("The message is empty: type something first.")
    return without_blank_end(text)


def without_blank_end(message: str) -> str:
    """A message without the empty lines at its end, which a model would read; the last line keeps its spaces."""
    words = message.rstrip()
    return words + re.split(r"[\r\n]", message[len(words) :], maxsplit=1)[0]


def checked_system(value: object) -> str:
    """A system prompt; a blank one counts as none."""
    text = checked_text(value, "The system prompt")
    return text if text.strip() else ""


def checked_switch(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise AttendError(f"{name} is {quoted(value)}, but must be true or false.")
    return value


def checked_start(value: object, name: str) -> str:
    """A text to continue, which must not be blank: after nothing, a model would write what separates texts."""
    text = checked_text(value, name)
    if not text.strip():
        raise AttendError(f"{name} is empty: enter at least one character.")
    return text


@contextmanager
def on_card(number: int) -> Iterator[None]:
    """Add the number of a comparison's card to an error raised inside."""
    try:
        yield
    except SettingError as error:
        raise SettingError(f"Card {number}: {error}", *error.names) from error
    except AttendError as error:
        raise AttendError(f"Card {number}: {error}") from error
