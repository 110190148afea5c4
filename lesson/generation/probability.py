"""The probability of a whole text: the product of its tokens' probabilities, each after those before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextProbability:
    """A text of N tokens, as a model judges it."""

    log: float  # the sum of the tokens' log-probabilities, in nats
    tokens: int

    @property
    def probability(self) -> float:
        """0 where the text is too long for a number of double precision."""
        return math.exp(self.log)

    @property
    def power_of_ten(self) -> float:
        return self.log / math.log(10)

    @property
    def perplexity(self) -> float:
        """e to minus the mean log-probability; 1 for no tokens."""
        return math.exp(-self.log / self.tokens) if self.tokens else 1.0


def text_probability(factors: Sequence[float]) -> TextProbability:
    """The chain rule: p(a b c) = p(a) p(b | a) p(c | a b), as a sum of logarithms."""
    return TextProbability(sum(math.log(factor) if factor else -math.inf for factor in factors), len(factors))
