"""A matrix times a few rows, and the norm of a few rows, the way a processor does it fastest.

One token of one text multiplies a single row by every matrix of the model, so a step is bound by how fast matrices can
be read; a batch of texts multiplies a handful of rows, and general matrix kernels, made for hundreds, are slow at it.
Three ways are taken, by the number of rows and the size of the matrix. All are PyTorch's own and give the same numbers
but for rounding; `nn.Linear` is the slow, obvious twin in the tests, and `make bench` tells what a token costs.

Shapes: R rows, I inputs, O outputs, W model width.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Apply = Callable[[Tensor], Tensor]

_PAIRED = 1 << 20  # bytes; a matrix up to this size stays in a core's own cache, and then pairs of rows are fastest
_PACKED = 1 << 27  # bytes; a larger matrix is not kept twice


def product_of(linear: nn.Module) -> Apply:
    """What a linear layer computes, (R, I) to (R, O), for few rows; one in 8 bits is fast as it is."""
    return Product(linear) if isinstance(linear, nn.Linear) else linear.forward


class Product:
    """What one `nn.Linear` computes, for few rows. The matrix is the module's own: build it again after a change."""

    def __init__(self, linear: nn.Linear) -> None:
        self.weight = linear.weight.data  # (O, I)
        self.bias = None if linear.bias is None else linear.bias.data  # (O,)
        self._size = self.weight.numel() * self.weight.element_size()
        # By rows, a matrix with more outputs than inputs is slow for a single vector, and fast for two.
        by_rows = self.weight.is_contiguous() and linear.out_features > linear.in_features
        self._paired = self._size <= _PAIRED or by_rows
        self._special = self.weight.device.type == "cpu" and self.weight.dtype == torch.float32

    def __call__(self, given: Tensor) -> Tensor:
        """(R, I) to (R, O)."""
        if not self._special:
            return functional.linear(given, self.weight, self.bias)
        if len(given) > 2 and self._packed is not None:
            return torch.ops.mkldnn._linear_pointwise(given, self._packed, self.bias, "none", [], "")
        if len(given) <= 2 and self._paired:
            product = self._in_pairs(given)
            return product if self.bias is None else product + self.bias
        return functional.linear(given, self.weight, self.bias)

    def _in_pairs(self, given: Tensor) -> Tensor:
        """Two rows at once: the kernel for two columns reads the matrix faster than the one for a single vector."""
        pair = given if len(given) == 2 else torch.cat((given, given))  # (2, I)
        return self.weight.mm(pair.t()).t()[: len(given)]  # (R, O)

    @cached_property
    def _packed(self) -> Any:
        """A copy in oneDNN's own order, made when first several rows come; None where that is not to be had."""
        operators = [getattr(torch.ops.mkldnn, name, None) for name in ("_reorder_linear_weight", "_linear_pointwise")]
        if self._size > _PACKED or not torch.backends.mkldnn.is_available() or None in operators:
            return None
        return torch.ops.mkldnn._reorder_linear_weight(self.weight.contiguous(), 4)


def outgrows_a_copy(linear: nn.Linear) -> bool:
    """Whether the matrix is too large for `Product` to keep it twice."""
    return linear.weight.numel() * linear.weight.element_size() > _PACKED


def lay_out(linear: nn.Linear) -> None:
    """Bring a layer's matrix into the order that single rows read fastest, in place; no value changes.

    A large one with more outputs than inputs is read up to three times as fast by columns, all others by rows.
    """
    weight = linear.weight.data
    large = weight.numel() * weight.element_size() > _PAIRED
    by_columns = large and linear.out_features > linear.in_features
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
