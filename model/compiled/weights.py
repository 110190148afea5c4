"""A transformer's weights as plain arrays, stacked over all blocks, as the compiled step reads them.

The modules' linear layers are replaced by ones that read the same arrays: in single precision their parameters are
views of the arrays, in 16 and 8 bits they have no parameters. So nothing is stored twice.

Shapes: L layers, V vocabulary, W model width, F feed-forward width, H query heads, G key/value heads, D head width,
C context length, I inputs and O outputs of a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from model.compiled.arrays import Array, Norm, memory_for_weights
from model.compiled.dense import DenseMatrix
from model.compiled.matrix import CompactEmbedding, CompactLinear, Matrix, PackedLinear
from model.compiled.quantized import QuantizedMatrix
from model.device import release_freed_memory
from model.transformer.decoder import Transformer
from model.transformer.layers import Block

# Bytes; larger models are assumed to be read from main memory, since other programs use the cache, too.
_PROCESSOR_CACHE = 1 << 24


class Weights(NamedTuple):
    """All weights of a decoder."""

    embedding: Matrix  # (1, V, W)
    positions: Array  # (C, W), added to the embeddings; else (0, 1)
    cosines: Array  # (C, D) of rotary positions; else (0, 1)
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


def pack(model: Transformer, *, quantized: bool = False) -> Weights:
    """Pack the weights of a decoder on a CPU, which are then in single precision, in bfloat16 or, rounded, in 8 bits.

    An encoder's matrices are packed in the same way, though only modules use them.
    """
    compact = quantized or model.embedding.weight.dtype == torch.bfloat16
    size = sum(parameter.numel() * (1 if quantized else parameter.element_size()) for parameter in model.parameters())
    make = partial(QuantizedMatrix.of if quantized else DenseMatrix.of, streamed=size > _PROCESSOR_CACHE)

    def matrix(owners: Sequence[nn.Module], name: str) -> Matrix:
        layers = [getattr(owner, name) for owner in owners]
        packed = make(_stacked(layers, "weight", 3), _stacked(layers, "bias", 2).float().numpy())
        for layer, (owner, linear) in enumerate(zip(owners, layers, strict=True)):
            setattr(owner, name, CompactLinear(packed, layer) if compact else PackedLinear(linear, packed, layer))
        release_freed_memory()
        return packed

    blocks = [block for block in model.blocks if isinstance(block, Block)]
    attentions = [block.attention for block in blocks]
    crosses = [block.cross for block in blocks if block.cross is not None]
    feed_forwards = [block.feed_forward for block in blocks]
    embeddings = None if model.config.tied_embeddings else _stacked([model.embedding], "weight", 3)
    unembedding = matrix([model], "unembedding")
    embedding = unembedding if embeddings is None else make(embeddings, unembedding.bias[:, :0])
    if compact:  # before the norms are packed
        model.add_module("embedding", CompactEmbedding(embedding))
        _widen_all_but_matrices(model)
    positions, nothing = model.config.positions, torch.empty(0, 1)
    added = model.position_embedding.weight.data if positions == "learned" else nothing
    weights = Weights(
        embedding=embedding,
        positions=(model.sinusoids if positions == "sinusoidal" else added).numpy(),
        cosines=(model.cosines if positions == "rotary" else nothing).numpy(),
        sines=(model.sines if positions == "rotary" else nothing).numpy(),
        attention_norm=_norm([block.attention_norm for block in blocks]),
        qkv_proj=matrix(attentions, "qkv_proj"),
        query_norm=_norm([attention.query_norm for attention in attentions]),
        key_norm=_norm([attention.key_norm for attention in attentions]),
        o_proj=matrix(attentions, "o_proj"),
        cross_norm=_norm([block.cross_norm for block in blocks]),
        cross_q_proj=matrix(crosses, "q_proj"),
        cross_o_proj=matrix(crosses, "o_proj"),
        feed_forward_norm=_norm([block.feed_forward_norm for block in blocks]),
        up_proj=matrix(feed_forwards, "up_proj"),
        down_proj=matrix(feed_forwards, "down_proj"),
        final_norm=_norm([model.final_norm]),
        unembedding=unembedding,
    )
    for owner in list(model.modules()):
        for name, child in list(owner.named_children()):
            if isinstance(child, nn.Linear) and not isinstance(child, PackedLinear):
                matrix([owner], name)
    return weights


def _widen_all_but_matrices(model: Transformer) -> None:
    """Widen norms and positions to single precision, like the hidden states; the model can't learn any more."""
    model.requires_grad_(False)
    for module in model.modules():
        if not isinstance(module, nn.Linear):
            for parameter in module.parameters(recurse=False):
                parameter.data = parameter.data.float()
    model.register_position_tables()


def _norm(modules: Sequence[nn.Module | None]) -> Norm:
    present = [module for module in modules if isinstance(module, nn.RMSNorm | nn.LayerNorm)]
    return Norm(_stacked(present, "weight", 2).numpy(), _stacked(present, "bias", 2).numpy())


def _stacked(modules: Sequence[nn.Module], name: str, dimensions: int) -> Tensor:
    """The modules' parameters of this name, stacked in one tensor, of which each module then holds its part.

    If the modules have no such parameter, the tensor has as many dimensions, all of them 0 except the first.
    """
    parameters = [parameter for module in modules if (parameter := getattr(module, name, None)) is not None]
    if not parameters:
        return torch.empty(len(modules), *[0] * (dimensions - 1))
    stacked = memory_for_weights((len(parameters), *parameters[0].shape), parameters[0].dtype)
    for parameter, part in zip(parameters, stacked, strict=True):  # one at a time, so that nothing is in memory twice
        parameter.data = part.copy_(parameter.data)
    return stacked
