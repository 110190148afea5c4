"""Stages that a checkpoint's generation config demands, whatever the settings; they equal those of transformers 5.23.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from decoding.processors.bans import MinNewTokens, SuppressTokens, repeating
from decoding.processors.base import Context, Processor, ban
from decoding.request import Request
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

_MAX_GROWTH = 1e30  # factor for an end token's logit; beyond it the token is certain anyway
Biases = Mapping[tuple[int, ...], tuple[list[int], list[float]]]


@dataclass(frozen=True, slots=True)
class SequenceBias:
    """Adds a number to the logit of a sequence's last token after the others; -inf bans it, as `bad_words_ids` do."""

    biases: Biases  # for the tokens before: the possible last tokens, and what is added to each
    name: ClassVar[str] = "sequence_bias"
    label: ClassVar[str] = "Sequence bias"

    @classmethod
    def of(cls, sequences: Sequence[tuple[tuple[int, ...], float]]) -> Self:
        biases: dict[tuple[int, ...], tuple[list[int], list[float]]] = {}
        for (*before, last), bias in dict(sequences).items():
            tokens, values = biases.setdefault(tuple(before), ([], []))
            tokens.append(last)
            values.append(bias)
        return cls(biases)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        added = torch.zeros_like(logits)
        lengths = {len(before) for before in self.biases}
        for row, text in enumerate(context.sequences()):
            for length in lengths:
                if length <= len(text) and (biases := self.biases.get(text[len(text) - length :])):
                    tokens, values = biases
                    added[row, tokens] += torch.tensor(values)
        biased = logits + added
        return torch.where(biased.amax(dim=-1, keepdim=True) > -math.inf, biased, logits)


@dataclass(frozen=True, slots=True)
class EncoderRepetitionPenalty:
    """Makes the tokens of the source (without one, of the prompt) more likely; it exists in transformers only."""

    penalty: float
    source: tuple[int, ...]
    name: ClassVar[str] = "encoder_repetition_penalty"
    label: ClassVar[str] = "Source favoured"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        favoured, seen = logits.clone(), list(set(self.source))
        values = logits[:, seen]  # (rows, seen)
        favoured[:, seen] = torch.where(values < 0, values / self.penalty, values * self.penalty)
        return favoured


@dataclass(frozen=True, slots=True)
class EncoderNoRepeatNgram:
    """Lets no sequence of n tokens of the source (without one, of the prompt) be repeated, as in ParlAI."""

    size: int
    source: tuple[int, ...]
    name: ClassVar[str] = "encoder_no_repeat_ngram_size"
    label: ClassVar[str] = "No-repeat source n-gram"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return ban(logits, [repeating(self.source, text, self.size) for text in context.sequences()])


@dataclass(frozen=True, slots=True)
class MinLength(MinNewTokens):
    """Bans end tokens until the text, prompt included, has `min_length` tokens."""

    name: ClassVar[str] = "min_length"
    label: ClassVar[str] = "Minimum total length"


@dataclass(frozen=True, slots=True)
class BeginSuppressTokens:
    """Bans tokens as the first, or as the second if the first is forced."""

    tokens: frozenset[int]
    index: int  # the banned position among the generated tokens
    name: ClassVar[str] = "begin_suppress_tokens"
    label: ClassVar[str] = "Reserved at the start"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return ban(logits, [self.tokens if len(tokens) == self.index else () for tokens in context.tokens])


@dataclass(frozen=True, slots=True)
class ExponentialDecay:
    """Makes an end more likely with every token after `start` (transformers' `exponential_decay_length_penalty`)."""

    start: int  # a number of generated tokens
    factor: float
    end_tokens: frozenset[int]
    name: ClassVar[str] = "exponential_decay_length_penalty"
    label: ClassVar[str] = "Length decay"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        grown, ends = logits.clone(), sorted(token for token in self.end_tokens if token < logits.shape[-1])
        for row, tokens in enumerate(context.tokens):
            if (beyond := len(tokens) - self.start) > 0:
                growth = math.expm1(min(beyond * math.log(self.factor), math.log(_MAX_GROWTH)))
                values = logits[row, ends]
                grown[row, ends] = torch.where(values > -math.inf, values + values.abs() * growth, values)
        return grown


@dataclass(frozen=True, slots=True)
class ForcedTokens:
    """Forces one of some tokens at some positions, such as an end token at the last position that the length allows."""

    tokens: Mapping[int, frozenset[int]]  # by the number of tokens generated before
    name: ClassVar[str] = "forced_token"
    label: ClassVar[str] = "Forced token"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        forced = logits.clone()
        for row, tokens in enumerate(context.tokens):
            if wanted := self.tokens.get(len(tokens)):
                forced[row] = -math.inf
                forced[row, sorted(wanted)] = 0.0
        return forced


@dataclass(frozen=True, slots=True)
class Renormalize:
    """Turns the scores into log-probabilities again, which matters only to beams."""

    name: ClassVar[str] = "renormalize_logits"
    label: ClassVar[str] = "Renormalized"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return logits.log_softmax(dim=-1)


RULES: tuple[type[Processor], ...] = (
    SuppressTokens,
    SequenceBias,
    EncoderRepetitionPenalty,
    EncoderNoRepeatNgram,
    MinLength,
    BeginSuppressTokens,
    ExponentialDecay,
    ForcedTokens,
    Renormalize,
)


@dataclass(frozen=True, slots=True)
class RuleStages:
    """The stages of a request's rules, placed among those that settings switch on as in transformers."""

    first: tuple[Processor, ...]
    after_penalties: tuple[Processor, ...]
    last: tuple[Processor, ...]

    @classmethod
    def of(cls, request: Request, max_new_tokens: int) -> Self:
        rules, source = request.rules, request.input_ids
        began = 1 if request.source else len(request.prompt)  # tokens that transformers counts as the prompt
        first: list[Processor] = []
        after_penalties: list[Processor] = []
        if rules.suppress_tokens:
            first.append(SuppressTokens(rules.suppress_tokens))
        if rules.sequence_bias:
            first.append(SequenceBias.of(rules.sequence_bias))
        if rules.encoder_repetition_penalty != 1.0:
            first.append(EncoderRepetitionPenalty(rules.encoder_repetition_penalty, source))
        if rules.encoder_no_repeat_ngram_size:
            after_penalties.append(EncoderNoRepeatNgram(rules.encoder_no_repeat_ngram_size, source))
        if rules.min_length > len(request.prompt):
            after_penalties.append(MinLength(rules.min_length - len(request.prompt), request.end_tokens))
        forced: dict[int, frozenset[int]] = {}
        if rules.forced_bos_token_ids and len(request.prompt) == 1:
            forced[0] = rules.forced_bos_token_ids
        if rules.begin_suppress_tokens:
            after_penalties.append(BeginSuppressTokens(rules.begin_suppress_tokens, len(forced)))
        if rules.decay_factor != 1.0:
            start = rules.decay_start + began - len(request.prompt)
            after_penalties.append(ExponentialDecay(start, rules.decay_factor, request.end_tokens))
        if rules.forced_eos_token_ids:
            forced[request.room(max_new_tokens) - 1] = rules.forced_eos_token_ids
        last: list[Processor] = [ForcedTokens(forced)] if forced else []
        if rules.renormalize_logits:
            last.append(Renormalize())
        return cls(tuple(first), tuple(after_penalties), tuple(last))
