"""Matrices in 8 bits. They have a quarter of the memory to read, and reading takes most of the time of a token.

Only weights are rounded. Each group of 32 inputs of an output has its own scale, which is its largest weight divided by
127 (as in llama.cpp's Q8_0). The weights are widened on the fly, so hidden states stay in single precision.

A matrix is cut into tiles of about a hundred outputs, which are read in the order of memory: for each input, the
weights of all outputs of the tile. So the sums of all outputs grow at once, and none is added up inside a register.

Shapes: L layers, R rows, I inputs, O outputs, N inputs of a group, T outputs of a tile, G groups (I / N), K tiles
(O / T rounded up: what is missing is zeros).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from model.compiled.arrays import Array, empty, memory_for_weights
from model.jit import compiled

_GROUP = 32
# Outputs per tile; the first that divides all is used. Large tiles cost less, small ones load faster from main memory.
_TILES, _STREAMED_TILES = (256, 192, 128), (128,)
_LEAST_TILE = 64  # used if none divides them
_LARGEST = 127  # in 8 bits


class QuantizedMatrix(NamedTuple):
    """One linear layer of every block."""

    codes: NDArray[np.int8]  # (L, K, G, N, T)
    scale: Array  # (L, K, G, T)
    bias: Array  # (L, O) or (L, 0)
    inputs: int  # I
    outputs: int  # O

    @classmethod
    def of(cls, weight: Tensor, bias: Array, *, streamed: bool = False) -> QuantizedMatrix:
        """The matrices (L, O, I), rounded.

        Args:
            streamed: see `DenseMatrix`.
        """
        codes, scale = _rounded(weight, _STREAMED_TILES if streamed else _TILES)
        return cls(codes.numpy(), scale.numpy(), bias, weight.shape[2], weight.shape[1])


def _rounded(weight: Tensor, tile_sizes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Matrices (L, O, I) as codes (L, K, G, N, T) and their scales (L, K, G, T)."""
    layers, outputs, inputs = weight.shape
    tile = next((size for size in tile_sizes if outputs % size == 0), _LEAST_TILE)
    group = next((size for size in range(min(_GROUP, inputs), 1, -1) if inputs % size == 0), 1)
    tiles, groups = -(-outputs // tile), inputs // group
    codes = memory_for_weights((layers, tiles, groups, group, tile), torch.int8)
    scales = memory_for_weights((layers, tiles, groups, tile), torch.float32)
    for layer, matrix in enumerate(weight):
        padded = functional.pad(matrix.float(), (0, 0, 0, tiles * tile - outputs))  # (K * T, I)
        grouped = padded.view(tiles, tile, groups, group).permute(0, 2, 3, 1)  # (K, G, N, T)
        scale = grouped.abs().amax(dim=2) / _LARGEST  # (K, G, T)
        scales[layer] = scale
        codes[layer] = (grouped / scale[:, :, None].clamp_min(torch.finfo(scale.dtype).tiny)).round()
    return codes, scales


def dequantize(matrix: QuantizedMatrix, layer: int) -> Tensor:
    """A layer's matrix after rounding, (O, I)."""
    codes, scale = torch.from_numpy(matrix.codes[layer]), torch.from_numpy(matrix.scale[layer])
    widened = codes * scale[:, :, None]  # (K, G, N, T)
    return widened.permute(0, 3, 1, 2).flatten(2).flatten(0, 1)[: matrix.outputs]  # (O, I)


def quantized_parts(matrix: QuantizedMatrix, layer: int) -> Iterator[tuple[slice, Tensor]]:
    """A layer's matrix in single precision, transposed: a tile of outputs at a time and their weights, (I, outputs)."""
    codes, scale = torch.from_numpy(matrix.codes[layer]), torch.from_numpy(matrix.scale[layer])
    tile = codes.shape[-1]
    for number in range(len(codes)):
        outputs = slice(number * tile, min((number + 1) * tile, matrix.outputs))
        widened = (codes[number] * scale[number, :, None]).flatten(0, 1)  # (I, T)
        yield outputs, widened[:, : outputs.stop - outputs.start]


@compiled
def multiply_quantized(rows: Array, matrix: QuantizedMatrix, layer: int, out: Array) -> None:
    """Multiply rows (R, I) by a layer's matrix (O, I), and add its bias, into out (R, O)."""
    tiles, groups, group, tile = matrix.codes.shape[1:]
    grouped = rows.reshape(len(rows), groups, group)  # (R, G, N)
    products, sums = empty(4, tile), empty(4, tile)
    for number in range(tiles):
        codes, scale = matrix.codes[layer, number], matrix.scale[layer, number]  # (G, N, T), (G, T)
        first = number * tile
        used = min(tile, matrix.outputs - first)
        row = 0
        while row < len(rows):
            count = 4 if row + 4 <= len(rows) else 1
            if count == 4:
                _four_rows(grouped[row : row + 4], codes, scale, products, sums)
            else:
                _one_row(grouped[row], codes, scale, products[0], sums[0])
            for one in range(count):
                out[row + one, first : first + used] = sums[one, :used]
            row += count
    if matrix.bias.shape[1]:
        out += matrix.bias[layer]


@compiled
def _one_row(row: Array, codes: NDArray[np.int8], scale: Array, products: Array, sums: Array) -> None:
    """Multiply (G, N) by a tile into sums (T,), four inputs at a time."""
    groups, group, tile = codes.shape
    sums[:] = np.float32(0.0)
    for g in range(groups):
        products[:] = np.float32(0.0)
        n = 0
        while n + 4 <= group:
            a, b, c, d = row[g, n], row[g, n + 1], row[g, n + 2], row[g, n + 3]
            for t in range(tile):
                products[t] += (
                    a * np.float32(codes[g, n, t])
                    + b * np.float32(codes[g, n + 1, t])
                    + c * np.float32(codes[g, n + 2, t])
                    + d * np.float32(codes[g, n + 3, t])
                )
            n += 4
        while n < group:
            for t in range(tile):
                products[t] += row[g, n] * np.float32(codes[g, n, t])
            n += 1
        for t in range(tile):
            sums[t] += products[t] * scale[g, t]


@compiled
def _four_rows(rows: Array, codes: NDArray[np.int8], scale: Array, products: Array, sums: Array) -> None:
    """Multiply (4, G, N) by a tile into sums (4, T): each widened weight is used for all four rows."""
    groups, group, tile = codes.shape
    a, b, c, d = products[0], products[1], products[2], products[3]  # (T,) each
    sums[:] = np.float32(0.0)
    for g in range(groups):
        products[:] = np.float32(0.0)
        n = 0
        while n + 2 <= group:
            a0, b0, c0, d0 = rows[0, g, n], rows[1, g, n], rows[2, g, n], rows[3, g, n]
            a1, b1, c1, d1 = rows[0, g, n + 1], rows[1, g, n + 1], rows[2, g, n + 1], rows[3, g, n + 1]
            for t in range(tile):
                first, second = np.float32(codes[g, n, t]), np.float32(codes[g, n + 1, t])
                a[t] += a0 * first + a1 * second
                b[t] += b0 * first + b1 * second
                c[t] += c0 * first + c1 * second
                d[t] += d0 * first + d1 * second
            n += 2
        if n < group:
            for row in range(4):
                for t in range(tile):
                    products[row, t] += rows[row, g, n] * np.float32(codes[g, n, t])
        for row in range(4):
            for t in range(tile):
                sums[row, t] += products[row, t] * scale[g, t]


@compiled
def read_quantized(matrix: QuantizedMatrix, layer: int, output: int, out: Array) -> None:
    """Copy the weights of one output, such as a token's embedding, into out (I,)."""
    _, _, groups, group, tile = matrix.codes.shape
    number, t = output // tile, output % tile
    for g in range(groups):
        for n in range(group):
            out[g * group + n] = np.float32(matrix.codes[layer, number, g, n, t]) * matrix.scale[layer, number, g, t]
