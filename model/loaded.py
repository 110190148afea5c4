"""A loaded model as everybody uses it: the network, its tokenizer, and how a text or a conversation begins and ends."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from model.chat import Chat, ChatPrompt, Message
from model.errors import AttendError
from model.interface import LanguageModel
from model.text import TextTokenizer


@dataclass(frozen=True, slots=True, weakref_slot=True)
class LoadedModel:
    """All that is needed to continue a text or a conversation."""

    name: str
    model: LanguageModel
    tokenizer: TextTokenizer
    start: tuple[int, ...]  # the control tokens before every text; most models have one, some none
    end_tokens: frozenset[int]
    chat: Chat | None  # None: the model knows no turns and can only continue a text
    address: str = ""  # what `model.catalog.load` was given, a name or a folder, and so would load it again
    notes: tuple[str, ...] = ()  # sentences that a person should read about how it was loaded
    ending: tuple[int, ...] = ()  # the control tokens after every text, where an encoder reads it
    never: frozenset[int] = frozenset()  # tokens that its makers rule out in every text
    lock: threading.Lock = field(default_factory=threading.Lock)  # held for one forward pass at a time

    def prompt(self, text: str) -> tuple[int, ...]:
        """The ids of a text to continue or, for an encoder with a decoder, to answer."""
        return (*self.start, *self.tokenizer.encode(text, begins=True), *self.ending)

    @property
    def no_system(self) -> str:
        """See `model.chat.Chat.no_system`."""
        return "it was not made for conversations" if self.chat is None else self.chat.no_system

    def chat_prompt(self, messages: Sequence[Message], *, system: str = "", reserve: int) -> ChatPrompt:
        """See `model.chat.Chat.prompt`; `AttendError` also for a model without a chat or without a system prompt."""
        if self.chat is None:
            raise AttendError(f"{self.name} knows no turns, so it cannot answer: give it a text to continue.")
        if system and self.no_system:
            raise AttendError(
                f"{self.name} takes no system prompt, since {self.no_system}: leave it empty, or choose a model whose "
                "chat template knows one."
            )
        return self.chat.prompt(messages, system=system, context_length=self.model.context_length, reserve=reserve)
