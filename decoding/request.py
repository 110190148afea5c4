"""What a strategy knows besides its settings: the prompt, the limits of the model, and how ids become text.

Decoding never imports a tokenizer: the request carries its two functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from decoding.step import Hypothesis
from model.errors import AttendError
from model.inspection.intervention import Intervention
from model.interface import NO_RULES, GenerationRules, LanguageModel


class TokenLabels(Protocol):
    """Labels tokens for display, as every tokenizer does."""

    def label(self, piece: int, /) -> str:
        """The text of a single token."""
        ...

    def is_special(self, piece: int, /) -> bool:
        """Whether it is a control token, which has no text."""
        ...


class _Tokenizer(TokenLabels, Protocol):
    def encode(self, text: str, /) -> Sequence[int]: ...


class ModelWithTokenizer(Protocol):
    """What a request takes from a loaded model; `model.loaded.LoadedModel` is one."""

    @property
    def model(self) -> LanguageModel[Any]: ...
    @property
    def tokenizer(self) -> _Tokenizer: ...
    @property
    def end_tokens(self) -> frozenset[int]: ...
    @property
    def rules(self) -> GenerationRules: ...
    @property
    def text_of(self) -> Callable[[Iterable[int]], str]: ...


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What a caller may add to a model and a prompt."""

    attention: bool = False  # whether every choice carries its attention
    # Whether choices have their candidates, and steps what a search dropped. Beam search is faster without;
    # the other strategies always record them.
    explained: bool = True
    draws_used: int = 0  # random numbers that an earlier run of the same text took from the seed's stream
    # The last hypothesis of an earlier run of this prompt, to be continued as if it had not stopped: its tokens follow
    # the prompt and count as generated. Only for settings that are `resumable`.
    resumed: Hypothesis | None = None
    interventions: tuple[Intervention, ...] = ()  # what is changed inside the model while it generates


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt to be continued. `AttendError` where it is empty or longer than the context."""

    prompt: tuple[int, ...]  # the beginning of the decoder's text
    end_tokens: frozenset[int]
    decode: Callable[[Sequence[int]], str]  # ids to text
    context_length: int  # the longest text that the model reads: all tokens but the last one generated
    vocabulary_size: int  # ids are smaller than this
    options: RequestOptions = RequestOptions()
    layer_count: int = 0  # layers whose logits the model can return; 0: none
    encode: Callable[[str], Sequence[int]] | None = None  # text to ids, for settings that hold texts
    rules: GenerationRules = NO_RULES  # what the model's generation config demands
    source: tuple[int, ...] = ()  # what an encoder reads; the prompt is then the decoder's start

    def __post_init__(self) -> None:
        if not self.prompt:
            raise AttendError("The prompt is empty: enter at least one character.")
        if len(self.prompt) > self.context_length:
            raise AttendError(
                f"The prompt has {len(self.prompt):,} tokens, but the model reads at most {self.context_length:,}: "
                "shorten it."
            )

    @classmethod
    def of(
        cls, loaded: ModelWithTokenizer, input_ids: Sequence[int], options: RequestOptions = RequestOptions()
    ) -> Self:
        """The request that continues or, for an encoder-decoder, answers these ids."""
        return cls.of_model(
            loaded.model,
            input_ids,
            options,
            end_tokens=loaded.end_tokens,
            decode=loaded.text_of,
            encode=loaded.tokenizer.encode,
            rules=loaded.rules,
        )

    @classmethod
    def of_model(
        cls,
        model: LanguageModel[Any],
        input_ids: Sequence[int],
        options: RequestOptions = RequestOptions(),
        *,
        end_tokens: Iterable[int] = (),
        decode: Callable[[Sequence[int]], str] = lambda ids: "",
        encode: Callable[[str], Sequence[int]] | None = None,
        rules: GenerationRules = NO_RULES,
    ) -> Self:
        """Like `of`, for a model without a tokenizer: by default its tokens have no text, and none of them ends one.

        Args:
            input_ids: what `LanguageModel.prefill` takes: the prompt or, for an encoder-decoder, the source.
        """
        start = model.decoder_start
        return cls(
            prompt=start or tuple(input_ids),
            source=tuple(input_ids) if start else (),
            end_tokens=frozenset(end_tokens),
            decode=decode,
            encode=encode,
            rules=rules,
            context_length=model.context_length,
            vocabulary_size=model.vocabulary_size,
            options=options,
            layer_count=model.layer_count,
        )

    def room(self, max_new_tokens: int) -> int:
        """How many of these tokens can be generated until the context is full.

        The last one needs no place in it: a full context still predicts one token, which is never read.
        """
        return min(max_new_tokens, self.context_length + 1 - len(self.prompt))

    @property
    def input_ids(self) -> tuple[int, ...]:
        """What `LanguageModel.prefill` and `logits` take: the source or, without one, the prompt."""
        return self.source or self.prompt

    @property
    def forced_tokens(self) -> int:
        """How many tokens of an encoder-decoder's prompt follow its start token, such as the language of a translation:
        they belong to the answer, although no strategy chose them."""
        return len(self.prompt) - 1 if self.source else 0

    @property
    def attended(self) -> tuple[int, ...]:
        """The ids that the first choice can attend to: the source, then the prompt."""
        return (*self.source, *self.prompt)
