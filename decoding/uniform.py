"""The random numbers of a request: two streams of uniform numbers that depend only on its seed."""

from __future__ import annotations

import secrets

from decoding.parameters.parameter import Parameter
from model.lazy import torch

SEEDS = 2**32  # how many seeds there are
_DRAWN_SEEDS = 10**6  # random seeds are below this, so that they are easy to read, say and type
SEED = Parameter(
    name="seed",
    label="Seed",
    default=-1,
    help="The same seed gives the same random draws; -1 picks a random seed.",
    integer=True,
    minimum=-1,
    maximum=SEEDS - 1,
)

_BITS = 2**64 - 1


def draw_seed() -> int:
    """A random seed for a run whose settings leave it to chance; nothing else in decoding depends on chance."""
    return secrets.randbelow(_DRAWN_SEEDS)


class UniformStream:
    """Uniform float64 numbers in [0, 1), independent of other requests."""

    def __init__(self, seed: int, skip: int = 0) -> None:
        """`skip`: how many numbers have been used already."""
        self._generator = torch.Generator().manual_seed(seed)
        for _ in range(skip):
            self.next()

    def next(self) -> float:
        return float(torch.rand((), dtype=torch.float64, generator=self._generator))


def uniform_at(seed: int, index: int) -> float:
    """The number at this index of another stream, in [0, 1).

    This is SplitMix64 (Steele, Lea, Flood 2014). Its state is a plain count, so a pure processor need not keep any.
    """
    mixed = mix((mix(seed & _BITS) + (index + 1) * 0x9E3779B97F4A7C15) & _BITS)
    return (mixed >> 11) * 2.0**-53


def mix(state: int) -> int:
    """SplitMix64's finaliser, a bijection of 64 bits."""
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _BITS
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & _BITS
    return state ^ (state >> 31)
