"""The small steps between vectors that every layer is made of: products, linear layers, softmax and sigmoid.

Shapes: N vectors, W numbers in, O numbers out.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Similarity:
    """Two vectors (W,) compared."""

    product: float  # their dot product
    lengths: tuple[float, float]

    @property
    def cosine(self) -> float | None:
        """None if one of them is all zeros: it has no direction."""
        scale = self.lengths[0] * self.lengths[1]
        return self.product / scale if scale else None


def similarity(one: Tensor, other: Tensor) -> Similarity:
    return Similarity(float(one @ other), (float(one.norm()), float(other.norm())))


def linear_layer(x: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
    """Multiply `x` (N, W) by `weights` (W, O) and add `bias` (O,): returns (N, O)."""
    return x @ weights + bias


@dataclass(frozen=True, slots=True)
class Shares:
    """Scores (N,) as shares that add up to 1."""

    powers: Tensor  # e to the power of each score minus the highest
    shares: Tensor  # softmax
    sigmoid: float  # of the difference between the first two: the first one's share among these two


def shares(scores: Tensor) -> Shares:
    powers = (scores - scores.max()).exp()  # the highest is 1, whatever its size: shares depend on differences alone
    return Shares(powers, powers / powers.sum(), float(torch.sigmoid(scores[0] - scores[1])))
