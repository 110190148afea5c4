"""Position encodings: sinusoidal ones are added, rotary ones rotate queries and keys.

The tables are always computed on the CPU, even for a model whose parameters are still on `meta`.

Shapes: R rows, T tokens fed in this pass, H heads, D head width, W model width.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from model.transformer.config import RotaryScaling

_CPU = torch.device("cpu")


def sinusoids(length: int, width: int) -> Tensor:
    """Sinusoidal positions (Vaswani et al., 2017, section 3.5): sine in even columns, cosine in odd; (length, W)."""
    angles = torch.arange(length, device=_CPU)[:, None].float() * _frequencies(width, 10_000.0)  # (length, W / 2)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, :width]  # (length, W)


def rotary_tables(
    length: int, head_width: int, base: float, scaling: RotaryScaling | None = None
) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the rotary angles (Su et al., 2021), each (length, D), in half-split order as Llama's.

    The first half of the sines is negative, so a pair (x, y) becomes (x cos - y sin, y cos + x sin).
    """
    frequencies = _frequencies(head_width, base)  # (D / 2,)
    if scaling is not None:
        frequencies = _scaled(frequencies, scaling)
    angles = torch.arange(length, device=_CPU)[:, None].float() * frequencies  # (length, D / 2)
    cosines, sines = angles.cos(), angles.sin()
    return torch.cat((cosines, cosines), dim=-1), torch.cat((-sines, sines), dim=-1)  # (length, D) each


def rotate(heads: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Turn each pair (i, i + D/2) of every head by its angle; heads (R, T, H, D), tables (R or 1, T, 1, D)."""
    first, second = heads.chunk(2, dim=-1)  # (R, T, H, D / 2) each, the numbers of a pair in the same place
    turned = torch.addcmul(heads * cosines, torch.cat((second, first), dim=-1), sines)  # (R, T, H, D)
    return turned.to(heads.dtype)  # lower than that of the tables when training in bfloat16


def _frequencies(width: int, base: float) -> Tensor:
    return base ** -(torch.arange(0, width, 2, device=_CPU) / width).float()  # (width / 2,) radians a position


def _scaled(frequencies: Tensor, scaling: RotaryScaling) -> Tensor:
    """See `RotaryScaling`."""
    divided = frequencies / scaling.factor
    if scaling.kind == "linear":
        return divided
    turns = scaling.original_context * frequencies / (2 * math.pi)  # in the context of the first training
    low, high = scaling.low_frequency_factor, scaling.high_frequency_factor
    kept = ((turns - low) / (high - low)).clamp(0, 1)  # 0: divided, 1: kept
    return (1 - kept) * divided + kept * frequencies
