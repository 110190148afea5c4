"""XTC, the one stage that needs chance, and its own stream of random numbers.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from decoding.processors.base import Context

_BITS = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Xtc:
    """Excludes top choices: with a probability, of all tokens above a threshold only the least probable one stays.

    By p-e-w, for text-generation-webui; as there, nothing is excluded where an end token would be. Of tokens equally
    probable, the one with the highest id stands last. Whether it acts at a place is drawn from a stream of its own,
    so that switching it on leaves the draws of the tokens what they were.
    """

    threshold: float
    probability: float
    seed: int
    end_tokens: frozenset[int] = frozenset()
    drawn: int = 0  # places that an earlier run of the same text has used
    name: ClassVar[str] = "xtc"

    def __post_init__(self) -> None:
        if not (0 <= self.threshold <= 1 and 0 <= self.probability <= 1):
            raise ValueError(f"{self.threshold} and {self.probability} must lie between 0 and 1")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        if uniform(self.seed, self.drawn + len(context.tokens[0])) >= self.probability:
            return logits
        probabilities = logits.double().softmax(dim=-1)
        ids = torch.arange(logits.shape[-1])  # (V,)
        top = (probabilities >= self.threshold) & (logits > -math.inf)
        least = probabilities.masked_fill(~top, 2.0).amin(dim=-1, keepdim=True)  # (rows, 1)
        stays = torch.where(top & (probabilities == least), ids, -1).amax(dim=-1, keepdim=True)  # (rows, 1)
        excluded = top & (ids != stays)
        ends = [token for token in self.end_tokens if token < logits.shape[-1]]
        excluded &= ~excluded[:, ends].any(dim=-1, keepdim=True)
        return logits.masked_fill(excluded, -math.inf)


def uniform(seed: int, place: int) -> float:
    """In [0, 1): the place-th number of the seed's stream, without those before it.

    SplitMix64 (Steele, Lea, Flood 2014), whose state is a plain count, so that a pure processor needs to keep none.
    """
    mixed = _mix((_mix(seed & _BITS) + (place + 1) * 0x9E3779B97F4A7C15) & _BITS)
    return (mixed >> 11) * 2.0**-53


def _mix(state: int) -> int:
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _BITS
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & _BITS
    return state ^ (state >> 31)
