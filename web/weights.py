"""The weights of a model in 8 bits, as the page without a server fetches them.

Only matrices are rounded; norms and biases stay in single precision. Each row of a matrix has a scale, which is its
largest weight divided by 127, so a weight is a whole number from -127 to 127 times the scale of its row.

Shapes: R rows, C columns.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save, save_file
from torch import Tensor

from model.transformer import checkpoint

_LARGEST = 127  # in 8 bits


def packed(weights: Mapping[str, Tensor]) -> bytes:
    """The safetensors file that `web/model/weights.js` reads: matrices in the kernel's order, else float32."""
    return save({name: _in_order(weight) if weight.dim() == 2 else weight.float() for name, weight in weights.items()})


def save_rounded(folder: Path, directory: Path) -> None:
    """Write a checkpoint of the same rounded weights for Python, which then computes what the browser does."""
    weights = checkpoint.read_weights(folder / checkpoint.WEIGHTS)
    directory.mkdir(parents=True, exist_ok=True)
    for name in (checkpoint.CONFIG, checkpoint.TOKENIZER):
        shutil.copy(folder / name, directory / name)
    rounded = {name: _rounded(weight) if weight.dim() == 2 else weight.float() for name, weight in weights.items()}
    save_file(rounded, directory / checkpoint.WEIGHTS)


def _codes(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """The whole numbers (R, C) and the scales (R, 1)."""
    scales = matrix.float().abs().amax(dim=1, keepdim=True) / _LARGEST  # (R, 1)
    tiny = torch.finfo(scales.dtype).tiny  # for rows of zeros
    return (matrix.float() / scales.clamp_min(tiny)).round(), scales


def _rounded(matrix: Tensor) -> Tensor:
    codes, scales = _codes(matrix)
    return codes * scales


def _in_order(matrix: Tensor) -> Tensor:
    """Four rows at a time, of these eight columns at a time, and then their four scales: bytes (R / 4, 4 * C + 16)."""
    rows, columns = matrix.shape
    codes, scales = _codes(matrix)
    tiles = codes.to(torch.int8).view(rows // 4, 4, columns // 8, 8).transpose(1, 2)  # (R / 4, C / 8, 4, 8)
    return torch.cat([part.reshape(rows // 4, -1).view(torch.uint8) for part in (tiles, scales)], dim=1)
