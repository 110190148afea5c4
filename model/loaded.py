"""A loaded model as everybody uses it: the network, its tokenizer, and how a text or a conversation begins and ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, Self, cast

from model.chat import Chat, ChatPrompt, Message, OneMessage
from model.errors import AttendError
from model.interface import LanguageModel
from model.languages import Languages
from model.text import TextTokenizer


class Translator(LanguageModel[Any], Protocol):
    """A model that can be told what its answers begin with, such as the language that they are in."""

    def begun_by(self, start: Sequence[int]) -> Self:
        """The same model, sharing its weights, with another `decoder_start`."""
        ...


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
    languages: Languages | None = None  # of a translator that is told them, and then its model is a `Translator`
    base: LoadedModel | None = None  # whose memory this one shares, and so keeps
    lock: threading.Lock = field(default_factory=threading.Lock)  # held for one forward pass at a time

    def prompt(self, text: str) -> tuple[int, ...]:
        """The ids of a text to continue or, for an encoder with a decoder, to answer."""
        return (*self.start, *self.tokenizer.encode(text, begins=True), *self.ending)

    @property
    def begins_anew(self) -> bool:
        """Whether what the model says is a text of its own, as a translation is, and goes on with none: then the space
        that some vocabularies put before a text is not shown."""
        return bool(self.model.decoder_start)

    @property
    def text_of(self) -> Callable[[Iterable[int]], str]:
        """What tokens of an answer or a continuation say; whoever keeps it does not keep the model."""
        return partial(self.tokenizer.decode, begins=self.begins_anew)

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

    def answering_each(self) -> LoadedModel:
        """As a model that answers every message for itself, a source of its own."""
        return replace(self, chat=OneMessage(self.prompt, languages=str(self.languages or "")))

    def between(self, source: str = "", target: str = "") -> LoadedModel:
        """The same model, sharing all of its memory, between other languages; an empty one stays as it is.

        Raises `AttendError` for a language that it does not know, and for a model that is not told any.
        """
        was = self.languages
        if was is None:
            raise AttendError(f"{self.name} is not told between which languages it translates: leave them out.")
        now, model = was.between(source, target), self.model
        turned = {was.sources[was.source]: now.sources[now.source]} if was.source else {}
        start, ending = (tuple(turned.get(piece, piece) for piece in frame) for frame in (self.start, self.ending))
        if now.target:
            asked, known = now.targets[now.target], set(now.targets.values())
            if now.asked_before_source:
                start = (asked, *(piece for piece in start if piece not in known))
            else:  # behind the decoder's own start, unless that is the language already
                model = cast(Translator, model)
                model = model.begun_by([*(piece for piece in model.decoder_start[:1] if piece not in known), asked])
        other = replace(self, model=model, start=start, ending=ending, languages=now, base=self)
        return other.answering_each()
