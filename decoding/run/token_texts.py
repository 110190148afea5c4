"""The text that each generated token adds to an answer, as soon as it is certain.

A token waits while its text could still be a part of a stop text, or of a character that isn't complete.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from decoding.stop import before_stop, certain, first_stop

T = TypeVar("T")


class Detokenizer(Protocol):
    """Turns ids into text one at a time."""

    def push(self, piece: int, /) -> str: ...
    def finish(self) -> str: ...


class TokenTexts(Generic[T]):
    """A growing answer; with each token the caller hands over something, which comes back with the token's text."""

    def __init__(self, detokenizer: Detokenizer, stop_texts: Sequence[str] = ()) -> None:
        self._detokenizer, self._stop_texts = detokenizer, stop_texts
        self._waiting: deque[tuple[str, T]] = deque()
        self._text = ""  # of the waiting tokens: a stop text can't begin before it

    def push(self, token: int, thing: T, *, last: bool = False) -> list[tuple[str, T]]:
        """Add a token; returns those that are certain now, in order, each with its text.

        Args:
            last: whether the answer ends with it; it then waits for `finish`, which may add half a character to it.
        """
        added = self._detokenizer.push(token)
        self._text += added
        self._waiting.append((added, thing))
        length, ready = len(certain(self._text, self._stop_texts)), []
        while len(self._waiting) > last and len(self._waiting[0][0]) <= length:
            ready.append(self._waiting.popleft())
            length -= len(ready[-1][0])
        self._text = self._text[sum(len(text) for text, _ in ready) :]
        return ready

    def finish(self) -> list[tuple[str, T]]:
        """The remaining tokens once the answer has ended; a stop text and all that follows it add no text."""
        if self._waiting:
            text, thing = self._waiting.pop()
            self._waiting.append((text + (rest := self._detokenizer.finish()), thing))
            self._text += rest
        room, ready = len(before_stop(self._text, self._stop_texts)), []
        for text, thing in self._waiting:
            ready.append((text[: max(0, room)], thing))
            room -= len(text)
        return ready

    def whole(self, tokens: Sequence[tuple[int, T]]) -> list[tuple[str, T]]:
        """All tokens of an answer that has ended, each with its text."""
        ready = []
        for number, (token, thing) in enumerate(tokens, start=1):
            ready += self.push(token, thing, last=number == len(tokens))
        return [*ready, *self.finish()]

    @property
    def stopped(self) -> bool:
        """Whether a stop text has ended the answer."""
        return first_stop(self._text, self._stop_texts) is not None
