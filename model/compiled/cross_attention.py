"""Cross-attention of one token a row: `transformer.attention.CrossAttention` in as few calls as PyTorch has for it.

The source is the same in every pass. So where all rows share one short source, the projections of queries and outputs
are multiplied into its keys and values once (Q K^T = x (W_q K^T), and likewise for the values). Every pass then takes
two small products instead of four and the shuffling of heads between them.

Shapes: R rows, S tokens of the source, U 1 where all rows have the same source and else R, H query heads, G key/value
heads, D head width, W model width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.compiled.linear import Apply, fast_linear, fast_norm
from model.transformer.attention import CrossAttention, ForwardContext
from model.transformer.cross_attention_cache import FoldedKeysValues, KeysValues
from model.transformer.layers import Block


def fold(cross: CrossAttention, keys_values: KeysValues) -> FoldedKeysValues:
    """Multiply a layer's projections of queries and outputs into one source's keys and values, (G, 1, S, D) each."""
    heads, width = cross.heads, cross.head_width
    keys, values = (  # (H, S, D) each
        part[:, 0].repeat_interleave(heads // cross.key_value_heads, dim=0) for part in keys_values
    )
    queries = cross.q_proj.weight.view(heads, width, -1)  # (H, D, W)
    biases = _bias(cross.q_proj).view(heads, width, 1)  # (H, D, 1)
    outputs = cross.o_proj.weight.t().reshape(heads, width, -1)  # (H, D, W)
    scale = width**-0.5
    return FoldedKeysValues(
        score=(keys @ queries * scale).flatten(0, 1),  # (H * S, W)
        score_bias=(keys @ biases * scale).flatten(),  # (H * S,)
        update=(values @ outputs).flatten(0, 1),  # (H * S, W)
        update_bias=_bias(cross.o_proj),
    )


@dataclass(frozen=True, slots=True)
class DecodeCrossAttention:
    """One `CrossAttention` and the norm that belongs to it, for one token a row."""

    norm: Apply
    cross: CrossAttention
    heads: int
    q_proj: Apply
    o_proj: Apply
    foldable: bool  # whether the projections are matrices in single precision

    @classmethod
    def of(cls, block: Block) -> DecodeCrossAttention | None:
        if block.cross is None or block.cross_norm is None:
            return None
        cross = block.cross
        foldable = all(
            isinstance(linear, nn.Linear) and linear.weight.dtype == torch.float32
            for linear in (cross.q_proj, cross.o_proj)
        )
        norm, q_proj, o_proj = fast_norm(block.cross_norm), fast_linear(cross.q_proj), fast_linear(cross.o_proj)
        return cls(norm, cross, cross.heads, q_proj, o_proj, foldable)

    def __call__(self, hidden: Tensor, layer: int, context: ForwardContext) -> tuple[Tensor, Tensor | None]:
        """Hidden states (R, W) to what is added to them, and the weights (R, H, 1, S) if captured."""
        source = context.source
        assert source is not None
        keys_values = source.keys_values(layer)  # (G, U, S, D) each
        # A source longer than half a head's width takes as much reading folded as not.
        short = 2 * source.length <= self.cross.head_width
        if self.foldable and source.single and source.attention_mask is None and short:
            if layer not in source.folded:
                source.folded[layer] = fold(self.cross, keys_values)
            update, weights = source.folded[layer](hidden, self.heads)
            return update, weights[:, :, None] if context.capture else None
        return self._unfolded(hidden, keys_values, source.attention_mask, context)

    def _unfolded(
        self, hidden: Tensor, keys_values: KeysValues, attention_mask: Tensor | None, context: ForwardContext
    ) -> tuple[Tensor, Tensor | None]:
        """The same in the order of the module's equations."""
        keys, values = keys_values
        rows, (groups, sources, _, width) = context.rows, keys.shape
        queries = self.q_proj(hidden).view(rows, groups, -1, width).transpose(0, 1)  # (G, R, H / G, D)
        # Rows of one source are as many queries of one text.
        queries = queries.reshape(groups * sources, -1, width)  # (G * U, R / U * H / G, D)
        unread, scale = queries.new_empty(()), width**-0.5
        keys = keys.flatten(0, 1).transpose(1, 2)  # (G * U, D, S)
        scores = torch.baddbmm(unread, queries, keys, beta=0, alpha=scale)  # (G * U, R / U * H / G, S)
        scores = scores.view(groups, rows, self.heads // groups, -1)  # (G, R, H / G, S)
        if attention_mask is not None:
            scores = scores.masked_fill(~attention_mask[:, 0], -math.inf)
        weights = scores.softmax(dim=-1)  # (G, R, H / G, S)
        each = weights.view(groups * sources, -1, weights.shape[-1])  # (G * U, R / U * H / G, S)
        mixed = torch.bmm(each, values.flatten(0, 1)).view(groups, rows, -1, width)  # (G, R, H / G, D)
        mixed = mixed.transpose(0, 1).reshape(rows, -1)  # (R, H * D)
        if not context.capture:
            return self.o_proj(mixed), None
        return self.o_proj(mixed), weights.transpose(0, 1).reshape(rows, self.heads, 1, -1)  # (R, H, 1, S)


def _bias(linear: nn.Linear) -> Tensor:
    """(O,)"""
    return linear.weight.new_zeros(linear.out_features) if linear.bias is None else linear.bias
