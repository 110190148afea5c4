"""Measures which precision is fastest on this machine."""

from __future__ import annotations

import time

import torch

_SIZE = 512  # of a square matrix: large enough that the product takes longer than the call
_ROUNDS = 5


def fastest_precision(device: torch.device) -> str:
    """Return "bf16" if matrix products are faster in bfloat16 than in float32, otherwise "no": accelerate's names.

    Processors without instructions for bfloat16 convert every number, which takes about four times as long.
    """
    return "bf16" if _seconds(torch.bfloat16, device) < _seconds(torch.float32, device) else "no"


def _seconds(dtype: torch.dtype, device: torch.device) -> float:
    """The seconds that one matrix product takes, the least of a few measurements."""
    matrix = torch.ones(_SIZE, _SIZE, dtype=dtype, device=device)
    seconds = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        (matrix @ matrix)[0, 0].item()  # this waits for a GPU
        seconds.append(time.perf_counter() - started)
    return min(seconds)
