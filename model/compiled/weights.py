"""A transformer's weights as plain arrays, those of all blocks stacked, which is how the compiled step reads them.

The modules' parameters become views of the same arrays, so nothing is kept twice. What a model does not have, such as
biases, is an array without elements: the step is compiled once for all kinds of models.

Shapes: L layers, V vocabulary, W model width, F feed-forward width, H query heads, G key/value heads, D head width,
C context length, I inputs and O outputs of a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from model.transformer.layers import Block

Array = NDArray[np.float32]

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "swiglu")


class Matrix(NamedTuple):
    """One linear layer of every block."""

    weight: Array  # (L, O, I)
    bias: Array  # (L, O) or (L, 0)


class Norm(NamedTuple):
    """One norm of every block; a model without it has no layers of it."""

    gain: Array  # (L, W)
    bias: Array  # (L, W) of LayerNorm, (L, 0) of RMSNorm


class Weights(NamedTuple):
    """All of a decoder."""

    embedding: Matrix  # (1, V, W)
    positions: Array  # (C, W), added to the embeddings; else (0, W)
    cosines: Array  # (C, D) of rotary positions; else (0, D)
    sines: Array
    attention_norm: Norm
    qkv_proj: Matrix  # (L, (H + 2G) * D, W)
    query_norm: Norm  # (L, D)
    key_norm: Norm
    o_proj: Matrix  # (L, W, H * D)
    cross_norm: Norm
    cross_q_proj: Matrix  # (L, H * D, W), or of no layers
    cross_o_proj: Matrix  # (L, W, H * D), or of no layers
    feed_forward_norm: Norm
    up_proj: Matrix  # (L, F, W), or (L, 2F, W) with the gate first
    down_proj: Matrix  # (L, W, F)
    final_norm: Norm  # (1, W), or of no layers
    unembedding: Matrix  # (1, V, W)


class Architecture(NamedTuple):
    """What of a `TransformerConfig` the step asks for."""

    heads: int
    key_value_heads: int
    head_width: int
    feed_forward_width: int
    norm_first: bool
    activation: int  # its place in `ACTIVATIONS`
    window: int  # tokens that a query sees, all of them where there is no sliding window
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


def pack(model: Transformer) -> Weights:
    """The weights of a decoder in float32 on a CPU, whose parameters are views of them from here on."""
    blocks = [block for block in model.blocks if isinstance(block, Block)]
    attentions = [block.attention for block in blocks]
    crosses = [block.cross for block in blocks if block.cross is not None]
    kind, nothing = model.config.positions, torch.empty(0, 1)
    added = model.position_embedding.weight.data if kind == "learned" else nothing
    unembedding = _matrix([model.unembedding])
    return Weights(
        embedding=unembedding if model.config.tied_embeddings else _matrix([model.embedding]),
        positions=(model.sinusoids if kind == "sinusoidal" else added).numpy(),
        cosines=(model.cosines if kind == "rotary" else nothing).numpy(),
        sines=(model.sines if kind == "rotary" else nothing).numpy(),
        attention_norm=_norm([block.attention_norm for block in blocks]),
        qkv_proj=_matrix([attention.qkv_proj for attention in attentions]),
        query_norm=_norm([attention.query_norm for attention in attentions]),
        key_norm=_norm([attention.key_norm for attention in attentions]),
        o_proj=_matrix([attention.o_proj for attention in attentions]),
        cross_norm=_norm([block.cross_norm for block in blocks]),
        cross_q_proj=_matrix([cross.q_proj for cross in crosses]),
        cross_o_proj=_matrix([cross.o_proj for cross in crosses]),
        feed_forward_norm=_norm([block.feed_forward_norm for block in blocks]),
        up_proj=_matrix([block.feed_forward.up_proj for block in blocks]),
        down_proj=_matrix([block.feed_forward.down_proj for block in blocks]),
        final_norm=_norm([model.final_norm]),
        unembedding=unembedding,
    )


def _matrix(modules: Sequence[nn.Module]) -> Matrix:
    return Matrix(_stacked(modules, "weight", 3), _stacked(modules, "bias", 2))


def _norm(modules: Sequence[nn.Module | None]) -> Norm:
    present = [module for module in modules if isinstance(module, nn.RMSNorm | nn.LayerNorm)]
    return Norm(_stacked(present, "weight", 2), _stacked(present, "bias", 2))


def _stacked(modules: Sequence[nn.Module], name: str, dimensions: int) -> Array:
    """The modules' parameters of this name in one array, whose parts they hold from here on; without any, an array of
    as many dimensions that is empty but for its layers."""
    parameters = [getattr(module, name, None) for module in modules]
    if not parameters or any(parameter is None for parameter in parameters):
        return np.empty((len(modules), *[0] * (dimensions - 1)), np.float32)
    stacked = torch.stack([parameter.data for parameter in parameters])
    for parameter, part in zip(parameters, stacked, strict=True):
        parameter.data = part
    return stacked.numpy()
