"""The filters that cut a distribution short: top-k, top-p, min-p, typical, top-h, epsilon, eta, top-a, top-n-sigma.

A removed token's logit is -inf, and the most probable one survives them all, except typical's, which may prefer others.
Beams that draw need more than one to go on with, so each but top-h keeps at least the `min_tokens_to_keep` that it
would remove last.
What transformers has too keeps what it keeps to the last bit, ties and rounding included; for that, the sums here are
float32 and done in its order. Nothing here looks at the text.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from decoding.processors.base import Context


def _require(holds: bool, message: str) -> None:
    """A value out of range here is a mistake in the program; people's values are checked in the settings."""
    if not holds:
        raise ValueError(message)


@dataclass(frozen=True, slots=True)
class TopK:
    """Keeps the k most probable tokens, and all that tie with the last of them (Fan, Lewis, Dauphin 2018)."""

    k: int
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "top_k"

    def __post_init__(self) -> None:
        _require(self.k >= 1, f"k is {self.k}, but must be at least 1")

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

    def __post_init__(self) -> None:
        _require(0 <= self.p <= 1, f"p is {self.p}, but must lie between 0 and 1")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return torch.stack([self._nucleus(row) for row in logits])

    def _nucleus(self, logits: Tensor) -> Tensor:
        """One row, (V,) -> (V,)."""
        ascending = np.sort(logits.numpy())  # (V,)
        mass = torch.from_numpy(ascending).softmax(dim=-1).cumsum(dim=-1).numpy()  # (V,) of each token and all below
        removed = int(np.searchsorted(mass, np.float32(1 - self.p), side="right"))
        removed = min(removed, max(0, ascending.size - self.min_tokens_to_keep))
        smallest_kept = ascending[removed]
        if removed and ascending[removed - 1] == smallest_kept:
            # The edge runs through equal logits, and only the sort that transformers does says which of them go.
            return logits.index_fill(0, logits.sort().indices[:removed], -math.inf)
        return logits.masked_fill(logits < float(smallest_kept), -math.inf)


@dataclass(frozen=True, slots=True)
class MinP:
    """Keeps what is at least this fraction as probable as the most probable token (Nguyen et al. 2024)."""

    p: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "min_p"

    def __post_init__(self) -> None:
        _require(0 <= self.p <= 1, f"p is {self.p}, but must lie between 0 and 1")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        probabilities = logits.softmax(dim=-1)
        least = self.p * probabilities.amax(dim=-1, keepdim=True)  # (rows, 1)
        return _at_least(self.min_tokens_to_keep, logits, probabilities < least)


@dataclass(frozen=True, slots=True)
class TypicalP:
    """Keeps the tokens whose surprise is nearest the expected one, the entropy, until their mass reaches p.

    Locally typical sampling (Meister et al. 2022). The most probable token goes where it is too predictable.
    """

    p: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "typical_p"

    def __post_init__(self) -> None:
        _require(0 <= self.p <= 1, f"p is {self.p}, but must lie between 0 and 1")

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

    Top-H decoding (Baghaei Potraghloo et al. 2025). As in transformers, only the 100 most probable are looked at.
    """

    h: float
    name: ClassVar[str] = "top_h"
    most: ClassVar[int] = 100

    def __post_init__(self) -> None:
        _require(0 < self.h <= 1, f"h is {self.h}, but must lie above 0 and at most at 1")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        top = logits.topk(min(self.most, logits.shape[-1]), dim=-1)
        probabilities, entropy = _probabilities_and_entropy(top.values)
        terms = (-probabilities * probabilities.log()).cumsum(dim=-1)  # NaN from the first impossible token on
        kept = terms <= entropy * self.h
        kept[:, 0] = True
        keep = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, top.indices, kept)
        return logits.masked_fill(~keep, -math.inf)


@dataclass(frozen=True, slots=True)
class EpsilonCutoff:
    """Removes every token less probable than epsilon (Hewitt, Manning, Liang 2022)."""

    epsilon: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "epsilon_cutoff"

    def __post_init__(self) -> None:
        _require(0 < self.epsilon < 1, f"epsilon is {self.epsilon}, but must lie between 0 and 1")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return _at_least(self.min_tokens_to_keep, logits, logits.softmax(dim=-1) < self.epsilon)


@dataclass(frozen=True, slots=True)
class EtaCutoff:
    """Removes what is less probable than epsilon, and in flat distributions than less: sqrt(epsilon) * exp(-entropy).

    Eta sampling (Hewitt, Manning, Liang 2022).
    """

    epsilon: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "eta_cutoff"

    def __post_init__(self) -> None:
        _require(0 < self.epsilon < 1, f"epsilon is {self.epsilon}, but must lie between 0 and 1")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        epsilon = torch.tensor(self.epsilon)  # float32, as transformers has it
        _, entropy = _probabilities_and_entropy(logits)
        eta = torch.min(epsilon, epsilon.sqrt() * (-entropy).exp())  # (rows, 1)
        return _at_least(self.min_tokens_to_keep, logits, logits.softmax(dim=-1) < eta)


@dataclass(frozen=True, slots=True)
class TopA:
    """Removes what is less probable than a times the square of the highest probability (RWKV-LM, BlinkDL)."""

    a: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "top_a"

    def __post_init__(self) -> None:
        _require(0 <= self.a <= 1, f"a is {self.a}, but must lie between 0 and 1")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        probabilities = logits.double().softmax(dim=-1)
        least = self.a * probabilities.amax(dim=-1, keepdim=True).square()  # (rows, 1)
        return _at_least(self.min_tokens_to_keep, logits, probabilities < least)


@dataclass(frozen=True, slots=True)
class TopNSigma:
    """Keeps the logits within n standard deviations of the highest, the same at any temperature (Tang et al. 2024).

    As in llama.cpp, the deviation is the population's, over the tokens that are left.
    """

    n: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "top_n_sigma"

    def __post_init__(self) -> None:
        _require(0 < self.n < math.inf, f"n is {self.n}, but must lie above 0")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        exact = logits.double()
        present = exact > -math.inf
        count = present.sum(dim=-1, keepdim=True)  # (rows, 1)
        mean = exact.masked_fill(~present, 0).sum(dim=-1, keepdim=True) / count
        variance = (exact - mean).masked_fill(~present, 0).square().sum(dim=-1, keepdim=True) / count
        least = exact.amax(dim=-1, keepdim=True) - self.n * variance.sqrt()
        return _at_least(self.min_tokens_to_keep, logits, exact < least)


def _at_least(min_tokens_to_keep: int, logits: Tensor, unwanted: Tensor) -> Tensor:
    """Without these tokens, but never without the most probable ones, so many and those that tie with the last."""
    top = logits.topk(min(min_tokens_to_keep, logits.shape[-1])).values[:, -1:]  # (rows, 1)
    return logits.masked_fill(unwanted & (logits < top), -math.inf)


def _probabilities_and_entropy(logits: Tensor) -> tuple[Tensor, Tensor]:
    """(rows, V) and (rows, 1), in nats; the steps are those of torch's Categorical, which transformers asks."""
    log_probabilities = logits - logits.logsumexp(dim=-1, keepdim=True)
    probabilities = log_probabilities.softmax(dim=-1)
    terms = log_probabilities.clamp(min=torch.finfo(logits.dtype).min) * probabilities
    return probabilities, -terms.sum(dim=-1, keepdim=True)
