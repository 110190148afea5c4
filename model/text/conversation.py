"""Conversations as token ids: turn by turn for training, and as a prompt, which drops its oldest turns if too long.

    <s> <user> Hi! <end> <assistant> Hello! How are you? <end> <user> …

An answer is what follows `<assistant>`, up to and including `<end>`. This file knows nothing of models except the
length of their context.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol

from model.errors import AttendError
from model.limits import TooLong, max_characters
from model.text.sentencepiece_tokenizer import ASSISTANT, BEGIN, END, USER, Tokenizer

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn, as a person sees it."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """A conversation for the model to continue with an answer."""

    ids: tuple[int, ...]  # ends with `<assistant>`
    dropped: int  # how many of the oldest messages did not fit


def as_dicts(messages: Iterable[Message], system: str = "") -> list[dict[str, str]]:
    """The conversation as chat templates and run documents hold it, a system prompt as its first message."""
    first = [{"role": "system", "content": system}] if system else []
    return [*first, *({"role": message.role, "content": message.text} for message in messages)]


def from_dicts(messages: object) -> tuple[str, list[Message]]:
    """The inverse of `as_dicts`: the system prompt, "" if there is none, and the conversation.

    Raises `AttendError` for anything that `as_dicts` does not write.
    """
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise AttendError('The messages must be a list of {"role": …, "content": …}.')
    system, read = "", []
    for number, entry in enumerate(messages, start=1):
        match entry:
            case {"role": "system", "content": str(text)} if number == 1:
                system = text if text.strip() else ""
            case {"role": "system"} if number == 1:
                raise AttendError('The system message must be {"role": "system", "content": text}.')
            case _:
                read.append(message_from_dict(entry, f"Message {number}"))
    if not read or read[-1].role != "user":
        raise AttendError("The last message must be the user's: add the message to answer.")
    return system, read


def message_from_dict(entry: object, name: str) -> Message:
    """One message that `as_dicts` wrote; `AttendError` for anything else, in which `name` stands for the message."""
    role, text = (entry.get("role"), entry.get("content")) if isinstance(entry, Mapping) else (None, None)
    if role not in ("user", "assistant") or not isinstance(text, str):
        raise AttendError(f'{name} must be {{"role": "user" or "assistant", "content": text}}.')
    return Message(role, text)


class Chat(Protocol):
    """The way in which conversations are written for a model."""

    manner: str  # the format, in words
    stop_texts: tuple[str, ...]  # texts that end an answer, besides the model's end tokens
    no_system: str  # why system prompts are not supported, as the end of a sentence; "" if they are

    def prompt(self, messages: Sequence[Message], *, system: str = "", context_length: int, reserve: int) -> ChatPrompt:
        """The prompt for the next answer, with room for `reserve` tokens of that, but at most half the context.

        The oldest messages are dropped until the rest fits and starts with a user's message; the last one always stays,
        however little room it leaves.

        Args:
            system: the system prompt, which is never dropped; it must be "" if `no_system` has a reason.

        Raises:
            AttendError: for a blank last message, and for one that is too long for the context on its own.
        """
        ...


def fitted(
    messages: Sequence[Message],
    ids_from: Callable[[int], Sequence[int]],
    *,
    frame: int,
    context_length: int,
    reserve: int,
    system: str = "",
    noun: str = "message",
) -> ChatPrompt:
    """Implements `Chat.prompt` for any format.

    Args:
        ids_from: the prompt of all messages from this index on; it must not get longer when it begins later. May raise
            `TooLong`.
        frame: how many tokens of every prompt belong neither to a message nor to the system prompt.
        system: the system prompt in every prompt of `ids_from`; the error mentions it if nothing fits.
        noun: what the error calls the last message.
    """
    if not messages or not messages[-1].text.strip():
        raise AttendError(f"The {noun} is empty: type something first.")
    last = len(messages) - 1
    subject, them = (f"The system prompt and the {noun} have", "them") if system else (f"The {noun} has", "it")
    limit = max_characters(context_length)

    def characters(first: int) -> int:
        return len(system) + sum(len(message.text) for message in messages[first:])

    if characters(last) > limit:
        raise AttendError(
            f"{subject} {characters(last):,} characters, but this model, with its context of {context_length:,} "
            f"tokens, reads at most {limit:,}: shorten {them}."
        )
    alone = len(ids_from(last))
    if alone > context_length:
        raise AttendError(
            f"{subject} {alone - frame:,} tokens, but this model's context holds {context_length - frame:,}: "
            f"shorten {them}."
        )
    room = min(context_length, context_length + 1 - min(reserve, context_length // 2))  # the last token is never read

    def fits(first: int) -> bool:
        with suppress(TooLong):
            return characters(first) <= limit and len(ids_from(first)) <= room
        return False

    begins = [index for index, message in enumerate(messages[:last]) if message.role == "user"]
    place = bisect_left(begins, True, key=fits)
    first = begins[place] if place < len(begins) else last
    return ChatPrompt(tuple(ids_from(first)), dropped=first)


def _refuse(system: str, reason: str) -> None:
    """Raise `ValueError` for a system prompt: callers must check before whether there may be one."""
    if system:
        raise ValueError(f"no system prompt can be written: {reason}")


class SingleMessageChat:
    """The format for an encoder, which reads a single text: the newest message, without those before it."""

    stop_texts: tuple[str, ...] = ()
    no_system: str = "it reads each message on its own"

    def __init__(self, ids_of: Callable[[str], Sequence[int]], *, languages: str = "") -> None:
        """
        Args:
            ids_of: a text → what the encoder reads.
            languages: the languages of the translation, in words for people, if they are known.
        """
        self._ids_of = ids_of
        self.manner = f"each message on its own, {languages}" if languages else "each message on its own"

    def prompt(self, messages: Sequence[Message], *, system: str = "", context_length: int, reserve: int) -> ChatPrompt:
        """See `Chat.prompt`; the answer has a context of its own, so it needs no room in this one."""
        _refuse(system, self.no_system)
        ids = fitted(
            messages[-1:],
            lambda _: self._ids_of(messages[-1].text),
            frame=0,
            context_length=context_length,
            reserve=0,
            noun="text",
        ).ids
        return ChatPrompt(ids, dropped=0)


class Transcript:
    """A conversation as plain text, for a model that was not trained on a chat format.

    A system prompt is its first paragraph. Turns are marked by words only, so a message may contain a line that looks
    like another turn.
    """

    manner: str = "plain transcript"
    stop_texts: tuple[str, ...] = ("\nUser:",)
    no_system: str = ""

    def __init__(self, ids_of: Callable[[str], Sequence[int]]) -> None:
        """
        Args:
            ids_of: a whole text → what the model is to continue.
        """
        self._ids_of = ids_of

    def prompt(self, messages: Sequence[Message], *, system: str = "", context_length: int, reserve: int) -> ChatPrompt:
        """See `Chat.prompt`."""
        return fitted(
            messages,
            lambda first: self._ids_of(self.text(messages[first:], system)),
            frame=len(self._ids_of(self.text([Message("user", "")]))),
            context_length=context_length,
            reserve=reserve,
            system=system,
        )

    @staticmethod
    def text(messages: Sequence[Message], system: str = "") -> str:
        """The transcript up to where the answer begins; the space before it is for the model to write."""
        names: dict[Role, str] = {"user": "User", "assistant": "Assistant"}
        paragraph = f"{system.strip()}\n\n" if system else ""
        turns = [*(f"{names[one.role]}: {one.text.strip()}" for one in messages), "Assistant:"]
        return paragraph + "\n".join(turns)


class ChatFormat:
    """The format of conversations for our own models."""

    manner: str = "chat template"
    stop_texts: tuple[str, ...] = ()
    no_system: str = "it was trained without them"

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.begin = tokenizer.special_token_id(BEGIN)
        self.end = tokenizer.special_token_id(END)
        self._roles: dict[Role, int] = {
            "user": tokenizer.special_token_id(USER),
            "assistant": tokenizer.special_token_id(ASSISTANT),
        }

    @property
    def end_tokens(self) -> frozenset[int]:
        return frozenset({self.end})

    def turn(self, message: Message) -> list[int]:
        """One whole turn: role, text, `<end>`."""
        return [self._roles[message.role], *self._tokenizer.encode(message.text), self.end]

    def prompt(self, messages: Sequence[Message], *, system: str = "", context_length: int, reserve: int) -> ChatPrompt:
        """See `Chat.prompt`."""
        _refuse(system, self.no_system)
        turn = cache(self.turn)

        def ids_from(first: int) -> list[int]:
            return [self.begin, *itertools.chain.from_iterable(map(turn, messages[first:])), self._roles["assistant"]]

        return fitted(messages, ids_from, frame=2, context_length=context_length, reserve=reserve)
