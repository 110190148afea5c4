"""Muon (Jordan et al., 2024): momentum, with each step made nearly orthogonal by a few matrix products.

It is `torch.optim.Muon` in the precision of the run. PyTorch always multiplies in bfloat16, which took a processor
without instructions for it twice as long as forward and backward together.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

_MOMENTUM = 0.95
_COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # the quintic that Jordan et al. chose, which is steep at zero
_ITERATIONS = 5


def orthogonalized(matrix: Tensor) -> Tensor:
    """The matrix (M, N) with its singular values moved near 1, by Newton-Schulz iterations."""
    a, b, c = _COEFFICIENTS
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T  # so that the products have the smaller size
    wide = wide / wide.norm().clamp(min=1e-7)  # now no singular value is above 1
    for _ in range(_ITERATIONS):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=b, alpha=c), wide, beta=a)
    return wide if matrix.shape[0] <= matrix.shape[1] else wide.T


class Muon(torch.optim.Optimizer):
    """Muon, for matrices only.

    Each step is scaled to the size of AdamW's, so that one learning rate serves both (Liu et al., 2025, "Muon is
    Scalable for LLM Training").
    """

    def __init__(
        self,
        matrices: Iterable[nn.Parameter],
        *,
        lr: float,
        weight_decay: float,
        precision: torch.dtype = torch.float32,
    ) -> None:
        """
        Args:
            precision: of the matrix products.
        """
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay})
        self._precision = precision

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if not state:
                    state["momentum"] = torch.zeros_like(matrix)
                state["momentum"].lerp_(matrix.grad, 1 - _MOMENTUM)
                nesterov = matrix.grad.lerp(state["momentum"], _MOMENTUM)
                update = orthogonalized(nesterov.to(self._precision))
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                matrix.add_(update.to(matrix.dtype), alpha=-group["lr"] * 0.2 * max(matrix.shape) ** 0.5)
