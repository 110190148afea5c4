"""The parts of a compiled step, each a loop that reads like its formula.

Shapes: L layers, R rows, I inputs, O outputs, W model width, F feed-forward width, N heads, D head width.
"""

from __future__ import annotations

import math

import numpy as np

from model.compiled.weights import Array, Matrix, Norm
from model.jit import compiled

_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
_ROOT_HALF = np.float32(math.sqrt(0.5))
_ROOT_2_BY_PI = np.float32(math.sqrt(2 / math.pi))
_CUBIC = np.float32(0.044715)
_OUTPUTS = 32  # whose weights stay in the processor's nearest memory while all rows are multiplied by them


@compiled
def multiply(rows: Array, matrix: Matrix, layer: int, out: Array) -> None:
    """rows (R, I) times a layer's matrix (O, I), plus its bias, into out (R, O).

    The matrix is read once, however many rows there are, and reading it is what a step's time goes into.
    """
    weight = matrix.weight[layer]  # (O, I)
    count, outputs = len(rows), len(weight)
    for first in range(0, outputs, _OUTPUTS):
        last = min(first + _OUTPUTS, outputs)
        row = 0
        while row + 4 <= count:
            output = first
            while output + 2 <= last:
                _four_by_two(rows, row, weight, output, out)
                output += 2
            if output < last:
                for one in range(row, row + 4):
                    out[one, output] = dot(rows[one], weight[output])
            row += 4
        while row < count:
            for output in range(first, last):
                out[row, output] = dot(rows[row], weight[output])
            row += 1
    if matrix.bias.shape[1]:
        out += matrix.bias[layer]


@compiled
def dot(first: Array, second: Array) -> np.float32:
    total = _ZERO
    for i in range(len(first)):
        total += first[i] * second[i]
    return total


@compiled
def _four_by_two(rows: Array, row: int, weight: Array, output: int, out: Array) -> None:
    """Four rows times two outputs: eight sums in registers, so that each number that is read serves several."""
    a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = _ZERO
    for i in range(weight.shape[1]):
        first, second = weight[output, i], weight[output + 1, i]
        a, b, c, d = rows[row, i], rows[row + 1, i], rows[row + 2, i], rows[row + 3, i]
        a0 += a * first
        b0 += b * first
        c0 += c * first
        d0 += d * first
        a1 += a * second
        b1 += b * second
        c1 += c * second
        d1 += d * second
    out[row, output], out[row, output + 1] = a0, a1
    out[row + 1, output], out[row + 1, output + 1] = b0, b1
    out[row + 2, output], out[row + 2, output + 1] = c0, c1
    out[row + 3, output], out[row + 3, output + 1] = d0, d1


@compiled
def normalize(rows: Array, norm: Norm, layer: int, epsilon: np.float32, out: Array) -> None:
    """The norm of each row (R, W) into out, which may be the rows themselves: LayerNorm (Ba et al., 2016) where it has
    biases, else RMSNorm (Zhang and Sennrich, 2019)."""
    width = np.float32(rows.shape[1])
    centred = norm.bias.shape[1] > 0
    for row, normed in zip(rows, out):
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
    """up (R, F), or (R, 2F) with the gate first, to out (R, F); `activation` is a place in `weights.ACTIVATIONS`."""
    width = out.shape[1]
    for row, activated in zip(up, out):
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
