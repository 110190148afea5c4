"""Statistics of a distribution over the vocabulary, each in one compiled loop; all sums are float64.

It is imported when the first record is made, since compiled functions take a moment to load. Shapes: V is the
vocabulary.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from model.jit import compiled

Logits = NDArray[np.float32]


_LOG_2_HIGH, _LOG_2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # their sum is log 2, as in fdlibm
_COEFFICIENTS = tuple(1 / math.factorial(power) for power in range(14))
_SMALLEST = -708.0  # its exponential is the smallest that float64 holds with full precision


@compiled
def _exp(x: float) -> float:
    """The exponential of a number of at most 0, by sums and products only, so that several are computed at once.

    x = n log 2 + r with |r| <= log(2) / 2, so exp(x) = 2^n exp(r): Taylor's series of 14 terms gives exp(r), and 2^n is
    n written into a float's exponent. The relative error is below 3e-14, and below 1e-15 down to x = -20.
    """
    whole = math.floor(max(x, _SMALLEST) / math.log(2) + 0.5)
    rest = max(x, _SMALLEST) - whole * _LOG_2_HIGH - whole * _LOG_2_LOW
    series = 0.0
    for power in range(13, -1, -1):
        series = series * rest + _COEFFICIENTS[power]
    return series * np.int64((np.int64(whole) + 1023) << 52).view(np.float64) if x > _SMALLEST else 0.0


@compiled
def summarize(logits: Logits, following: Logits) -> tuple[int, float, float, float]:
    """The distribution after one stage, from its logits (V,) and those after the following one.

    Returns:
        How many tokens remain (their logit is finite); the logarithm of the sum of their exponentials, which is
        subtracted from a logit to get the log-probability; the entropy in bits; the probability that the following
        stage keeps.
    """
    largest, kept, kept_by_following = -np.inf, 0, 0
    for token in range(len(logits)):
        largest = max(largest, np.float64(logits[token]))
        kept += logits[token] > -np.inf
        kept_by_following += following[token] > -np.inf
    total = weighted = left = 0.0
    for token in range(len(logits)):
        present = logits[token] > -np.inf
        relative = np.float64(logits[token]) - largest if present else 0.0
        weight = _exp(relative) if present else 0.0
        total += weight
        weighted += weight * relative
        left += weight if following[token] > -np.inf else 0.0
    entropy = max(0.0, (math.log(total) - weighted / total) / math.log(2.0))
    mass = 1.0 if kept_by_following == kept else min(1.0, left / total)  # exactly 1 where nothing goes
    return kept, largest + math.log(total), entropy, mass


@compiled
def best_tokens(logits: Logits, count: int) -> NDArray[np.int64]:
    """The remaining tokens with the highest logits (V,), highest first, ties by id; at most `count`."""
    tokens = np.empty(count, np.int64)
    size = 0
    for token in range(len(logits)):
        logit = logits[token]
        if count and logit > -np.inf and (size < count or logit > logits[tokens[size - 1]]):
            size = min(size + 1, count)
            place = size - 1
            while place and logits[tokens[place - 1]] < logit:
                tokens[place] = tokens[place - 1]
                place -= 1
            tokens[place] = token
    return tokens[:size]


@compiled
def rank_of(logits: Logits, token: int) -> int:
    """The rank of a token by its logit (V,), from 1; ties are ordered by id."""
    better = 0
    for other in range(len(logits)):
        better += logits[other] > logits[token] or (logits[other] == logits[token] and other < token)
    return 1 + better
