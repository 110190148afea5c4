"""What makes a training fast on this machine: the faster precision, and a compiler that fuses its small passes."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.transformer.attention import SelfAttention
from model.transformer.layers import Block, FeedForward

_SIZE = 512  # of a square matrix: large enough that the product takes longer than the call
_ROUNDS = 25  # in turn, so that whatever else the machine is doing slows both down


def fastest_precision(device: torch.device) -> str:
    """Return "bf16" if matrix products are faster in bfloat16 than in float32, otherwise "no": accelerate's names.

    Processors without instructions for bfloat16 convert every number, which takes about four times as long.
    """
    matrices = [torch.ones(_SIZE, _SIZE, dtype=dtype, device=device) for dtype in (torch.bfloat16, torch.float32)]
    rounds = [[_seconds(matrix) for matrix in matrices] for _ in range(_ROUNDS)]
    bfloat16, float32 = (min(seconds) for seconds in zip(*rounds, strict=True))
    return "bf16" if bfloat16 < float32 else "no"


def _seconds(matrix: Tensor) -> float:
    """The seconds that a product of a matrix (n, n) with itself takes."""
    started = time.perf_counter()
    (matrix @ matrix)[0, 0].item()  # this waits for a GPU
    return time.perf_counter() - started


def has_compiler() -> bool:
    """Whether torch finds the C++ compiler that it needs to fuse passes."""
    return shutil.which(os.environ.get("CXX", "g++")) is not None


def summed_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """The cross-entropy of logits (N, V) in any precision and targets (N,), summed, in nats."""
    return functional.cross_entropy(logits.float(), targets, reduction="sum")


def fused_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """`summed_loss`, compiled when it is first called."""
    return _compiled_loss()(logits, targets)


@cache
def _compiled_loss() -> Callable[[Tensor, Tensor], Tensor]:
    return torch.compile(summed_loss, dynamic=True)  # a call that imports the compiler, which takes two seconds


def fuse(model: nn.Module) -> None:
    """Compile what reads and writes every number but computes little: norms, activations and rotations.

    The rest of a block stays as it is, since the lengths of its texts change at every step.
    """
    for module in model.modules():
        if isinstance(module, SelfAttention):
            module.project = torch.compile(module.project, dynamic=True)
        elif isinstance(module, Block):
            module.normed = torch.compile(module.normed, dynamic=True)
        elif isinstance(module, FeedForward):
            module.compile(dynamic=True)
