"""What training is made of, one number at a time: cross-entropy from counts, the chain rule, dropout, preferences.

Shapes: N words to choose from, W numbers of a vector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class CountedLoss:
    """How well probabilities fit what was counted in a text; (N,) each."""

    shares: Tensor  # of each word among those that were counted
    probabilities: Tensor  # the model's, divided by their sum
    losses: Tensor  # −ln of each probability
    loss: float  # their mean over all that was counted: the cross-entropy, in nats
    least: float  # the lowest that any probabilities can have: the entropy of the shares


def loss_of_counts(counts: Sequence[float], guess: Sequence[float]) -> CountedLoss:
    """Compare counts, of which at least one is positive, with positive numbers that stand for probabilities."""
    shares, probabilities = (
        torch.tensor(values, dtype=torch.float64) / sum(values) for values in (counts, guess)
    )  # (N,) each
    losses = -probabilities.log()  # (N,)
    loss = functional.cross_entropy(probabilities.log()[None], shares[None])
    return CountedLoss(shares, probabilities, losses, loss.item(), torch.special.entr(shares).sum().item())


def smoothed_minimum(smoothing: float, vocabulary: int) -> float:
    """The lowest loss that label smoothing allows (Szegedy et al., 2016), in nats: the entropy of its targets, of which
    every token gets an equal part of `smoothing`, and the right one the rest as well."""
    other = smoothing / vocabulary
    right = 1 - smoothing + other
    return -right * math.log(right) - (vocabulary - 1) * other * math.log(other)


@dataclass(frozen=True, slots=True)
class ChainedSlopes:
    """Two weights, a ReLU, a sigmoid and a loss: h = max(0, w₁ x), z = w₂ h, p = σ(z), L = −ln p.

    `slopes` are the derivatives of L, by backpropagation; `nudged` is how fast L really rises as w₁ does.
    """

    values: dict[str, float]
    slopes: dict[str, float]
    nudged: float


def chained_slopes(x: float, first: float, second: float) -> ChainedSlopes:
    names = ("w₁", "w₂", "h", "z", "p", "L")
    with torch.enable_grad():
        w1, w2 = (torch.tensor(weight, dtype=torch.float64, requires_grad=True) for weight in (first, second))
        nodes = (w1, w2, *_forward(x, w1, w2))
        slopes = torch.autograd.grad(nodes[-1], nodes)
    step = 1e-6
    after, before = (
        -functional.logsigmoid(_forward(x, torch.tensor(first + sign * step, dtype=torch.float64), w2.detach())[1])
        for sign in (1, -1)
    )  # −ln p, also where p is almost 1
    return ChainedSlopes(
        dict(zip(names, (node.item() for node in nodes), strict=True)),
        dict(zip(names, (slope.item() for slope in slopes), strict=True)),
        ((after - before) / (2 * step)).item(),
    )


def _forward(x: float, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    hidden = functional.relu(first * x)
    logit = second * hidden
    probability = logit.sigmoid()
    return hidden, logit, probability, -probability.log()


def drop_out(vector: Sequence[float], share: float, seed: int) -> Tensor:
    """A vector (W,) after dropout (Srivastava et al., 2014): some numbers are 0, and the others are larger for it."""
    values = torch.tensor(vector, dtype=torch.float32)
    kept = torch.empty_like(values).bernoulli_(1 - share, generator=torch.Generator().manual_seed(seed))  # (W,)
    return values * kept / (1 - share)


@dataclass(frozen=True, slots=True)
class Preference:
    """One pair of answers, of which people prefer the first."""

    margin: float  # β times how much more the first has gained than the second since the start
    probability: float  # that the first is preferred, as far as the model can tell
    loss: float


def preference(start: Sequence[float], now: Sequence[float], beta: float) -> Preference:
    """Direct preference optimization (Rafailov et al., 2023, equation 7) of one pair.

    Args:
        start: the log-probabilities of the preferred answer and of the other, before this training.
        now: the same, now.
    """
    better, worse = (after - before for before, after in zip(start, now, strict=True))
    margin = beta * (better - worse)
    loss = -functional.logsigmoid(torch.tensor(margin, dtype=torch.float64)).item()
    return Preference(margin, math.exp(-loss), loss)
