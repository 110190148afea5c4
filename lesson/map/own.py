"""The parts of one of our own networks at work.

Shapes: T tokens of a side, S of the source, H query heads, G key/value heads, D head width, W model width.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from torch import Tensor, nn

from lesson.map.arrays import Array, Axis, Calls, Text, by_head, split_heads, vectors
from model.interface import Attention
from model.transformer.attention import CrossAttention, SelfAttention
from model.transformer.decoder import Transformer
from model.transformer.encoder_decoder import EncoderDecoder
from model.transformer.layers import Block
from model.transformer.positions import rotate

Named = tuple[str, tuple[Array, ...]]
Rotary = tuple[Tensor, Tensor]


def modules(model: Transformer, layer: int) -> list[nn.Module]:
    """The modules to record."""
    norms = [model.encoder_norm] if isinstance(model, EncoderDecoder) else []
    inside = [module for _, block in _blocks(model, layer) for module in block.modules()]
    return [model.embedding, model.final_norm, *norms, *inside]


def _blocks(model: Transformer, layer: int) -> Iterator[tuple[Literal["encoder", "decoder"], Block]]:
    """The block of each side, or its last one if it has no such layer."""
    sides = [("encoder", model.encoder_blocks)] if isinstance(model, EncoderDecoder) else []
    for side, blocks in (*sides, ("decoder", model.blocks)):
        block = blocks[min(layer, len(blocks) - 1)]
        assert isinstance(block, Block)
        yield side, block  # type: ignore[misc]


def values(model: Transformer, calls: Calls, attention: Attention, text: Text, layer: int) -> Iterator[Named]:
    """Yield the arrays of all parts but the last two."""
    for side, block in _blocks(model, layer):
        axis: Axis = "source" if side == "encoder" else "text"
        for kind, arrays in _of_side(model, block, calls, attention, text, layer, axis):
            yield f"{side}.{kind}", arrays


def _of_side(
    model: Transformer, block: Block, calls: Calls, attention: Attention, text: Text, layer: int, axis: Axis
) -> Iterator[Named]:
    of_encoder = axis == "source"
    embedded = calls[model.embedding][0 if of_encoder else -1].written * model.config.embedding_scale
    yield "embedding", (vectors("Embeddings", embedded, axis),)
    length = len(text.source if of_encoder else text.tokens)
    tables, rotary = _positions(model, length, axis)
    yield "positions", tables

    joint = split_heads(calls[block.attention.qkv_proj][0].written, block.attention.head_width)  # (H + 2G, T, D)
    yield "projections", _projections(block.attention, joint, rotary, axis)
    weights = attention.encoder if of_encoder else attention.decoder
    assert weights is not None
    yield "weights", (by_head("Weights", _layer(weights, layer), axis, axis),)
    yield from _after_weights("", block.attention, calls, axis)
    yield from _added("attention", block.attention.o_proj, block.attention_norm, block, calls, axis)

    if block.cross is not None and block.cross_norm is not None:
        assert attention.cross is not None and isinstance(model, EncoderDecoder)
        queries = split_heads(calls[block.cross.q_proj][0].written, block.cross.head_width)  # (H, T, D)
        yield "cross_queries", (by_head("Queries", queries, axis),)
        encoded = calls[model.encoder_norm][0].written  # (S, W)
        keys, values = block.cross.project_keys_values(encoded[None])[:, :, 0]  # (G, S, D) each
        yield "cross_keys_values", (by_head("Keys", keys, "source"), by_head("Values", values, "source"))
        yield "cross_weights", (by_head("Weights", _layer(attention.cross, layer), axis, "source"),)
        yield from _after_weights("cross_", block.cross, calls, axis)
        yield from _added("cross", block.cross.o_proj, block.cross_norm, block, calls, axis)

    module = block.feed_forward
    down = calls[module.down_proj][0]
    assert down.read is not None
    yield "up", (vectors("After the first matrix", calls[module.up_proj][0].written, axis),)
    yield "activation", (vectors("After the activation", down.read, axis),)
    yield "down", (vectors("After the second matrix", down.written, axis),)
    yield from _added("feed_forward", module.down_proj, block.feed_forward_norm, block, calls, axis)
    norm = model.encoder_norm if of_encoder and isinstance(model, EncoderDecoder) else model.final_norm
    yield "final_norm", (vectors("Normed stream", calls[norm][-1].written, axis),)


def _layer(weights: Tensor, layer: int) -> Tensor:
    """The weights (1, L, H, T, K) of one layer, (H, T, K)."""
    return weights[0, min(layer, weights.shape[1] - 1)]


def _positions(model: Transformer, length: int, axis: Axis) -> tuple[tuple[Array, ...], Rotary | None]:
    """The tables of positions, and those that turn queries and keys, if any, (T, D) each."""
    if model.config.positions == "rotary":
        cosines, sines = model.cosines[:length], model.sines[:length]
        return (vectors("Cosines", cosines, axis), vectors("Sines", sines, axis)), (cosines, sines)
    if model.config.positions == "none":
        return (), None
    table = model.sinusoids if model.config.positions == "sinusoidal" else model.position_embedding.weight
    return (vectors("Positions", table[:length], axis),), None


def _projections(module: SelfAttention, joint: Tensor, rotary: Rotary | None, axis: Axis) -> tuple[Array, ...]:
    """Queries, keys and values, as attention uses them: normed and turned, where the model does that."""
    queries, keys, values = joint.split(
        (module.heads, module.key_value_heads, module.key_value_heads)
    )  # (H or G, T, D)
    if module.query_norm is not None and module.key_norm is not None:
        queries, keys = module.query_norm(queries), module.key_norm(keys)
    if rotary is not None:
        queries, keys = (rotate(part[None], *(table[None, None] for table in rotary))[0] for part in (queries, keys))
    named = (("Queries", queries), ("Keys", keys), ("Values", values))
    return tuple(by_head(name, part, axis) for name, part in named)


def _after_weights(prefix: str, module: SelfAttention | CrossAttention, calls: Calls, axis: Axis) -> Iterator[Named]:
    call = calls[module.o_proj][0]
    assert call.read is not None
    yield f"{prefix}mixed", (by_head("Weighted sum", split_heads(call.read, module.head_width), axis),)
    yield f"{prefix}output", (vectors("Heads joined, times the output weights", call.written, axis),)


def _added(prefix: str, last: nn.Module, norm: nn.Module, block: Block, calls: Calls, axis: Axis) -> Iterator[Named]:
    """The norm of a sub-layer, and the stream after its addition; `last` is the module whose output is added."""
    normed = calls[norm][0]
    assert normed.read is not None
    yield f"{prefix}_norm", (vectors("Normed", normed.written, axis),)
    added = normed.read + calls[last][0].written if block.norm_first else normed.read  # (T, W)
    yield f"{prefix}_add", (vectors("Stream after the addition", added, axis),)
