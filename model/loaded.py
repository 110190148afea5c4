"""A model ready to use: the network, its tokenizer, and the special tokens around texts and conversations."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from model.errors import AttendError
from model.interface import NO_RULES, GenerationRules, LanguageModel
from model.limits import check_characters
from model.text.conversation import Chat, ChatFormat, ChatPrompt, Message, SingleMessageChat
from model.text.languages import Languages
from model.text.sentencepiece_tokenizer import ASSISTANT, BEGIN, END, USER, Tokenizer
from model.text.tokenizer import TextTokenizer

if TYPE_CHECKING:
    from model.recurrent.network import Recurrent
    from model.transformer.decoder import Transformer


SCORED_AT_ONCE = 2  # long texts; each keeps much between its passes


class Translator(LanguageModel[Any], Protocol):
    """A model whose answers can begin with other tokens, such as that of the language to answer in."""

    def with_decoder_start(self, start: Sequence[int]) -> Self:
        """The same model, sharing its weights, with another `decoder_start`."""
        ...


class FairLock:
    """A lock that is granted in the order of the requests; one made with `ahead` goes first. A thread that releases
    `threading.Lock` and acquires it again at once can starve all others."""

    def __init__(self, slots: int = 1) -> None:
        """
        Args:
            slots: how many may hold it at the same time.
        """
        self.slots = slots
        self._state = Lock()  # guards the next two
        self._free = slots
        self._waiting: deque[Lock] = deque()  # each is locked until its turn comes

    def acquire(self, *, ahead: bool = False) -> None:
        """Wait for the lock, `ahead` of all other waiters if so asked."""
        if turn := self._turn(ahead=ahead):
            turn.acquire()

    def acquiring(self, seconds: float) -> Generator[None, None, None]:
        """Wait for the lock, and yield every so many seconds until it is held; closing the generator stops the wait."""
        turn = self._turn()
        try:
            while turn and not turn.acquire(timeout=seconds):
                yield
        except GeneratorExit:
            with self._state:
                waits = turn in self._waiting
                if waits:
                    self._waiting.remove(turn)
            if not waits:  # the turn had just come
                self.release()
            raise

    def _turn(self, *, ahead: bool = False) -> Lock | None:
        """A lock that is released when the turn comes; None if it has come."""
        with self._state:
            if self._free:
                self._free -= 1
                return None
            turn = Lock()
            turn.acquire()
            if ahead:
                self._waiting.appendleft(turn)
            else:
                self._waiting.append(turn)
            return turn

    def release(self) -> None:
        with self._state:
            if self._waiting:
                self._waiting.popleft().release()  # the next waiter holds it now
            else:
                self._free += 1

    def locked(self) -> bool:
        return not self._free

    @property
    def waiting(self) -> int:
        """The number of waiters."""
        return len(self._waiting)

    @contextmanager
    def held_ahead(self) -> Iterator[None]:
        """Hold the lock next, ahead of all other waiters."""
        self.acquire(ahead=True)
        try:
            yield
        finally:
            self.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


@dataclass(frozen=True, slots=True, weakref_slot=True)
class LoadedModel:
    """Everything needed to continue a text or a conversation."""

    name: str
    model: LanguageModel
    tokenizer: TextTokenizer
    prefix_tokens: tuple[int, ...]  # special tokens before every text; most models have one, some have none
    end_tokens: frozenset[int]
    chat: Chat | None  # None: the model has no chat format and can only continue a text
    address: str = ""  # the name or folder that `model.catalog.load` loads it by
    dtype: str = "auto"  # the precision that was asked for, see `model.device.DeviceConfig`
    checksum: str = ""  # of its weights, by which a link knows them (`model.sandbox.checksum`); "" if unknown
    notes: tuple[str, ...] = ()  # sentences for the user about how it was loaded
    suffix_tokens: tuple[int, ...] = ()  # special tokens after every source of an encoder
    rules: GenerationRules = NO_RULES  # what the generation config demands of every text
    languages: Languages | None = None  # for a multilingual translator, whose model is then a `Translator`
    base: LoadedModel | None = None  # the model whose weights this one shares, kept alive with it
    lock: FairLock = field(default_factory=FairLock)  # held for one forward pass at a time
    scoring: FairLock = field(default_factory=partial(FairLock, SCORED_AT_ONCE))  # slots for long texts

    @classmethod
    def from_transformer(cls, name: str, model: Transformer | Recurrent, tokenizer: Tokenizer) -> Self:
        """One of our own networks: a decoder continues texts, and chats if its vocabulary has role tokens; an
        encoder-decoder answers one text with another.

        Raises `AttendError` if network and tokenizer do not belong together.
        """
        if tokenizer.vocabulary_size != model.vocabulary_size:
            raise AttendError(
                f"The tokenizer of {name} has {tokenizer.vocabulary_size:,} tokens, but its model "
                f"has {model.vocabulary_size:,}: they belong to different checkpoints."
            )
        end = tokenizer.special_token_id(END)
        if model.config.padding is not None:
            padding = frozenset({model.config.padding})
            loaded = cls(
                name,
                model,
                tokenizer,
                prefix_tokens=(),
                end_tokens=frozenset({end}),
                chat=None,
                suffix_tokens=(end,),
                rules=GenerationRules(suppress_tokens=padding),
            )
            return loaded.with_single_message_chat()
        chat = ChatFormat(tokenizer) if all(map(tokenizer.has_special_token, (USER, ASSISTANT))) else None
        begin = tokenizer.special_token_id(BEGIN)
        return cls(name, model, tokenizer, prefix_tokens=(begin,), end_tokens=frozenset({end}), chat=chat)

    def prompt(self, text: str) -> tuple[int, ...]:
        """The ids of a text to continue or, for an encoder-decoder, to answer.

        `AttendError` for a text that could never fit into the context.
        """
        check_characters(text, self.prompt_length)
        return (*self.prefix_tokens, *self.tokenizer.encode(text, begins=True), *self.suffix_tokens)

    @property
    def prompt_length(self) -> int:
        """How many tokens a prompt may have; for an encoder-decoder, how many its encoder reads."""
        return getattr(self.model, "source_length", self.model.context_length)

    @property
    def starts_new_text(self) -> bool:
        """Whether the output is a separate text, such as a translation, rather than a continuation: then the space that
        some tokenizers put before a text is not shown."""
        return bool(self.model.decoder_start)

    @property
    def text_of(self) -> Callable[[Iterable[int]], str]:
        """Decodes the tokens of an answer or a continuation; does not keep the model alive."""
        return partial(self.tokenizer.decode, begins=self.starts_new_text)

    @property
    def no_system(self) -> str:
        """See `model.text.conversation.Chat.no_system`."""
        return "it is not a chat model" if self.chat is None else self.chat.no_system

    def chat_prompt(self, messages: Sequence[Message], *, system: str = "", reserve: int) -> ChatPrompt:
        """See `Chat.prompt`; `AttendError` also for a model that can't chat or takes no system prompt."""
        if self.chat is None:
            raise AttendError(f"{self.name} is not a chat model: give it a text to continue.")
        if system and self.no_system:
            raise AttendError(
                f"{self.name} doesn't support system prompts, because {self.no_system}: leave the system "
                "prompt empty or choose another model."
            )
        return self.chat.prompt(messages, system=system, context_length=self.model.context_length, reserve=reserve)

    def with_single_message_chat(self) -> Self:
        """The same model, answering every message on its own, as a source for the encoder."""
        return replace(self, chat=SingleMessageChat(self.prompt, languages=str(self.languages or "")))

    def with_languages(self, source: str = "", target: str = "") -> Self:
        """The same model with other languages, sharing its weights; an empty language stays unchanged.

        Raises `AttendError` for a language that it does not know, and for a model without a choice of languages.
        """
        old = self.languages
        if old is None:
            raise AttendError(f"{self.name} takes no languages: leave them out.")
        new, model = old.with_languages(source, target), self.model
        replaced = {old.sources[old.source]: new.sources[new.source]} if old.source else {}
        prefix, suffix = (
            tuple(replaced.get(token, token) for token in tokens) for tokens in (self.prefix_tokens, self.suffix_tokens)
        )
        if new.target:
            wanted, known = new.targets[new.target], set(new.targets.values())
            if new.language_before_source:
                prefix = (wanted, *(token for token in prefix if token not in known))
            else:  # after the decoder's own start, unless that is the language already
                model = cast(Translator, model)
                start = (token for token in model.decoder_start[:1] if token not in known)
                model = model.with_decoder_start([*start, wanted])
        other = replace(self, model=model, prefix_tokens=prefix, suffix_tokens=suffix, languages=new, base=self)
        return other.with_single_message_chat()
