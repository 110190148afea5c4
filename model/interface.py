"""The interface of a language model, which is all that the rest of Attend knows of a model.

A model has two phases, `prefill` and `step`, over a `Cache` that only the model understands; `logits` scores a finished
text and `inspect` explains one. This module knows nothing of tokenizers, of decoding or of how a model is built: our
own transformer and the adapters for other libraries implement the same few types.

Shapes: rows are the sequences of one batch; queries are the tokens fed in a pass; keys are all tokens so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from torch import Tensor


class Cache(Protocol):
    """Keys and values of the rows decoded so far; never changed in place, so that branches can share them."""

    @property
    def rows(self) -> int:
        """How many sequences the cache holds."""
        ...

    def select(self, rows: Sequence[int]) -> Self:
        """Keep, repeat, reorder or drop rows; selecting all rows in order returns the cache itself, without a copy."""
        ...

    def join(self, other: Self) -> Self:
        """The rows of both, `other`'s last. Shorter rows are padded on the left; nothing attends to the padding.

        Shorter sources, if the rows have any, are padded on the right, and so is `Attention.cross`.
        """
        ...


class PrefixCache(Cache, Protocol):
    """A cache that can be reused for a text with the same beginning."""

    def prefix(self, length: int) -> Self:
        """The first tokens of a cache of one row; shares its memory if possible."""
        ...

    @property
    def bytes(self) -> int:
        """The memory that the cache takes."""
        ...


CacheT = TypeVar("CacheT", bound=Cache)
PrefixCacheT = TypeVar("PrefixCacheT", bound=PrefixCache)


@dataclass(frozen=True, slots=True)
class Want:
    """What a pass should return besides logits; nothing else is computed."""

    attention: bool = False
    hidden: bool = False  # the final hidden states of the tokens fed
    layers: tuple[int, ...] = ()  # the logits of these layers for the newest token: 0 (the embeddings) to `layer_count`

    def check_layers(self, layer_count: int) -> None:
        """Raise `ValueError` for layers that a model with this many doesn't have."""
        if missing := [layer for layer in self.layers if not 0 <= layer <= layer_count]:
            raise ValueError(f"there are no layers {missing}: the model has 0 (the embeddings) to {layer_count}")


@dataclass(frozen=True, slots=True)
class Attention:
    """Attention weights of one pass.

    They sum to 1 over the keys, or less in a model with sinks; padding has weight 0.
    """

    decoder: Tensor  # (rows, layers, heads, queries, keys); after a prefill the only query is the prompt's last token
    cross: Tensor | None = None  # (rows, layers, heads, queries, source), for an encoder-decoder
    encoder: Tensor | None = None  # (1, layers, heads, source, source), in an inspection only


@dataclass(frozen=True, slots=True)
class Forward(Generic[CacheT]):
    """The result of one forward pass."""

    logits: Tensor  # (rows, vocabulary), for each row's next token, float32
    cache: CacheT
    attention: Attention | None = None
    # (rows, fed, width), float32: what the logits are computed from; None if the model does not expose it
    hidden: Tensor | None = None
    layer_logits: Tensor | None = None  # (rows, requested layers, vocabulary), float32, in the order requested


@dataclass(frozen=True, slots=True)
class Inspection:
    """One whole text: what every position predicted, and what it attended to."""

    logits: Tensor  # (tokens, vocabulary): row i is the prediction of token i + 1
    attention: Attention  # decoder: (1, layers, heads, tokens, tokens)


