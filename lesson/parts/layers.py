"""What a nonlinearity is for, and what a residual connection is for: two linear layers by hand, and stacks of layers.

Shapes: T tokens, I inputs, F inner numbers, O outputs, W model width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from lesson.parts.random_weights import DrawnFrom
from model.transformer.config import TransformerConfig
from model.transformer.layers import FeedForward, make_norm

Joint = Literal["added", "replaced", "replaced without norm"]  # what a layer's output does to its input

TOKENS, WIDTH = 16, 64
_SEED = 3


@dataclass(frozen=True, slots=True)
class TwoLayers:
    """Two linear layers without biases, one after the other, with and without ReLU between them."""

    inner: Tensor  # (T, F)
    linear: Tensor  # (T, O)
    at_once: Tensor  # (T, O): the inputs times both matrices as one, equal to `linear`
    rectified: Tensor  # (T, F): max(0, inner)
    with_relu: Tensor  # (T, O)


def two_layers(inputs: Tensor, first: Tensor, second: Tensor) -> TwoLayers:
    """Pass inputs (T, I) through matrices (I, F) and (F, O), written as on paper."""
    inner = inputs @ first  # (T, F)
    rectified = functional.relu(inner)  # (T, F)
    return TwoLayers(inner, inner @ second, inputs @ (first @ second), rectified, rectified @ second)


@cache
def gradients_through(depths: tuple[int, ...], joint: Joint) -> tuple[float, ...]:
    """How large the gradient of the last output is at the input of untrained feed-forward layers, by their number.

    1 is the gradient without any layer. The weights are random, as they stand before a training.
    """
    config = TransformerConfig(
        vocabulary_size=1,
        layers=1,
        heads=1,
        key_value_heads=1,
        norm="layer",
        activation="relu",
        width=WIDTH,
        feed_forward_width=4 * WIDTH,
    )
    generator = torch.Generator().manual_seed(_SEED)
    with DrawnFrom(generator):
        layers = [(make_norm(config), FeedForward(config)) for _ in range(max(depths))]
    inputs, wanted = (torch.randn(TOKENS, WIDTH, generator=generator) for _ in range(2))  # (T, W) each
    with torch.enable_grad():
        return tuple(_gradient(inputs, wanted, layers[:depth], joint) / wanted.norm().item() for depth in depths)


def _gradient(inputs: Tensor, wanted: Tensor, layers: Sequence[tuple[nn.Module, FeedForward]], joint: Joint) -> float:
    """The norm of the gradient at the inputs (T, W) of the sum of the outputs, weighted by `wanted` (T, W)."""
    hidden = inputs = inputs.clone().requires_grad_()
    for norm, layer in layers:
        update = layer(hidden if joint == "replaced without norm" else norm(hidden))  # (T, W)
        hidden = hidden + update if joint == "added" else update
    (gradient,) = torch.autograd.grad((hidden * wanted).sum(), inputs)
    return gradient.norm().item()


@dataclass(frozen=True, slots=True)
class LayerSize:
    """The parameters of one encoder layer as in the paper: biases everywhere, and a feed-forward four times as wide."""

    attention: int  # queries, keys, values and output: four matrices and their biases
    feed_forward: int
    norms: int  # a scale and a shift in each of two

    @property
    def total(self) -> int:
        return self.attention + self.feed_forward + self.norms


def layer_size(width: int) -> LayerSize:
    inner = 4 * width
    return LayerSize(4 * (width * width + width), 2 * width * inner + inner + width, 2 * 2 * width)
