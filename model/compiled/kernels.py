"""What a compiled step does between its products, each a loop that reads like its formula.

Shapes: R rows, W model width, F feed-forward width, N heads, D head width.
"""

from __future__ import annotations

import math

import numpy as np

from model.compiled.arrays import Array, Norm
from model.jit import compiled

_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
_ROOT_HALF = np.float32(math.sqrt(0.5))
_ROOT_2_BY_PI = np.float32(math.sqrt(2 / math.pi))
_CUBIC = np.float32(0.044715)


@compiled
def dot(first: Array, second: Array) -> np.float32:
    total = _ZERO
    for i in range(len(first)):
        total += first[i] * second[i]
    return total


@compiled
def normalize(rows: Array, norm: Norm, layer: int, epsilon: np.float32, out: Array) -> None:
    """The norm of each row (R, W) into out, which may be the rows themselves: LayerNorm (Ba et al., 2016) where it has
    biases, else RMSNorm (Zhang and Sennrich, 2019)."""
    width = np.float32(rows.shape[1])
    centred = norm.bias.shape[1] > 0
    for number in range(len(rows)):
        row, normed = rows[number], out[number]  # (W,) each
        mean = row.sum() / width if centred else _ZERO
        squares = _ZERO
        for i in range(len(row)):
            squares += (row[i] - mean) * (row[i] - mean)
        inverse = _ONE / np.sqrt(squares / width + epsilon)
        for i in range(len(row)):
            normed[i] = (row[i] - mean) * inverse * norm.gain[layer, i]
        if centred:
            normed += norm.bias[layer]


@compiled
def rotate(heads: Array, cosines: Array, sines: Array) -> None:
    """Turn each pair (i, i + D/2) of every head (N, D) by its angle, in place; see `transformer.positions`."""
    half = heads.shape[1] // 2
    for head in heads:
        for i in range(half):
            x, y = head[i], head[half + i]
            head[i] = x * cosines[i] + y * sines[i]
            head[half + i] = y * cosines[half + i] + x * sines[half + i]


@compiled
def activate(up: Array, activation: int, out: Array) -> None:
    """up (R, F), or (R, 2F) with the gate first, to out (R, F); `activation` is a place in `arrays.ACTIVATIONS`."""
    width = out.shape[1]
    for number in range(len(up)):
        row, activated = up[number], out[number]
        for i in range(width):
            x = row[i]
            if activation == 0:
                activated[i] = max(x, _ZERO)
            elif activation == 1:  # GELU (Hendrycks and Gimpel, 2016)
                activated[i] = _HALF * x * (_ONE + math.erf(x * _ROOT_HALF))
            elif activation == 2:  # its approximation
                activated[i] = _HALF * x * (_ONE + math.tanh(_ROOT_2_BY_PI * (x + _CUBIC * x * x * x)))
            else:  # SwiGLU (Shazeer, 2020)
                activated[i] = x / (_ONE + math.exp(-x)) * row[width + i]


@compiled
def softmax(scores: Array) -> None:
    """In place."""
    largest, total = scores.max(), _ZERO
    for i in range(len(scores)):
        scores[i] = math.exp(scores[i] - largest)
        total += scores[i]
    scores *= _ONE / total
