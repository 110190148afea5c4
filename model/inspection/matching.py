"""The queries and keys of one head, as its attention compares them.

Whatever a family does to them before that, such as norms and rotations by position, is done.

Shapes: R rows, T queries, K keys, H query heads, G key/value heads, D head width.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from torch import Tensor

# What the attention functions of this thread compare: queries (R, H, T, D), keys (R, G, K, D), the factor of their
# products. None: nobody asks.
_noted: ContextVar[list[tuple[Tensor, Tensor, float]] | None] = ContextVar("noted", default=None)


class Matching(NamedTuple):
    """softmax(queries @ keys.T * scale), over the keys that the mask allows, is `weights`."""

    queries: Tensor  # (T, D)
    keys: Tensor  # those of the source in cross-attention, (K, D)
    scale: float
    weights: Tensor  # the attention that the pass recorded, (T, K)

    def gap(self) -> float:
        """How far the softmax is from the weights."""
        scores = (self.queries @ self.keys.T).float() * self.scale  # (T, K)
        again = scores.masked_fill(self.weights == 0, -float("inf")).softmax(dim=-1)
        return float((again - self.weights).abs().max())


def note(queries: Tensor, keys: Tensor, scale: float) -> None:
    """Called by every attention function with what it compares."""
    noted = _noted.get()
    if noted is not None:
        noted.append((queries, keys, scale))


@contextmanager
def noting() -> Iterator[list[tuple[Tensor, Tensor, float]]]:
    """Collect what this thread's attention functions compare while the context is open, in their order."""
    noted: list[tuple[Tensor, Tensor, float]] = []
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)