@dataclass(frozen=True, slots=True)
class GenerationRules:
    """What a checkpoint demands of every text, whatever the settings, under the names of transformers; ids are of the
    vocabulary."""

    suppress_tokens: frozenset[int] = frozenset()  # never generated
    begin_suppress_tokens: frozenset[int] = frozenset()  # never generated first
    # Sequences of tokens, and what is added to the last one's logit after the others; -inf means it never follows them.
    sequence_bias: tuple[tuple[tuple[int, ...], float], ...] = ()
    encoder_repetition_penalty: float = 1.0  # above 1 favours tokens of the source (without one, of the prompt)
    encoder_no_repeat_ngram_size: int = 0  # no sequence of so many tokens of the source or the prompt is repeated
    min_length: int = 0  # tokens that the decoder's text, prompt included, must have before it may end
    # What must follow a prompt of one token: one of these. An encoder-decoder writes a single one into `decoder_start`.
    forced_bos_token_ids: frozenset[int] = frozenset()
    forced_eos_token_ids: frozenset[int] = frozenset()  # what must be the last token that the length allows
    decay_start: int = 0  # after this many generated tokens, each further one makes an end more likely
    decay_factor: float = 1.0  # an end token's logit grows by this to the power of the tokens since, minus 1
    renormalize_logits: bool = False  # whether beams renormalize log-probabilities after the processors


NO_RULES = GenerationRules()


class LanguageModel(Protocol[CacheT]):
    """A model that continues token ids. Every method raises `AttendError` for a text that is longer than the context.

    A decoder alone continues the prompt itself. For an encoder-decoder, the prompt is the source that the encoder
    reads, and the decoder's text begins with `decoder_start`.
    """

    @property
    def vocabulary_size(self) -> int: ...

    @property
    def context_length(self) -> int:
        """How many tokens of a text the decoder can read; from a full context it still predicts one more."""
        ...

    @property
    def decoder_start(self) -> tuple[int, ...]:
        """The tokens that begin the decoder's text; empty for a decoder alone, whose text begins with the prompt."""
        ...

    @property
    def joinable(self) -> bool:
        """Whether rows of different lengths may share one batch without changing each other's logits."""
        ...

    @property
    def layer_count(self) -> int:
        """How many layers have logits that can be read (`Want.layers`); 0 if that is not possible."""
        ...

    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[CacheT]:
        """Read a prompt of at least one token, or a source and the decoder's start; one row."""
        ...

    def step(self, tokens: Sequence[int], cache: CacheT, *, want: Want = Want()) -> Forward[CacheT]:
        """Append one token to every row of the cache; `tokens` has one id per row."""
        ...

    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        """Score a known continuation in one pass: (len(tokens), vocabulary); row i predicts tokens[i]."""
        ...

    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        """Logits and attention of one whole text of the decoder, on demand: decoding itself never pays for this.

        `model.inspection` looks deeper, and changes what it finds.

        Args:
            source: what the encoder reads, for an encoder-decoder.
        """
        ...


@runtime_checkable
class PrefillsTogether(Protocol[CacheT]):
    """A model that can also prefill several prompts of different lengths in one pass, as an encoder-decoder can: its
    sources are padded, and all decoder texts have the same length."""

    def prefill_together(self, prompts: Sequence[Sequence[int]], *, want: Want = Want()) -> Forward[CacheT]:
        """`prefill` of each prompt, one row each in their order, as after a `join` of their caches."""
        ...


@runtime_checkable
class ExtendsPrefix(LanguageModel[PrefixCacheT], Protocol[PrefixCacheT]):
    """A decoder-only model that can read a prompt in pieces, continuing from a cache."""

    def extend_prefix(
        self, tokens: Sequence[int], cache: PrefixCacheT, *, want: Want = Want()
    ) -> Forward[PrefixCacheT]:
        """Append at least one token to a cache of one row. The result is that of `prefill` with the whole text, up to
        rounding, except that `Forward.hidden` only covers the new tokens."""
        ...

    def extend_logits(self, tokens: Sequence[int], cache: PrefixCacheT | None = None) -> tuple[Tensor, PrefixCacheT]:
        """Append at least one token to a cache of one row, or begin with them, and predict what follows each of them.

        Returns the logits, (len(tokens), vocabulary), and the cache that the tokens are in.
        """
        ...


@runtime_checkable
class ScoresTogether(Protocol):
    """A decoder-only model that can score several short texts in one pass."""

    def logits_together(self, texts: Sequence[Sequence[int]]) -> list[Tensor]:
        """What follows each token of each text but its last, (len(text) - 1, vocabulary), up to rounding as `logits`
        gives it."""
        ...
