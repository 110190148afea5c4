"""Stages that make tokens less or more likely because of the text so far, or by their ids; none removes a token.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from decoding.parameters.list_parameter import TokenBiases
from decoding.parameters.parameter import Parameter, Parameters, SettingError
from decoding.processors.base import Context, ProcessorOptions
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

LOGIT_BIAS = TokenBiases(
    name="logit_bias",
    label="Logit bias",
    section="Words and endings",
    default=(),
    help="Makes single tokens (by id) more or less likely; -100 effectively bans one.",
    minimum=-100,
    maximum=100,
)
REPETITION_PENALTY = Parameter(
    name="repetition_penalty",
    label="Repetition penalty",
    section="Less repetition",
    default=1.0,
    help="Makes tokens that are already in the text less likely, prompt included; 1 is off.",
    minimum=1,
    maximum=2,
    step=0.01,
)
FREQUENCY_PENALTY = Parameter(
    name="frequency_penalty",
    label="Frequency penalty",
    section="Less repetition",
    default=0.0,
    help="Makes a token less likely each time the output uses it; the prompt doesn't count. Below 0, more likely.",
    minimum=-2,
    maximum=2,
    step=0.05,
)
PRESENCE_PENALTY = Parameter(
    name="presence_penalty",
    label="Presence penalty",
    section="Less repetition",
    default=0.0,
    help="Makes a token less likely once the output has used it; the prompt doesn't count. Below 0, more likely.",
    minimum=-2,
    maximum=2,
    step=0.05,
)


@dataclass(frozen=True, slots=True)
class LogitBias:
    """Adds a number to the logits of single tokens (OpenAI's `logit_bias`, transformers' `sequence_bias`)."""

    biases: tuple[tuple[int, float], ...]  # pairs of an id and what is added to its logit
    name: ClassVar[str] = "logit_bias"
    label: ClassVar[str] = LOGIT_BIAS.label
    parameters: ClassVar[Parameters] = (LOGIT_BIAS,)

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        biases, end = options[LOGIT_BIAS], options.request.vocabulary_size
        highest = max(token for token, _ in biases)
        if highest >= end:
            raise SettingError(
                f"logit_bias names token {highest}, but this model's highest token id is {end - 1}: "
                "choose smaller ids.",
                "logit_bias",
            )
        return cls(biases)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        ids, added = zip(*self.biases, strict=True)
        return logits.index_add(-1, torch.tensor(ids), torch.tensor(added).expand(len(logits), -1))


@dataclass(frozen=True, slots=True)
class RepetitionPenalty:
    """Divides the positive logits of the text's tokens and multiplies the negative ones (CTRL, Keskar et al. 2019)."""

    penalty: float
    name: ClassVar[str] = "repetition_penalty"
    label: ClassVar[str] = REPETITION_PENALTY.label
    parameters: ClassVar[Parameters] = (REPETITION_PENALTY,)

    def __post_init__(self) -> None:
        if not 0 < self.penalty < math.inf:
            raise ValueError(f"penalty is {self.penalty}, but must be above 0")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[REPETITION_PENALTY])

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        penalised = logits.clone()
        for row, text in enumerate(context.sequences()):
            seen = list(set(text))
            values = logits[row, seen]
            penalised[row, seen] = torch.where(values < 0, values * self.penalty, values / self.penalty)
        return penalised


@dataclass(frozen=True, slots=True)
class FrequencyPenalty:
    """Subtracts this from a token's logit each time that the answer contains it (OpenAI's `frequency_penalty`).

    As in vLLM, the prompt does not count.
    """

    penalty: float
    name: ClassVar[str] = "frequency_penalty"
    label: ClassVar[str] = FREQUENCY_PENALTY.label
    parameters: ClassVar[Parameters] = (FREQUENCY_PENALTY,)

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[FREQUENCY_PENALTY])

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return logits - self.penalty * _counts(logits, context)


@dataclass(frozen=True, slots=True)
class PresencePenalty:
    """Subtracts this once from the logit of every token in the answer (OpenAI's `presence_penalty`).

    As in vLLM, the prompt does not count.
    """

    penalty: float
    name: ClassVar[str] = "presence_penalty"
    label: ClassVar[str] = PRESENCE_PENALTY.label
    parameters: ClassVar[Parameters] = (PRESENCE_PENALTY,)

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[PRESENCE_PENALTY])

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return logits - self.penalty * (_counts(logits, context) > 0)


def _counts(logits: Tensor, context: Context) -> Tensor:
    """(rows, V): how often each token was generated."""
    return torch.stack(
        [
            torch.bincount(torch.tensor(tokens, dtype=torch.long), minlength=logits.shape[-1])
            for tokens in context.tokens
        ]
    )
