"""Stages that ban tokens because of the text so far. If a row would lose all its tokens, nothing is banned in it.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from decoding.parameters.list_parameter import StringList
from decoding.parameters.parameter import Parameter, Parameters, SettingError, quoted
from decoding.processors.base import Context, ProcessorOptions, ban
from decoding.stop import TOKEN_LIMIT

if TYPE_CHECKING:
    from torch import Tensor

NO_REPEAT_NGRAM_SIZE = Parameter(
    name="no_repeat_ngram_size",
    label="No-repeat n-gram",
    section="Less repetition",
    default=0,
    help="Bans repeating any sequence of this many tokens, prompt included; 0 is off.",
    integer=True,
    maximum=20,
)
BANNED_WORDS = StringList(
    name="banned_words",
    label="Banned words",
    section="Words and endings",
    default=(),
    help="Texts the model must not generate: matched exactly, with or without a leading space; longer words are "
    "kept unless they start with the same tokens.",
)
MIN_NEW_TOKENS = Parameter(
    name="min_new_tokens",
    label="Minimum length",
    section="Words and endings",
    default=0,
    help="The output can't end before this many tokens; 0 lets it end at any time.",
    integer=True,
    maximum=TOKEN_LIMIT,
)


@dataclass(frozen=True, slots=True)
class NoRepeatNgram:
    """Lets no sequence of n tokens occur twice, prompt included (Paulus, Xiong, Socher 2017; fairseq)."""

    size: int
    name: ClassVar[str] = "no_repeat_ngram_size"
    label: ClassVar[str] = NO_REPEAT_NGRAM_SIZE.label
    parameters: ClassVar[Parameters] = (NO_REPEAT_NGRAM_SIZE,)

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size is {self.size}, but must be at least 1")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[NO_REPEAT_NGRAM_SIZE])

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return ban(logits, [repeating(text, text, self.size) for text in context.sequences()])


def repeating(earlier: Sequence[int], text: Sequence[int], size: int) -> list[int]:
    """The tokens with which the last `size` tokens of the text would occur in the same order in the earlier one."""
    if min(len(earlier), len(text) + 1) < size:
        return []
    windows = np.lib.stride_tricks.sliding_window_view(np.array(earlier), size)  # (windows, size)
    newest = np.array(text[len(text) + 1 - size :], dtype=windows.dtype)  # (size - 1,)
    return windows[(windows[:, :-1] == newest).all(axis=-1), -1].tolist()


@dataclass(frozen=True, slots=True)
class BannedWords:
    """Lets none of these sequences of tokens be completed (transformers' `bad_words_ids`)."""

    sequences: tuple[tuple[int, ...], ...]
    name: ClassVar[str] = "banned_words"
    label: ClassVar[str] = BANNED_WORDS.label
    parameters: ClassVar[Parameters] = (BANNED_WORDS,)

    def __post_init__(self) -> None:
        if not all(self.sequences):
            raise ValueError("an empty sequence cannot be banned")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        """Each text is banned with and without a leading space, since a word has other tokens inside a sentence.

        Raises `SettingError` for a text without tokens.
        """
        encode = options.request.encode
        if encode is None:
            raise ValueError("texts can be banned only where the request can encode them")
        sequences: list[tuple[int, ...]] = []
        for text in options[BANNED_WORDS]:
            alone = tuple(encode(text))
            if not alone:  # invisible characters, which some tokenizers drop
                raise SettingError(
                    f"banned_words contains {quoted(text)}, which has no tokens in this model: leave it out.",
                    "banned_words",
                )
            sequences += (alone, tuple(encode(f" {text}")))
        return cls(tuple(dict.fromkeys(sequences)))

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return ban(logits, [self._completing(text) for text in context.sequences()])

    def _completing(self, text: tuple[int, ...]) -> list[int]:
        return [last for *begun, last in self.sequences if text[len(text) - len(begun) :] == tuple(begun)]


@dataclass(frozen=True, slots=True)
class SuppressTokens:
    """Tokens that the model must not generate, such as Marian's padding (`suppress_tokens` and the `bad_words_ids` of
    one token in its generation config)."""

    tokens: frozenset[int]
    name: ClassVar[str] = "suppress_tokens"
    label: ClassVar[str] = "Reserved tokens"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return ban(logits, [self.tokens] * len(logits))


@dataclass(frozen=True, slots=True)
class MinNewTokens:
    """Bans end tokens until this many tokens have been generated (transformers' `min_new_tokens`)."""

    count: int
    end_tokens: frozenset[int]
    name: ClassVar[str] = "min_new_tokens"
    label: ClassVar[str] = MIN_NEW_TOKENS.label
    parameters: ClassVar[Parameters] = (MIN_NEW_TOKENS,)

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[MIN_NEW_TOKENS], options.request.end_tokens)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return ban(logits, [self.end_tokens if len(tokens) < self.count else () for tokens in context.tokens])
