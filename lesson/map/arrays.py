"""What parts of the map compute: arrays with named axes.

Shapes: T tokens, H heads, D head width, n numbers of a vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn

from lesson.map.recording import Call

Axis = Literal["heads", "text", "source", "numbers", "vocabulary"]
Calls = Mapping[nn.Module, list[Call]]


@dataclass(frozen=True, slots=True)
class Array:
    """One array that a part computes."""

    name: str
    axes: tuple[Axis, ...]
    values: Tensor


Values = Mapping[str, tuple[Array, ...]]  # of each part


@dataclass(frozen=True, slots=True)
class Text:
    """The ids that a model reads."""

    tokens: tuple[int, ...]  # of the decoder
    source: tuple[int, ...] = ()  # of the encoder


def vectors(name: str, values: Tensor, axis: Axis = "text") -> Array:
    """A vector for each token, (1, T, n) or (T, n)."""
    return Array(name, (axis, "numbers"), values.reshape(-1, values.shape[-1]).float())  # (T, n)


def by_head(name: str, values: Tensor, axis: Axis, other: Axis = "numbers") -> Array:
    """What each head computes for each token, (H, T, n)."""
    return Array(name, ("heads", axis, other), values.float())


def split_heads(values: Tensor, width: int) -> Tensor:
    """Split the vectors of all heads, (1, T, H * D) or (T, H * D), into those of each."""
    return values.reshape(-1, values.shape[-1] // width, width).transpose(0, 1)  # (H, T, D)
