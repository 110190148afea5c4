"""A matrix times a few rows, and the norm of a few rows, the way a processor does it fastest.

One token of one text multiplies a single row by every matrix of the model, so a step is bound by how fast matrices can
be read; a batch of texts multiplies a handful of rows, and general matrix kernels, made for hundreds, are slow at it.
With one thread one or two rows go through NumPy, whose BLAS reads a matrix as fast as memory gives it where PyTorch's
takes up to twice as long; with more, the threads of the two would wait for each other. More rows go through oneDNN,
over a copy in its own order. All give the same numbers but for rounding; `nn.Linear` is the slow, obvious twin in the
tests, and `make bench` tells what a token costs.

Shapes: R rows, I inputs, O outputs, W model width.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

Apply = Callable[[Tensor], Tensor]

_FEW = 2  # rows that are multiplied one by one
_NEAR = 1 << 20  # bytes; a matrix up to this size stays in a core's own cache
_PACKED = 1 << 27  # bytes; a larger matrix is not kept in oneDNN's order, too
_COPIED = 1 << 24  # bytes; a larger matrix is not kept by columns, too


def fast_linear(linear: nn.Module) -> Apply:
    """The same layer, (R, I) to (R, O), for few rows; one in 8 bits is fast as it is."""
    return FastLinear(linear) if isinstance(linear, nn.Linear) else linear.forward


class FastLinear:
    """One `nn.Linear` for few rows. It keeps copies of the matrix: build it again after a change."""

    def __init__(self, linear: nn.Linear) -> None:
        self.weight = linear.weight.data  # (O, I)
        self.bias = None if linear.bias is None else linear.bias.data  # (O,)
        self._size = self.weight.numel() * self.weight.element_size()  # bytes
        self._float32_on_cpu = self.weight.device.type == "cpu" and self.weight.dtype == torch.float32

    def __call__(self, rows: Tensor) -> Tensor:
        """(R, I) to (R, O)."""
        if not self._float32_on_cpu:
            return functional.linear(rows, self.weight, self.bias)
        if len(rows) <= _FEW and torch.get_num_threads() == 1 and self._columns is not None:
            return self._one_by_one(rows, self._columns)
        if len(rows) > _FEW and self._packed is not None:
            return torch.ops.mkldnn._linear_pointwise(rows, self._packed, self.bias, "none", [], "")
        return functional.linear(rows, self.weight, self.bias)

    def _one_by_one(self, rows: Tensor, columns: NDArray[np.float32]) -> Tensor:
        product = np.empty((len(rows), columns.shape[1]), np.float32)  # (R, O)
        for row, out in zip(rows.numpy(), product, strict=True):
            np.matmul(row, columns, out=out)
        if self._bias_array is not None:
            product += self._bias_array
        return torch.from_numpy(product)

    @cached_property
    def _bias_array(self) -> NDArray[np.float32] | None:
        """The bias, (O,)."""
        return None if self.bias is None else self.bias.numpy()

    @cached_property
    def _columns(self) -> NDArray[np.float32] | None:
        """The matrix by columns, (I, O): the module's memory where that is ordered so, else a copy, and None where it
        is too large for one."""
        columns = self.weight.t()
        return columns.contiguous().numpy() if columns.is_contiguous() or self._size <= _COPIED else None

    @cached_property
    def _packed(self) -> Any:
        """A copy in oneDNN's own order, made when several rows first come; None where it is not available."""
        operators = [getattr(torch.ops.mkldnn, name, None) for name in ("_reorder_linear_weight", "_linear_pointwise")]
        if self._size > _PACKED or not torch.backends.mkldnn.is_available() or None in operators:
            return None
        return torch.ops.mkldnn._reorder_linear_weight(self.weight.contiguous(), 4)


def exceeds_copy_limit(linear: nn.Linear) -> bool:
    """Whether the matrix is too large for `FastLinear` to keep it by columns besides."""
    return linear.weight.numel() * linear.weight.element_size() > _COPIED


def optimize_layout(linear: nn.Linear) -> None:
    """Bring a layer's matrix into the memory order that single rows read fastest, in place; no value changes.

    In single precision that is by columns, in bfloat16 only for a large one with more outputs than inputs, and in
    float16 never: PyTorch takes several times as long over it then.
    """
    weight = linear.weight.data
    large = weight.numel() * weight.element_size() > _NEAR and linear.out_features > linear.in_features
    by_columns = weight.dtype == torch.float32 or (weight.dtype == torch.bfloat16 and large)
    linear.weight.data = weight.t().contiguous().t() if by_columns else weight.contiguous()


def fast_norm(norm: nn.Module) -> Apply:
    """The same norm, over (R, W)."""
    if isinstance(norm, nn.LayerNorm):
        return partial(
            torch.layer_norm, normalized_shape=norm.normalized_shape, weight=norm.weight, bias=norm.bias, eps=norm.eps
        )
    if not isinstance(norm, nn.RMSNorm):
        return norm.forward
    weight = norm.weight.data
    if weight.dtype != torch.float32:  # half precision has to be squared in single
        return norm.forward
    # One product gives mean square + epsilon, where PyTorch's norm runs seven small kernels on a CPU.
    mean = weight.new_full((weight.shape[0], 1), 1 / weight.shape[0])
    epsilon = weight.new_full((1, 1), norm.eps or torch.finfo(weight.dtype).eps)
    return lambda x: torch.addmm(epsilon, x * x, mean).rsqrt_().mul(x).mul_(weight)  # (R, 1), then (R, W)
