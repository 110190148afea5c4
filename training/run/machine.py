"""What this machine is fast at, found by trying."""

from __future__ import annotations

import time

import torch

_SIZE = 512  # of a square matrix: large enough that multiplying takes the time, and not the call
_ROUNDS = 5


def fastest_precision(device: torch.device) -> str:
    """ "bf16" where matrix products in bfloat16 are faster than in float32, else "no", as accelerate calls them.

    Processors without instructions for bfloat16 convert every number, which takes about four times as long."""
    return "bf16" if _seconds(torch.bfloat16, device) < _seconds(torch.float32, device) else "no"


def _seconds(dtype: torch.dtype, device: torch.device) -> float:
    """For one matrix product, the fastest of a few."""
    matrix = torch.ones(_SIZE, _SIZE, dtype=dtype, device=device)
    taken = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        (matrix @ matrix)[0, 0].item()  # which waits for a GPU
        taken.append(time.perf_counter() - started)
    return min(taken)
