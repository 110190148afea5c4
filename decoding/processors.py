"""The chain between the model's logits and the choice: temperature, top-k, top-p.

Each processor is pure and has a name; the chain is a tuple, so its order is data. A removed token's logit is -inf, and
at least one always survives. The keep-masks are those of transformers to the last bit, ties included. Nothing here
chooses a token or knows of a model.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor

# Below this a temperature is 0: the most probable token has all the probability long before, and dividing by still
# smaller numbers would overflow float32.
ZERO_TEMPERATURE = 1e-4


@dataclass(frozen=True, slots=True)
class Context:
    """What a processor may look at besides the logits."""

    prompt: tuple[int, ...]
    tokens: tuple[tuple[int, ...], ...]  # generated so far, one tuple a row


class Processor(Protocol):
    """One stage of the chain. It never changes its input."""

    name: ClassVar[str]  # what tables and files call this stage

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        """(rows, V) float32 on the CPU -> the same shape."""
        ...


@dataclass(frozen=True, slots=True)
class Temperature:
    """Divides the logits: below 1 sharpens the distribution, above 1 flattens it (Ackley, Hinton, Sejnowski 1985)."""

    temperature: float
    name: ClassVar[str] = "temperature"

    def __post_init__(self) -> None:
        if not ZERO_TEMPERATURE <= self.temperature < math.inf:
            raise ValueError(f"temperature is {self.temperature}, but must be at least {ZERO_TEMPERATURE}")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return logits / self.temperature


@dataclass(frozen=True, slots=True)
class TopK:
    """Keeps the k most probable tokens, and all that tie with the last of them (Fan, Lewis, Dauphin 2018)."""

    k: int
    name: ClassVar[str] = "top_k"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k is {self.k}, but must be at least 1")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        k = min(self.k, logits.shape[-1])
        smallest_kept = logits.topk(k).values[:, -1:]  # (rows, 1)
        return logits.masked_fill(logits < smallest_kept, -math.inf)


@dataclass(frozen=True, slots=True)
class TopP:
    """Keeps the smallest set of most probable tokens whose mass reaches p: the nucleus (Holtzman et al. 2019).

    transformers sorts the vocabulary together with its ids and compares a rounded float32 sum with 1 - p. That sum
    needs the values alone, and sorting values alone was measured 5 times cheaper at V = 4,096 and 35 times at 50,257.
    So here it is the very same sum, rounding included, for less than the price of a partial sort.
    """

    p: float
    name: ClassVar[str] = "top_p"

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"p is {self.p}, but must lie between 0 and 1")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return torch.stack([self._nucleus(row) for row in logits])

    def _nucleus(self, logits: Tensor) -> Tensor:
        """One row, (V,) -> (V,)."""
        ascending = np.sort(logits.numpy())  # (V,)
        mass = torch.from_numpy(ascending).softmax(dim=-1).cumsum(dim=-1).numpy()  # (V,) of each token and all below
        removed = int(np.searchsorted(mass, np.float32(1 - self.p), side="right"))
        removed = min(removed, ascending.size - 1)  # the most probable token always survives
        smallest_kept = ascending[removed]
        if removed and ascending[removed - 1] == smallest_kept:
            # The edge runs through equal logits, and only the sort that transformers does says which of them go.
            return logits.index_fill(0, logits.sort().indices[:removed], -math.inf)
        return logits.masked_fill(logits < float(smallest_kept), -math.inf)


def run_chain(processors: Sequence[Processor], logits: Tensor, context: Context) -> tuple[Tensor, ...]:
    """The logits after every stage, the untouched ones first; each is (rows, V)."""
    stages = [logits]
    for processor in processors:
        stages.append(processor(stages[-1], context))
    return tuple(stages)
