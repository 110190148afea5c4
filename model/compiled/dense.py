"""Matrices in single precision, or in bfloat16 and widened on the fly.

Shapes: L layers, R rows, I inputs, O outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.compiled.arrays import Array
from model.jit import AVAILABLE, compiled

_ZERO = np.float32(0.0)
_WIDENED = 512  # outputs at once: their weights in single precision still fit into the processor's cache
_OUTPUTS = 32  # their weights stay in the processor's nearest cache while all rows are multiplied by them


class DenseMatrix(NamedTuple):
    """One linear layer of every block, or another matrix as the only layer."""

    weight: NDArray[np.float32 | np.uint16]  # (L, O, I); uint16 holds the bits of bfloat16
    bias: Array  # (L, O) or (L, 0)
    inputs: int  # I
    outputs: int  # O
    streamed: bool  # read from main memory in every step, since the model is larger than a processor's cache

    @classmethod
    def of(cls, weight: Tensor, bias: Array, *, streamed: bool = False) -> DenseMatrix:
        """The matrices (L, O, I), in single precision or bfloat16; their memory is shared."""
        _, outputs, inputs = weight.shape
        bits = weight.view(torch.uint16) if weight.dtype == torch.bfloat16 else weight
        return cls(bits.numpy(), bias, inputs, outputs, streamed)


def widen(weight: np.float32 | np.uint16) -> np.float32:
    """A weight as float32: bfloat16 is the upper half of its bits."""
    if weight.dtype == np.uint16:
        return np.uint32(np.uint32(weight) << np.uint32(16)).view(np.float32)
    return np.float32(weight)


if AVAILABLE:
    from numba import types
    from numba.extending import overload

    @overload(widen, inline="always")
    def _widen_in_loops(weight):
        """`widen` as it is compiled for a type of weights."""
        if weight == types.uint16:
            return lambda weight: np.uint32(np.uint32(weight) << np.uint32(16)).view(np.float32)
        return lambda weight: weight


def dense_parts(matrix: DenseMatrix, layer: int) -> Iterator[tuple[slice, Tensor]]:
    """A layer's matrix in single precision, transposed: some outputs at a time and their weights, (I, outputs).

    Weights in single precision are shared, and come all at once; those in bfloat16 are widened while they are used.
    """
    weight = torch.from_numpy(matrix.weight[layer])  # (O, I)
    if weight.dtype == torch.float32:
        yield slice(0, matrix.outputs), weight.t()
        return
    for first in range(0, matrix.outputs, _WIDENED):
        outputs = slice(first, min(first + _WIDENED, matrix.outputs))
        yield outputs, weight[outputs].view(torch.bfloat16).float().t()


@compiled
def multiply_dense(rows: Array, matrix: DenseMatrix, layer: int, out: Array) -> None:
    """Multiply rows (R, I) by a layer's matrix (O, I), and add its bias, into out (R, O).

    The matrix is read only once, however many rows there are, since reading it takes most of the time of a step.
    """
    weight = matrix.weight[layer]  # (O, I)
    for first in range(0, len(weight), _OUTPUTS):
        last = min(first + _OUTPUTS, len(weight))
        row = 0
        while row + 4 <= len(rows):
            output = first
            # Four outputs at once are faster, unless their weights come from main memory as four streams.
            while output + 4 <= last and (row or not matrix.streamed):
                _four_by_four(rows, row, weight, output, out)
                output += 4
            while output < last:
                _four_by_one(rows, row, weight[output], output, out)
                output += 1
            row += 4
        while row < len(rows):
            _one_row(rows[row], weight[first:last], out[row, first:last])
            row += 1
    if matrix.bias.shape[1]:
        out += matrix.bias[layer]


@compiled
def _one_row(row: Array, weight: NDArray[np.float32 | np.uint16], out: Array) -> None:
    for output in range(len(weight)):
        total = _ZERO
        for i in range(len(row)):
            total += row[i] * widen(weight[output, i])
        out[output] = total


@compiled
def _four_by_four(rows: Array, row: int, weight: NDArray[np.float32 | np.uint16], output: int, out: Array) -> None:
    """Multiply four rows by four outputs: sixteen sums in registers, so that each number is used four times."""
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = _ZERO
    for i in range(weight.shape[1]):
        a, b, c, d = rows[row, i], rows[row + 1, i], rows[row + 2, i], rows[row + 3, i]
        w, x = widen(weight[output, i]), widen(weight[output + 1, i])
        y, z = widen(weight[output + 2, i]), widen(weight[output + 3, i])
        a0 += a * w
        a1 += a * x
        a2 += a * y
        a3 += a * z
        b0 += b * w
        b1 += b * x
        b2 += b * y
        b3 += b * z
        c0 += c * w
        c1 += c * x
        c2 += c * y
        c3 += c * z
        d0 += d * w
        d1 += d * x
        d2 += d * y
        d3 += d * z
    sums = out[row : row + 4, output : output + 4]
    sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3] = a0, a1, a2, a3
    sums[1, 0], sums[1, 1], sums[1, 2], sums[1, 3] = b0, b1, b2, b3
    sums[2, 0], sums[2, 1], sums[2, 2], sums[2, 3] = c0, c1, c2, c3
    sums[3, 0], sums[3, 1], sums[3, 2], sums[3, 3] = d0, d1, d2, d3


@compiled
def _four_by_one(rows: Array, row: int, weight: NDArray[np.float32 | np.uint16], output: int, out: Array) -> None:
    """Multiply four rows by one output's weights (I,)."""
    a = b = c = d = _ZERO
    for i in range(len(weight)):
        widened = widen(weight[i])
        a += rows[row, i] * widened
        b += rows[row + 1, i] * widened
        c += rows[row + 2, i] * widened
        d += rows[row + 3, i] * widened
    out[row, output], out[row + 1, output], out[row + 2, output], out[row + 3, output] = a, b, c, d


@compiled
def read_dense(matrix: DenseMatrix, layer: int, output: int, out: Array) -> None:
    """Copy the weights of one output, such as a token's embedding, into out (I,)."""
    for i in range(len(out)):
        out[i] = widen(matrix.weight[layer, output, i])
