"""One more token a row looks at the source: `layers.CrossAttention` in as few calls as PyTorch has for it.

What a token asks of a source it asks in every pass again, so where all rows have the same, short one, the projections
of queries and outputs are multiplied into its keys and values once (Q K^T = x (W_q K^T), and likewise for the values).
Every pass then takes two small products instead of four and the shuffling of heads between them.

Shapes: R rows, S tokens of the source, U 1 where all rows have the same source and else R, H query heads, G key/value
heads, D head width, W model width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.layers import Block, CrossAttention, Pass
from model.products import Apply, fast_norm, product_of
from model.source import KeysValues


@dataclass(frozen=True, slots=True)
class Folded:
    """One layer's projections, multiplied into the keys and values of one source."""

    asked: Tensor  # (H * S, W): hidden states to scores
    asked_bias: Tensor  # (H * S,)
    told: Tensor  # (H * S, W): weights to what is added to the hidden states
    told_bias: Tensor  # (W,)

    @classmethod
    def of(cls, cross: CrossAttention, looked_up: KeysValues) -> Folded:
        """
        Args:
            looked_up: of one source, (G, 1, S, D) each.
        """
        heads, width = cross.heads, cross.head_width
        keys, values = (  # (H, S, D) each
            part[:, 0].repeat_interleave(heads // cross.key_value_heads, dim=0) for part in looked_up
        )
        projected = cross.queries.weight.view(heads, width, -1)  # (H, D, W)
        biases = _bias(cross.queries).view(heads, width, 1)  # (H, D, 1)
        output = cross.output.weight.t().reshape(heads, width, -1)  # (H, D, W)
        scale = width**-0.5
        return cls(
            asked=(keys @ projected * scale).flatten(0, 1),  # (H * S, W)
            asked_bias=(keys @ biases * scale).flatten(),  # (H * S,)
            told=(values @ output).flatten(0, 1),  # (H * S, W)
            told_bias=_bias(cross.output),
        )

    def __call__(self, given: Tensor, heads: int) -> tuple[Tensor, Tensor]:
        """Hidden states (R, W) to what is added to them, and the weights (R, H, S)."""
        scores = functional.linear(given, self.asked, self.asked_bias).view(len(given), heads, -1)  # (R, H, S)
        weights = scores.softmax(dim=-1)  # (R, H, S)
        return torch.addmm(self.told_bias, weights.flatten(1), self.told), weights


@dataclass(frozen=True, slots=True)
class FastCross:
    """One `layers.CrossAttention` and the norm that belongs to it."""

    norm: Apply
    cross: CrossAttention
    heads: int
    queries: Apply
    output: Apply
    foldable: bool  # whether the projections are matrices in single precision

    @classmethod
    def of(cls, block: Block) -> FastCross | None:
        if block.cross is None or block.cross_norm is None:
            return None
        cross = block.cross
        foldable = all(
            isinstance(linear, nn.Linear) and linear.weight.dtype == torch.float32
            for linear in (cross.queries, cross.output)
        )
        return cls(
            fast_norm(block.cross_norm),
            cross,
            cross.heads,
            product_of(cross.queries),
            product_of(cross.output),
            foldable,
        )

    def __call__(self, given: Tensor, layer: int, shared: Pass) -> tuple[Tensor, Tensor | None]:
        """Hidden states (R, W) to what is added to them, and the weights (R, H, 1, S) where they are asked for."""
        source = shared.source
        assert source is not None
        looked_up = source.of(layer)  # (G, U, S, D) each
        # A source longer than half a head's width takes as much reading folded as not.
        if self.foldable and source.single and source.visible is None and 2 * source.length <= self.cross.head_width:
            if layer not in source.folded:
                source.folded[layer] = Folded.of(self.cross, looked_up)
            added, weights = source.folded[layer](given, self.heads)
            return added, weights[:, :, None] if shared.capture else None
        return self._plainly(given, looked_up, source.visible, shared)

    def _plainly(
        self, given: Tensor, looked_up: KeysValues, visible: Tensor | None, shared: Pass
    ) -> tuple[Tensor, Tensor | None]:
        """The same in the order of the module's equations."""
        keys, values = looked_up
        rows, (groups, sources, _, width) = shared.rows, keys.shape
        queries = self.queries(given).view(rows, groups, -1, width).transpose(0, 1)  # (G, R, H / G, D)
        # Rows of one source are as many queries of one text.
        queries = queries.reshape(groups * sources, -1, width)  # (G * U, R / U * H / G, D)
        unread, scale = queries.new_empty(()), width**-0.5
        keys = keys.flatten(0, 1).transpose(1, 2)  # (G * U, D, S)
        scores = torch.baddbmm(unread, queries, keys, beta=0, alpha=scale)  # (G * U, R / U * H / G, S)
        scores = scores.view(groups, rows, self.heads // groups, -1)  # (G, R, H / G, S)
        if visible is not None:
            scores = scores.masked_fill(~visible[:, 0], -math.inf)
        weights = scores.softmax(dim=-1)  # (G, R, H / G, S)
        each = weights.view(groups * sources, -1, weights.shape[-1])  # (G * U, R / U * H / G, S)
        mixed = torch.bmm(each, values.flatten(0, 1)).view(groups, rows, -1, width)  # (G, R, H / G, D)
        mixed = mixed.transpose(0, 1).reshape(rows, -1)  # (R, H * D)
        if not shared.capture:
            return self.output(mixed), None
        return self.output(mixed), weights.transpose(0, 1).reshape(rows, self.heads, 1, -1)  # (R, H, 1, S)


def _bias(linear: nn.Linear) -> Tensor:
    """(O,)"""
    return linear.weight.new_zeros(linear.out_features) if linear.bias is None else linear.bias
