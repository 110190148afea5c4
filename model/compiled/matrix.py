"""Matrices of any precision: one product for all, and modules that replace the layers whose weights were packed.

Shapes: R rows, I inputs, O outputs, V vocabulary, W model width.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from model.compiled.arrays import Array
from model.compiled.dense import DenseMatrix, dense_parts, multiply_dense, read_dense
from model.compiled.quantized import QuantizedMatrix, multiply_quantized, quantized_parts, read_quantized
from model.jit import AVAILABLE, compiled

Matrix: TypeAlias = DenseMatrix | QuantizedMatrix

_MANY = 24  # rows, from which on PyTorch's product is faster than ours


# The modules call these functions as they are; in compiled code, the overloads below choose by type.


def multiply(rows: Array, matrix: Matrix, layer: int, out: Array) -> None:
    """Multiply rows (R, I) by a layer's matrix (O, I), and add its bias, into out (R, O).

    The matrix is read only once, however many rows there are, since reading it takes most of the time of a step.
    """
    if isinstance(matrix, QuantizedMatrix):
        multiply_quantized(rows, matrix, layer, out)
    else:
        multiply_dense(rows, matrix, layer, out)


def read_output(matrix: Matrix, layer: int, output: int, out: Array) -> None:
    """Copy the weights of one output, such as a token's embedding, into out (I,)."""
    if isinstance(matrix, QuantizedMatrix):
        read_quantized(matrix, layer, output, out)
    else:
        read_dense(matrix, layer, output, out)


@compiled
def read_outputs(matrix: Matrix, layer: int, outputs: NDArray[np.int64], out: Array) -> None:
    """Copy the weights of several outputs, such as the embeddings of a text, into out (R, I)."""
    for row in range(len(outputs)):
        read_output(matrix, layer, outputs[row], out[row])


if AVAILABLE:
    from numba import types
    from numba.extending import overload

    def _is_quantized(matrix: types.Type) -> bool:
        return isinstance(matrix, types.NamedTuple) and matrix.instance_class is QuantizedMatrix

    # The compiled versions of the functions above, chosen by the type of the matrix.

    @overload(multiply)
    def _multiply(rows, matrix, layer, out):
        if _is_quantized(matrix):
            return lambda rows, matrix, layer, out: multiply_quantized(rows, matrix, layer, out)
        return lambda rows, matrix, layer, out: multiply_dense(rows, matrix, layer, out)

    @overload(read_output)
    def _read_output(matrix, layer, output, out):
        if _is_quantized(matrix):
            return lambda matrix, layer, output, out: read_quantized(matrix, layer, output, out)
        return lambda matrix, layer, output, out: read_dense(matrix, layer, output, out)


class PackedLinear(nn.Linear):
    """A linear layer whose parameters are views of a packed matrix in single precision."""

    def __init__(self, linear: nn.Linear, matrix: Matrix, layer: int) -> None:
        nn.Module.__init__(self)
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.weight, self.bias = linear.weight, linear.bias
        self.matrix, self.layer, self._packed = matrix, layer, linear.weight.data_ptr()

    def forward(self, input: Tensor) -> Tensor:
        """(…, I) to (…, O), compiled unless gradients are needed or the weights have moved."""
        if torch.is_grad_enabled() or self.weight.data_ptr() != self._packed:
            return super().forward(input)
        return _multiplied(input, self.matrix, self.layer)


class CompactLinear(nn.Module):
    """A linear layer over a packed matrix in 16 or 8 bits. It is for decoding only: it can't learn."""

    def __init__(self, matrix: Matrix, layer: int) -> None:
        super().__init__()
        self.matrix, self.layer = matrix, layer

    def forward(self, rows: Tensor) -> Tensor:
        """(…, I) to (…, O)."""
        return _multiplied(rows, self.matrix, self.layer)


def _multiplied(rows: Tensor, matrix: Matrix, layer: int) -> Tensor:
    """(…, I) to (…, O)"""
    return multiply_rows(rows.reshape(-1, matrix.inputs), matrix, layer).unflatten(0, rows.shape[:-1])  # (…, O)


def multiply_rows(rows: Tensor, matrix: Matrix, layer: int) -> Tensor:
    """Multiply rows (R, I) by a layer's matrix (O, I), and add its bias: (R, O). PyTorch multiplies many rows."""
    out = torch.empty(len(rows), matrix.outputs)
    if len(rows) < _MANY:
        multiply(rows.numpy(), matrix, layer, out.numpy())
        return out
    parts = quantized_parts(matrix, layer) if isinstance(matrix, QuantizedMatrix) else dense_parts(matrix, layer)
    for outputs, weight in parts:  # (I, outputs)
        torch.mm(rows, weight, out=out[:, outputs])
    if matrix.bias.shape[1]:
        out += torch.from_numpy(matrix.bias[layer])
    return out


class CompactEmbedding(nn.Module):
    """An embedding whose vectors are the outputs of a packed matrix."""

    def __init__(self, matrix: Matrix) -> None:
        super().__init__()
        self.matrix = matrix

    @property
    def weight(self) -> Tensor:
        """The whole matrix in single precision, (V, W), computed anew each time."""
        return self(torch.arange(self.matrix.outputs))

    def forward(self, tokens: Tensor) -> Tensor:
        """(…,) to (…, W). `IndexError` for an id outside the vocabulary, as in `nn.Embedding`."""
        if tokens.numel() and not 0 <= int(tokens.min()) <= int(tokens.max()) < self.matrix.outputs:
            raise IndexError(f"a token is not of a vocabulary of {self.matrix.outputs}")
        vectors = torch.empty(tokens.numel(), self.matrix.inputs)
        read_outputs(self.matrix, 0, tokens.flatten().numpy(), vectors.numpy())
        return vectors.unflatten(0, tokens.shape)  # (…, W)
