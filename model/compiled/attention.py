"""Attention of one query per row to the keys of its text or of its source.

Shapes: L layers, R rows, U sources, H query heads, G key/value heads, D head width, P columns of the prefix that all
rows share, C columns of memory for what follows in each row, S columns of the longest source, K columns in all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.compiled.arrays import Architecture, Array
from model.compiled.kernels import dot, softmax
from model.jit import compiled

Counts = NDArray[np.int64]

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class TextColumns(NamedTuple):
    """A `KeyValueCache` whose newest column has yet to be filled."""

    prefix: Array  # (L, 2, G, 1, P or more, D): keys, then values
    prefix_length: int
    suffix: Array  # (L, 2, G, R, C, D)
    suffix_length: int
    padding: Counts  # (R,)


class SourceColumns(NamedTuple):
    """A `CrossAttentionCache`; without an encoder it has no layers."""

    columns: Array  # (L, 2, G, U, S, D): keys, then values
    lengths: Counts  # (U,)
    source_of_row: Counts  # (R,)


@compiled
def attend_to_text(
    qkv: Array, text: TextColumns, layer: int, architecture: Architecture, weights: Array, out: Array
) -> None:
    """Self-attention of each row's newest token.

    Args:
        qkv: queries, keys and values, (R, H + 2G, D); keys and values are written to the cache's newest column.
        weights: (R, L, H, K), where this layer's part is filled; or for one layer only, which each layer overwrites.
        out: what the heads found, (R, H, D), filled.
    """
    heads, groups = architecture.heads, architecture.key_value_heads
    shared, newest = heads // groups, text.suffix_length - 1
    length, kept = text.prefix_length + text.suffix_length, min(layer, weights.shape[1] - 1)
    for group in range(groups):  # the order in memory
        prefix_keys, prefix_values = text.prefix[layer, 0, group, 0], text.prefix[layer, 1, group, 0]  # (P, D)
        for row in range(len(qkv)):
            suffix_keys, suffix_values = text.suffix[layer, 0, group, row], text.suffix[layer, 1, group, row]  # (C, D)
            suffix_keys[newest] = qkv[row, heads + group]
            suffix_values[newest] = qkv[row, heads + groups + group]
            first = max(text.padding[row], length - architecture.window)
            start = max(0, first - text.prefix_length)
            for head in range(group * shared, (group + 1) * shared):
                weight = weights[row, kept, head]  # (K,)
                weight[:first] = _ZERO
                _score(qkv[row, head], prefix_keys, first, weight[: text.prefix_length])
                _score(qkv[row, head], suffix_keys, start, weight[text.prefix_length :])
                softmax(weight[first:])
                out[row, head] = _ZERO
                _add_values(weight[: text.prefix_length], prefix_values, first, out[row, head])
                _add_values(weight[text.prefix_length :], suffix_values, start, out[row, head])


@compiled
def attend_to_source(queries: Array, source: SourceColumns, layer: int, weights: Array, out: Array) -> None:
    """Cross-attention.

    Args:
        queries: (R, H, D).
        weights: (R, L, H, S), as in `attend_to_text`.
        out: what the heads found, (R, H, D), filled.
    """
    groups = source.columns.shape[2]
    shared, kept = queries.shape[1] // groups, min(layer, weights.shape[1] - 1)
    for row in range(len(queries)):
        number = source.source_of_row[row]
        length = source.lengths[number]
        for head in range(queries.shape[1]):
            keys, values = (
                source.columns[layer, 0, head // shared, number],
                source.columns[layer, 1, head // shared, number],
            )  # (S, D) each
            weight = weights[row, kept, head, :length]  # (its source's S,)
            _score(queries[row, head], keys, 0, weight)
            softmax(weight)
            weights[row, kept, head, length:] = _ZERO
            out[row, head] = _ZERO
            _add_values(weight, values, 0, out[row, head])


@compiled
def _score(query: Array, keys: Array, start: int, scores: Array) -> None:
    """Write q k / sqrt(D) of a query (D,) and each key from `start` on into as many scores."""
    scale = _ONE / np.sqrt(np.float32(len(query)))
    for column in range(start, len(scores)):
        scores[column] = dot(query, keys[column]) * scale


@compiled
def _add_values(weights: Array, values: Array, start: int, out: Array) -> None:
    """Add the weighted values from `start` on to out (D,), four at a time."""
    column = start
    while column + 4 <= len(weights):
        a, b, c, d = weights[column], weights[column + 1], weights[column + 2], weights[column + 3]
        for i in range(len(out)):
            out[i] += (
                a * values[column, i]
                + b * values[column + 1, i]
                + c * values[column + 2, i]
                + d * values[column + 3, i]
            )
        column += 4
    while column < len(weights):
        for i in range(len(out)):
            out[i] += weights[column] * values[column, i]
        column += 1
