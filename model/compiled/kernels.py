"""What a compiled step does between its matrix products; each function is a loop that reads like its formula.

Shapes: R rows, W model width, F feed-forward width, N heads, D head width.
"""

from __future__ import annotations

import math

import numpy as np

from model.compiled.arrays import Array, Norm
from model.jit import compiled

_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
_ROOT_HALF = np.float32(math.sqrt(0.5))
_TWICE_ROOT_2_BY_PI = np.float32(2 * math.sqrt(2 / math.pi))
_CUBIC = np.float32(0.044715)
_BY_LOG_2 = np.float32(1 / math.log(2))
_LOG_2_HIGH, _LOG_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)  # their sum is log 2, as in Cephes' expf
_COEFFICIENTS = tuple(np.float32(1 / math.factorial(power)) for power in range(8))
_LOWEST_BITS, _BUT_THE_SIGN, _SIGN = np.int32(-(2**31)), np.int32(2**31 - 1), np.int32(31)
_SMALLEST, _LARGEST = np.float32(-87.0), np.float32(88.0)  # float32 holds their exponentials with full precision


@compiled
def exp(x: np.float32) -> np.float32:
    """The exponential by sums and products only, so that sixteen are computed at once.

    x = n log 2 + r with |r| <= log(2) / 2, so exp(x) = 2^n exp(r): Taylor's series of 8 terms gives exp(r), and 2^n is
    n written into a float's exponent. The relative error is below 4e-7, and below 2e-7 up to |x| = 20; what is below
    -87 has 0, and what is above 88 the same as 88.
    """
    within = min(x, _LARGEST) if x > _SMALLEST else _SMALLEST
    whole = np.floor(within * _BY_LOG_2 + _HALF)
    rest = min(x, _LARGEST) - whole * _LOG_2_HIGH - whole * _LOG_2_LOW  # NaN if x is NaN
    series = _ZERO
    for power in range(7, -1, -1):
        series = series * rest + _COEFFICIENTS[power]
    return _ZERO if x < _SMALLEST else series * np.int32((np.int32(whole) + 127) << 23).view(np.float32)


@compiled
def dot(first: Array, second: Array) -> np.float32:
    total = _ZERO
    for i in range(len(first)):
        total += first[i] * second[i]
    return total


@compiled
def normalize(rows: Array, norm: Norm, layer: int, epsilon: np.float32, out: Array) -> None:
    """Write the norm of each row (R, W) into out, which may be the rows themselves: LayerNorm (Ba et al., 2016) if it
    has biases, else RMSNorm (Zhang and Sennrich, 2019)."""
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
    """Activate up (R, F), or (R, 2F) with the gate first, into out (R, F); `activation` counts `arrays.ACTIVATIONS`."""
    width = out.shape[1]
    for number in range(len(up)):
        row, activated = up[number], out[number]
        for i in range(width):
            x = row[i]
            if activation == 0:
                activated[i] = max(x, _ZERO)
            elif activation == 1:  # GELU (Hendrycks and Gimpel, 2016)
                activated[i] = _HALF * x * (_ONE + math.erf(x * _ROOT_HALF))
            elif activation == 2:  # its approximation, (1 + tanh(y)) / 2 written as 1 / (1 + exp(-2y))
                activated[i] = x / (_ONE + exp(-_TWICE_ROOT_2_BY_PI * (x + _CUBIC * x * x * x)))
            else:  # SwiGLU (Shazeer, 2020)
                activated[i] = x / (_ONE + exp(-x)) * row[width + i]


@compiled
def largest(scores: Array) -> np.float32:
    """The largest score.

    Their bits are compared as integers, sixteen at once, since a comparison of floats would have to handle NaN. Floats
    have the same order as these integers once all bits except the sign are flipped in negative ones.
    """
    bits, highest = scores.view(np.int32), _LOWEST_BITS
    for i in range(len(bits)):
        highest = max(highest, bits[i] ^ ((bits[i] >> _SIGN) & _BUT_THE_SIGN))
    return np.int32(highest ^ ((highest >> _SIGN) & _BUT_THE_SIGN)).view(np.float32)


@compiled
def softmax(scores: Array) -> None:
    """Replace the scores by their softmax, in place."""
    highest, total = largest(scores), _ZERO
    for i in range(len(scores)):
        weight = exp(scores[i] - highest)
        scores[i] = weight
        total += weight
    inverse = _ONE / total
    for i in range(len(scores)):
        scores[i] *= inverse
