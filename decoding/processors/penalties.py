"""The stages that make tokens less or more likely because of the text so far, or by their ids; none removes a token.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from decoding.processors.base import Context


@dataclass(frozen=True, slots=True)
class LogitBias:
    """Adds a number to the logits of single tokens (OpenAI's `logit_bias`, transformers' `sequence_bias`)."""

    biases: tuple[tuple[int, float], ...]  # (id, what is added)
    name: ClassVar[str] = "logit_bias"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        ids, added = zip(*self.biases, strict=True)
        return logits.index_add(-1, torch.tensor(ids), torch.tensor(added).expand(len(logits), -1))


@dataclass(frozen=True, slots=True)
class RepetitionPenalty:
    """Divides the positive logits of the text's tokens and multiplies the negative ones (CTRL, Keskar et al. 2019)."""

    penalty: float
    name: ClassVar[str] = "repetition_penalty"

    def __post_init__(self) -> None:
        if not 0 < self.penalty < math.inf:
            raise ValueError(f"penalty is {self.penalty}, but must lie above 0")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        penalised = logits.clone()
        for row, text in enumerate(context.texts()):
            seen = list(set(text))
            values = logits[row, seen]
            penalised[row, seen] = torch.where(values < 0, values * self.penalty, values / self.penalty)
        return penalised


@dataclass(frozen=True, slots=True)
class FrequencyPenalty:
    """Subtracts this from a token's logit for every time the answer has it (OpenAI's `frequency_penalty`).

    As in vLLM, the prompt does not count.
    """

    penalty: float
    name: ClassVar[str] = "frequency_penalty"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return logits - self.penalty * _counts(logits, context)


@dataclass(frozen=True, slots=True)
class PresencePenalty:
    """Subtracts this once from the logit of every token that the answer has (OpenAI's `presence_penalty`).

    As in vLLM, the prompt does not count.
    """

    penalty: float
    name: ClassVar[str] = "presence_penalty"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return logits - self.penalty * (_counts(logits, context) > 0)


def _counts(logits: Tensor, context: Context) -> Tensor:
    """(rows, V): how often each token stands in what was generated."""
    return torch.stack(
        [
            torch.bincount(torch.tensor(tokens, dtype=torch.long), minlength=logits.shape[-1])
            for tokens in context.tokens
        ]
    )


@dataclass(frozen=True, slots=True)
class Dry:
    """Don't repeat yourself: the longer the repetition that a token would continue, the less likely it gets.

    By p-e-w, for text-generation-webui. If the last n tokens of the text stood in it before, followed by a token, that
    one loses multiplier * base ** (n - allowed length), for the longest such n and from the allowed length on.
    Repetitions neither reach across a token that breaks them, nor is such a token punished.
    """

    multiplier: float
    base: float
    allowed_length: int
    breaks: Callable[[int], bool]  # whether a token ends every repetition, such as a newline
    name: ClassVar[str] = "dry"
    longest: ClassVar[int] = 50  # counted no further, as there: the power would overflow

    def __post_init__(self) -> None:
        if self.allowed_length < 1 or not 1 <= self.base <= 4:
            raise ValueError(f"base {self.base} and length {self.allowed_length} must be 1 or more, the base at most 4")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        penalised = logits.clone()
        for row, text in enumerate(context.texts()):
            for token, length in self._repetitions(text).items():
                penalised[row, token] -= self.multiplier * self.base ** (length - self.allowed_length)
        return penalised

    def _repetitions(self, text: tuple[int, ...]) -> dict[int, int]:
        """Each token that would continue a repetition, and how long the longest one is already."""
        reach = sum(1 for _ in takewhile(lambda token: not self.breaks(token), text[: -self.longest - 1 : -1]))
        lengths: dict[int, int] = {}
        history = np.array(text)
        ends = np.flatnonzero(history[:-1] == history[-1])  # earlier places where the newest token stands
        for length in range(1, reach + 1):
            # Here the last `length` tokens up to every place in `ends` are those at the end of the text.
            if length >= self.allowed_length:
                lengths |= dict.fromkeys(history[ends + 1].tolist(), length)
            ends = ends[ends >= length]
            ends = ends[history[ends - length] == history[-1 - length]] if length < history.size else ends[:0]
            if not ends.size:
                break
        return {token: length for token, length in lengths.items() if not self.breaks(token)}
