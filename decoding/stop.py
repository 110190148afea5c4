"""When a continuation ends: at an end token, at a stop text in its text, or at the length limit.

A stop text may span tokens and begin in the middle of one. The returned text ends before it, and while a text grows,
whatever could become a stop text is held back. Knows no tokenizer, only the request's `decode`, in which an unfinished
character at either end is U+FFFD.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from decoding.parameters.list_parameter import StringList
from decoding.parameters.parameter import Parameter
from decoding.request import Request
from decoding.step import FinishReason

TOKEN_LIMIT = 4096  # for one run
MAX_NEW_TOKENS = Parameter(
    name="max_new_tokens",
    label="Maximum length",
    default=128,
    help="The most tokens to generate; the text ends sooner when the model's context is full.",
    neutral=None,
    integer=True,
    minimum=1,
    maximum=TOKEN_LIMIT,
)
STOP_TEXTS = StringList(
    name="stop_texts",
    label="Stop texts",
    section="Words and endings",
    default=(),
    help='Texts that end the output, just before them; a line break is ["\\n"].',
    allow_blank=True,
)

UNFINISHED = "\ufffd"  # the replacement for bytes that form no character, or not yet
MAX_UNFINISHED = 3  # bytes of a character whose first or last byte is missing


def first_stop(text: str, stop_texts: Sequence[str]) -> str | None:
    """The stop text that occurs first in the text; None if there is none."""
    return min((stop for stop in stop_texts if stop in text), key=text.find, default=None)


def before_stop(text: str, stop_texts: Sequence[str]) -> str:
    """The text up to the first stop text; all of it if there is none."""
    stop = first_stop(text, stop_texts)
    return text if stop is None else text[: text.find(stop)]


def certain(text: str, stop_texts: Sequence[str]) -> str:
    """The part of a growing text that can no longer change.

    It ends before half a character and before anything that could still become a stop text.
    """
    complete = text.rstrip(UNFINISHED)
    text = before_stop(complete, stop_texts)
    if text != complete:  # a stop text has ended it
        return text
    longest = max(map(len, stop_texts), default=0)
    for start in range(max(0, len(text) - longest + 1), len(text)):
        if any(stop.startswith(text[start:]) for stop in stop_texts):
            return text[:start]
    return text


@dataclass(frozen=True, slots=True)
class Stop:
    """When the continuations of one request end."""

    end_tokens: frozenset[int]
    limit: int  # how many tokens may be generated at most
    decode: Callable[[Sequence[int]], str]
    stop_texts: tuple[str, ...] = ()

    @classmethod
    def of(cls, request: Request, max_new_tokens: int, stop_texts: tuple[str, ...] = ()) -> Self:
        """End after `max_new_tokens`, or sooner if the model's context has no more room."""
        return cls(request.end_tokens, request.room(max_new_tokens), request.decode, stop_texts)

    def reason(self, tokens: Sequence[int]) -> FinishReason | None:
        """Why the last of these generated tokens completes them; None if it does not."""
        if tokens[-1] in self.end_tokens:
            return "stop"
        if self.stop_texts and self._holds_stop_text(tokens):
            return "stop_text"
        return "length" if len(tokens) >= self.limit else None

    def _holds_stop_text(self, tokens: Sequence[int]) -> bool:
        """Whether the newest token has completed a stop text.

        Only the end of the text is searched: the newest token and as many before it as a stop text may need.
        """
        longest = max(map(len, self.stop_texts))
        count = longest + MAX_UNFINISHED + 1
        while count < len(tokens) and len(self.decode(tokens[-count:-1])) < longest + MAX_UNFINISHED:
            count *= 2  # control tokens have no text, and bytes make a character only together
        text = self.decode(tokens[-count:]).strip(UNFINISHED)
        return any(stop in text for stop in self.stop_texts)
