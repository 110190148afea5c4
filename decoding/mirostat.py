"""Mirostat 2 (Basu et al. 2021): keeps a text near a surprise of tau bits a token, by a limit that every choice moves.

What is more surprising than the limit is removed; where a choice was less surprising than tau the limit rises, else it
falls. As in llama.cpp; the paper's first version, which estimates how the probabilities fall off, is not offered. The
limit is the only thing here that outlives a step, and it belongs to one request.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from decoding.processors import Context


@dataclass(frozen=True, slots=True)
class MaxSurprise:
    """Removes the tokens more surprising than the limit; the most probable ones stay whatever it is."""

    bits: float
    name: ClassVar[str] = "mirostat"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        log_probabilities = logits.double().log_softmax(dim=-1)
        too_surprising = -log_probabilities / math.log(2) > self.bits
        return logits.masked_fill(too_surprising & (logits < logits.amax(dim=-1, keepdim=True)), -math.inf)


class Mirostat:
    """The limit of one request."""

    def __init__(self, tau: float, eta: float) -> None:
        self._tau = tau
        self._eta = eta
        self._limit = 2 * tau  # where the paper starts

    @property
    def stage(self) -> MaxSurprise:
        """The processor of the next step, the last of its chain."""
        return MaxSurprise(self._limit)

    def chose(self, probability: float) -> None:
        """Learn from a choice: the probability that it had after every processor."""
        self._limit -= self._eta * (-math.log2(max(probability, 5e-324)) - self._tau)  # the smallest float is not 0
