"""One token per row through a whole decoder, as one compiled function.

The modules of `model.transformer` are its slow, obvious twin: tests hold the two equal for every kind of transformer.

Shapes: L layers, R rows, K columns of the text, S columns of the source, H query heads, G key/value heads, D head
width, W model width, F feed-forward width, V vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from model.compiled.arrays import Architecture, Array, Norm, empty
from model.compiled.attention import Counts, SourceColumns, TextColumns, attend_to_source, attend_to_text
from model.compiled.kernels import activate, normalize, rotate
from model.compiled.matrix import Matrix, multiply, read_output
from model.compiled.network import Network
from model.compiled.weights import Weights
from model.jit import compiled


class StepResult(NamedTuple):
    """The arrays that the step fills."""

    logits: Array  # (R, V)
    hidden: Array  # (R, W), normed
    outputs: Array  # (R, L + 1, W), from the embeddings and every block; (R, 0, W) if they are not wanted
    to_text: Array  # (R, L, H, K), or (R, 1, H, K) if attention is not wanted
    to_source: Array  # (R, L or 1, H, S)


@compiled
def run_step(tokens: Counts, network: Network, text: TextColumns, source: SourceColumns, result: StepResult) -> None:
    """Feed one token per row, (R,)."""
    weights, architecture = network.weights, network.architecture
    epsilon, norm_first = architecture.epsilon, architecture.norm_first
    positions = text.prefix_length + text.suffix_length - 1 - text.padding  # (R,)
    hidden = _embed(tokens, positions, weights, architecture.embedding_scale)  # (R, W)
    _keep(hidden, 0, result.outputs)
    for layer in range(len(weights.qkv_proj.bias)):
        normed = _normed(hidden, weights.attention_norm, layer, epsilon) if norm_first else hidden
        update = _self_attention(normed, positions, weights, layer, architecture, text, result.to_text)
        hidden = _added(hidden, update, weights.attention_norm, layer, architecture)
        if len(weights.cross_q_proj.bias):
            normed = _normed(hidden, weights.cross_norm, layer, epsilon) if norm_first else hidden
            update = _cross_attention(normed, weights, layer, architecture, source, result.to_source)
            hidden = _added(hidden, update, weights.cross_norm, layer, architecture)
        normed = _normed(hidden, weights.feed_forward_norm, layer, epsilon) if norm_first else hidden
        update = _feed_forward(normed, weights, layer, architecture)
        hidden = _added(hidden, update, weights.feed_forward_norm, layer, architecture)
        _keep(hidden, layer + 1, result.outputs)
    unembed(hidden, weights, epsilon, result.hidden, result.logits)


@compiled
def _keep(hidden: Array, layer: int, outputs: Array) -> None:
    if outputs.shape[1]:
        outputs[:, layer] = hidden


@compiled
def unembed(outputs: Array, weights: Weights, epsilon: np.float32, hidden: Array, logits: Array) -> None:
    """The last steps from a layer's outputs (R, W): the final norm into hidden (R, W), and the logits (R, V)."""
    if len(weights.final_norm.gain):
        normalize(outputs, weights.final_norm, 0, epsilon, hidden)
    else:
        hidden[:] = outputs
    multiply(hidden, weights.unembedding, 0, logits)


@compiled
def _embed(tokens: Counts, positions: Counts, weights: Weights, scale: np.float32) -> Array:
    """(R, W)"""
    hidden = empty(len(tokens), weights.embedding.inputs)
    for row in range(len(tokens)):
        read_output(weights.embedding, 0, tokens[row], hidden[row])
        hidden[row] *= scale
        if len(weights.positions):
            hidden[row] += weights.positions[positions[row]]
    return hidden


@compiled
def _self_attention(
    hidden: Array,
    positions: Counts,
    weights: Weights,
    layer: int,
    architecture: Architecture,
    text: TextColumns,
    to_text: Array,
) -> Array:
    """(R, W) to the same; fills the layer's of to_text (R, L, H, K)."""
    heads, groups, width = architecture.heads, architecture.key_value_heads, architecture.head_width
    qkv = _multiplied(hidden, weights.qkv_proj, layer).reshape(len(hidden), heads + 2 * groups, width)
    for row in range(len(hidden)):
        queries, keys = qkv[row, :heads], qkv[row, heads : heads + groups]  # (H, D), (G, D)
        if len(weights.query_norm.gain):
            normalize(queries, weights.query_norm, layer, architecture.epsilon, queries)
            normalize(keys, weights.key_norm, layer, architecture.epsilon, keys)
        if len(weights.cosines):
            cosines, sines = weights.cosines[positions[row]], weights.sines[positions[row]]  # (D,) each
            rotate(queries, cosines, sines)
            rotate(keys, cosines, sines)
    mixed = empty(len(hidden), heads * width)  # (R, H * D)
    attend_to_text(qkv, text, layer, architecture, to_text, mixed.reshape(len(hidden), heads, width))
    return _multiplied(mixed, weights.o_proj, layer)  # (R, W)


@compiled
def _cross_attention(
    hidden: Array, weights: Weights, layer: int, architecture: Architecture, source: SourceColumns, to_source: Array
) -> Array:
    """(R, W) to the same; fills the layer's of to_source (R, L, H, S)."""
    heads, width = architecture.heads, architecture.head_width
    queries = _multiplied(hidden, weights.cross_q_proj, layer).reshape(len(hidden), heads, width)  # (R, H, D)
    mixed = empty(len(hidden), heads * width)  # (R, H * D)
    attend_to_source(queries, source, layer, to_source, mixed.reshape(len(hidden), heads, width))
    return _multiplied(mixed, weights.cross_o_proj, layer)  # (R, W)


@compiled
def _feed_forward(hidden: Array, weights: Weights, layer: int, architecture: Architecture) -> Array:
    """(R, W) to the same."""
    up = _multiplied(hidden, weights.up_proj, layer)  # (R, F or 2F)
    activated = empty(len(hidden), architecture.feed_forward_width)
    activate(up, architecture.activation, activated)
    return _multiplied(activated, weights.down_proj, layer)


@compiled
def _added(hidden: Array, update: Array, norm: Norm, layer: int, architecture: Architecture) -> Array:
    """The residual stream after a sub-layer, (R, W)."""
    update += hidden
    if not architecture.norm_first:
        normalize(update, norm, layer, architecture.epsilon, update)
    return update


@compiled
def _normed(rows: Array, norm: Norm, layer: int, epsilon: np.float32) -> Array:
    out = empty(*rows.shape)
    normalize(rows, norm, layer, epsilon, out)
    return out


@compiled
def _multiplied(rows: Array, matrix: Matrix, layer: int) -> Array:
    """(R, I) to (R, O)."""
    out = empty(len(rows), matrix.outputs)
    multiply(rows, matrix, layer, out)
    return out
