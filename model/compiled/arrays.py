"""The arrays that a compiled step works on: a transformer's sizes, and its weights except for the matrices.

If a model lacks something, such as biases, its array has no elements. So the step is compiled once for all kinds of
models.

Shapes: L layers, W model width.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.jit import compiled
from model.transformer.config import Activation, TransformerConfig

Array = NDArray[np.float32]

ACTIVATIONS: tuple[Activation, ...] = ("relu", "gelu", "gelu_tanh", "swiglu")


class Norm(NamedTuple):
    """One norm of every block; it has no layers in a model without it."""

    gain: Array  # (L, W)
    bias: Array  # (L, W) for LayerNorm, (L, 0) for RMSNorm


class Architecture(NamedTuple):
    """The parts of a `TransformerConfig` that the step needs."""

    heads: int
    key_value_heads: int
    head_width: int
    feed_forward_width: int
    norm_first: bool
    activation: int  # an index into `ACTIVATIONS`
    window: int  # how many tokens a query sees; all of them without a sliding window
    epsilon: np.float32
    embedding_scale: np.float32

    @classmethod
    def of(cls, config: TransformerConfig) -> Architecture:
        return cls(
            heads=config.heads,
            key_value_heads=config.key_value_heads,
            head_width=config.head_width,
            feed_forward_width=config.feed_forward_width,
            norm_first=config.norm_place == "before",
            activation=ACTIVATIONS.index(config.activation),
            window=config.sliding_window or config.context_length,
            epsilon=np.float32(config.norm_epsilon),
            embedding_scale=np.float32(config.embedding_scale),
        )


_LINE = 64  # bytes that a processor reads from its cache at once


@compiled
def empty(rows: int, width: int) -> Array:
    """Uninitialized memory, (rows, width), that begins at a cache line: a product takes half as long again if every
    read takes parts of two lines."""
    memory = np.empty(rows * width + _LINE // 4, np.float32)
    start = -memory.ctypes.data % _LINE // 4
    return memory[start : start + rows * width].reshape(rows, width)


def memory_for_weights(shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Uninitialized memory that begins at a cache line.

    From 4 MB on, NumPy asks the kernel for large pages, which PyTorch does not: with small ones, a product that reads
    main memory takes 30 to 50 % longer.
    """
    size = math.prod(shape) * dtype.itemsize
    memory = torch.from_numpy(np.empty(size + _LINE, np.uint8))
    start = -memory.data_ptr() % _LINE
    return memory[start : start + size].view(dtype).view(*shape)
