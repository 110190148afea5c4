"""Filters that keep the best tokens by rank or by a sum: top-k, top-p, typical-p and top-h.

The most probable token always survives, except with typical-p, which may prefer others. Beams that sample need
more than one token, so each filter but top-h keeps at least the `min_tokens_to_keep` that it would remove last. Filters
that transformers also has keep exactly the same tokens, ties and rounding included: for that, the sums are float32 and
in its order.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from decoding.parameters.parameter import Parameter, Parameters
from decoding.processors.base import Context, ProcessorOptions, probabilities_and_entropy, require
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

TOP_K = Parameter(
    name="top_k",
    label="Top-k",
    default=0,
    help="Keeps only the k most probable tokens; 0 keeps all. Contrastive search uses 4 when this is 0.",
    integer=True,
    maximum=200,
)
TOP_P = Parameter(
    name="top_p",
    label="Top-p",
    default=1.0,
    help="Keeps the smallest set of most probable tokens whose probabilities add up to this; 1 keeps all.",
    step=0.01,
)
TYPICAL_P = Parameter(
    name="typical_p",
    label="Typical-p",
    section="Cutting off unlikely tokens",
    default=1.0,
    help="Keeps the tokens whose surprise is closest to the expected one, up to this total probability; 1 keeps all.",
    step=0.01,
)
TOP_H = Parameter(
    name="top_h",
    label="Top-H",
    section="Cutting off unlikely tokens",
    default=0.0,
    help="Keeps the most probable tokens, up to this fraction of the distribution's entropy; 0 keeps all.",
    step=0.01,
)


@dataclass(frozen=True, slots=True)
class TopK:
    """Keeps the k most probable tokens, and all that tie with the last of them (Fan, Lewis, Dauphin 2018)."""

    k: int
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "top_k"
    label: ClassVar[str] = TOP_K.label
    parameters: ClassVar[Parameters] = (TOP_K,)

    def __post_init__(self) -> None:
        require(self.k >= 1, f"k is {self.k}, but must be at least 1")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[TOP_K], options.min_tokens_to_keep)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        k = min(max(self.k, self.min_tokens_to_keep), logits.shape[-1])
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
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "top_p"
    label: ClassVar[str] = TOP_P.label
    parameters: ClassVar[Parameters] = (TOP_P,)

    def __post_init__(self) -> None:
        require(0 <= self.p <= 1, f"p is {self.p}, but must be between 0 and 1")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[TOP_P], options.min_tokens_to_keep)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        if len(logits) == 1:  # stacking would copy
            return self._nucleus(logits[0])[None]
        return torch.stack([self._nucleus(row) for row in logits])

    def _nucleus(self, logits: Tensor) -> Tensor:
        """Keep the nucleus of one row, (V,) -> (V,)."""
        ascending = np.sort(logits.numpy())  # (V,)
        mass = torch.from_numpy(ascending).softmax(dim=-1).cumsum(dim=-1).numpy()  # (V,) of each token and all below it
        removed = int(np.searchsorted(mass, np.float32(1 - self.p), side="right"))
        removed = min(removed, max(0, ascending.size - self.min_tokens_to_keep))
        smallest_kept = ascending[removed]
        if removed and ascending[removed - 1] == smallest_kept:
            # The edge runs through equal logits, and only the sort of transformers decides which of them are removed.
            return logits.index_fill(0, logits.sort().indices[:removed], -math.inf)
        return logits.masked_fill(logits < float(smallest_kept), -math.inf)


@dataclass(frozen=True, slots=True)
class TypicalP:
    """Keeps the tokens whose surprise is nearest the expected one, the entropy, until their mass reaches p.

    Locally typical sampling (Meister et al. 2022). The most probable token goes where it is too predictable.
    """

    p: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "typical_p"
    label: ClassVar[str] = TYPICAL_P.label
    parameters: ClassVar[Parameters] = (TYPICAL_P,)

    def __post_init__(self) -> None:
        require(0 <= self.p <= 1, f"p is {self.p}, but must be between 0 and 1")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[TYPICAL_P], options.min_tokens_to_keep)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        log_probabilities = logits.log_softmax(dim=-1)
        entropy = -(log_probabilities * log_probabilities.exp()).nansum(dim=-1, keepdim=True)  # (rows, 1)
        distance = (-log_probabilities - entropy).abs()
        nearest = distance.sort(dim=-1)
        mass = logits.gather(-1, nearest.indices).softmax(dim=-1).cumsum(dim=-1)
        last = (mass < self.p).sum(dim=-1, keepdim=True)  # (rows, 1)
        last = last.clamp(min=self.min_tokens_to_keep - 1).clamp(max=logits.shape[-1] - 1)
        return logits.masked_fill(distance > nearest.values.gather(-1, last), -math.inf)


@dataclass(frozen=True, slots=True)
class TopH:
    """Keeps the most probable tokens whose terms of the entropy sum to at most this fraction of it.

    This is top-H decoding (Baghaei Potraghloo et al. 2025). As in transformers, only the 100 most probable tokens
    count.
    """

    h: float
    name: ClassVar[str] = "top_h"
    label: ClassVar[str] = TOP_H.label
    parameters: ClassVar[Parameters] = (TOP_H,)
    most: ClassVar[int] = 100

    def __post_init__(self) -> None:
        require(0 < self.h <= 1, f"h is {self.h}, but must be above 0 and at most 1")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[TOP_H])

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        top = logits.topk(min(self.most, logits.shape[-1]), dim=-1)
        probabilities, entropy = probabilities_and_entropy(top.values)
        terms = (-probabilities * probabilities.log()).cumsum(dim=-1)  # NaN from the first impossible token on
        kept = terms <= entropy * self.h
        kept[:, 0] = True
        keep = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, top.indices, kept)
        return logits.masked_fill(~keep, -math.inf)
