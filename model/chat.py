"""A conversation as token ids: for training turn by turn, for answering with the oldest turns dropped first.

    <s> <user> Hi! <end> <assistant> Hello! How are you? <end> <user> …

An answer is what follows `<assistant>`, up to and with `<end>`. The file knows nothing of models; only how long a
context they read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from model.errors import AttendError
from model.tokenizer import ASSISTANT, BEGIN, END, USER, Tokenizer

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn, as a person sees it."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """What the model is to answer."""

    ids: tuple[int, ...]  # ends with `<assistant>`
    dropped: int  # how many of the oldest messages did not fit


class ChatFormat:
    """The one way in which conversations are written for our models."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.begin = tokenizer.control(BEGIN)
        self.end = tokenizer.control(END)
        self._roles: dict[Role, int] = {"user": tokenizer.control(USER), "assistant": tokenizer.control(ASSISTANT)}

    @property
    def end_tokens(self) -> frozenset[int]:
        return frozenset({self.end})

    def turn(self, message: Message) -> list[int]:
        """One whole turn: role, text, `<end>`."""
        return [self._roles[message.role], *self._tokenizer.encode(message.text), self.end]

    def prompt(self, messages: Sequence[Message], *, context_length: int, reserve: int) -> ChatPrompt:
        """The prompt for the next answer, with room for `reserve` tokens of it, at most half the context.

        The oldest messages are dropped until the rest fits, and what is left starts with a user's message; the last one
        always stays, whatever room it leaves. Raises
        `AttendError` for a blank last message, and for one that is too long for the context even alone.
        """
        if not messages or not messages[-1].text.strip():
            raise AttendError("The message is empty: type something first.")
        turns = [self.turn(message) for message in messages]
        fixed = 2  # <s> in front, <assistant> behind
        room = context_length - fixed
        if len(turns[-1]) >= room:
            raise AttendError(
                f"The message has {len(turns[-1]):,} tokens, but this model reads at most {room - 1:,} at once: "
                "shorten it."
            )
        room -= min(reserve, context_length // 2)
        first, used = len(turns) - 1, len(turns[-1])
        while first > 0 and used + len(turns[first - 1]) <= room:
            first -= 1
            used += len(turns[first])
        while first < len(turns) - 1 and messages[first].role != "user":
            first += 1
        ids = [self.begin, *(token for turn in turns[first:] for token in turn), self._roles["assistant"]]
        return ChatPrompt(tuple(ids), dropped=first)
