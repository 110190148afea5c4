"""A decoder's block for one token a row, or an encoder's for a short text, in as few calls as PyTorch has for it.

A step of a small model spends as long on calling as on multiplying: modules, look-ups and dozens of small kernels a
block. Here the blocks of `transformer.layers` run on bare tensors, by kernels that do two things at once. The modules
are the slow, obvious twin: the tests hold both equal for every kind of transformer, and whatever feeds more than one
token a row to a decoder goes through them.

Shapes: R rows, T tokens of a text, K keys (all tokens so far; P of the prefix that all rows share, O of each row's
suffix), H query heads, G key/value heads, D head width, W model and F feed-forward width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from model.compiled.cross_attention import DecodeCrossAttention
from model.compiled.linear import Apply, fast_linear, fast_norm
from model.transformer.attention import AttentionWeights, ForwardContext, SelfAttention, attend
from model.transformer.config import TransformerConfig
from model.transformer.layers import ACTIVATIONS, Block
from model.transformer.positions import rotate


@dataclass(frozen=True, slots=True)
class DecodeBlock:
    """The tensors of one `transformer.layers.Block`; build it again after a change, since some are copies."""

    norm_first: bool  # whether the norms come before their sub-layers
    heads: int
    key_value_heads: int
    head_width: int
    attention_norm: Apply
    qkv_proj: Apply
    query_key_gain: Tensor | None  # (H + G, D), of the norm of queries and keys
    epsilon: float
    o_proj: Apply
    feed_forward_norm: Apply
    cross: DecodeCrossAttention | None
    up_proj: Apply  # under SwiGLU the gate's projection, too
    activation: Apply
    down_proj: Apply

    @classmethod
    def of(cls, block: Block, config: TransformerConfig) -> DecodeBlock:
        return cls(
            norm_first=block.norm_first,
            heads=config.heads,
            key_value_heads=config.key_value_heads,
            head_width=config.head_width,
            attention_norm=fast_norm(block.attention_norm),
            qkv_proj=fast_linear(block.attention.qkv_proj),
            query_key_gain=_gain(block.attention, config),
            epsilon=config.norm_epsilon,
            o_proj=fast_linear(block.attention.o_proj),
            feed_forward_norm=fast_norm(block.feed_forward_norm),
            cross=DecodeCrossAttention.of(block),
            up_proj=fast_linear(block.feed_forward.up_proj),
            activation=ACTIVATIONS[config.activation],
            down_proj=fast_linear(block.feed_forward.down_proj),
        )

    def __call__(self, hidden: Tensor, layer: int, context: ForwardContext) -> tuple[Tensor, AttentionWeights]:
        """Hidden states (R, W) to the same, and the attention weights of one query if captured."""
        mixed, to_text = self._attend(self.attention_norm(hidden) if self.norm_first else hidden, layer, context)
        hidden, to_source = hidden + self.o_proj(mixed), None
        if not self.norm_first:
            hidden = self.attention_norm(hidden)
        if self.cross is not None:
            update, to_source = self.cross(self.cross.norm(hidden) if self.norm_first else hidden, layer, context)
            hidden = hidden + update
            if not self.norm_first:
                hidden = self.cross.norm(hidden)
        weights = AttentionWeights(to_text, to_source)
        if self.norm_first:
            return hidden + self._feed_forward(self.feed_forward_norm(hidden)), weights
        return self.feed_forward_norm(hidden + self._feed_forward(hidden)), weights

    def _feed_forward(self, hidden: Tensor) -> Tensor:
        return self.down_proj(self.activation(self.up_proj(hidden)))  # (R, F), then (R, W)

    def _attend(self, hidden: Tensor, layer: int, context: ForwardContext) -> tuple[Tensor, Tensor | None]:
        """(R, W) to what the heads found, (R, H * D), and the weights (R, H, 1, K)."""
        if context.cache is None:
            return self._attend_text(hidden, context)
        rows, groups, cache = context.rows, self.key_value_heads, context.cache
        joint = self.qkv_proj(hidden).view(rows, -1, self.head_width)  # (R, H + 2G, D)
        queries_keys = self._norm_queries_keys(joint[:, :-groups])  # (R, H + G, D)
        values = joint[:, -groups:]  # (R, G, D)
        if context.rotary is not None:
            queries_keys = rotate(queries_keys[:, None], *context.rotary)[:, 0]
        queries = queries_keys[:, : self.heads].unflatten(1, (groups, -1)).transpose(0, 1)  # (G, R, H / G, D)
        newest = queries_keys[:, self.heads :].transpose(0, 1), values.transpose(0, 1)  # (G, R, D) each
        cache.write(layer, *(part[:, :, None] for part in newest))
        prefix, suffix = cache.prefix(layer), cache.suffix(layer)
        scores = _scores(queries, suffix.keys, None if prefix is None else prefix.keys)  # (G, R, H / G, K)
        if (mask := context.attention_mask) is not None:
            scores = scores.masked_fill(~(mask[:, 0] if mask.dim() == 4 else mask), -math.inf)  # mask (R, 1, K), (1, K)
        weights = scores.softmax(dim=-1)  # (G, R, H / G, K)
        mixed = _mixed(weights, suffix.values, None if prefix is None else prefix.values)  # (G, R, H / G, D)
        mixed = mixed.transpose(0, 1).reshape(rows, -1)  # (R, H * D)
        if not context.capture:
            return mixed, None
        return mixed, weights.transpose(0, 1).reshape(rows, self.heads, 1, -1)  # (R, H, 1, K)

    def _attend_text(self, hidden: Tensor, context: ForwardContext) -> tuple[Tensor, Tensor | None]:
        """All tokens of a text (R * T, W) at once, as `SelfAttention`, but by the products for few rows."""
        rows, groups = context.rows, self.key_value_heads
        joint = self.qkv_proj(hidden).unflatten(-1, (-1, self.head_width))  # (R * T, H + 2G, D)
        joint = joint.unflatten(0, (rows, -1))  # (R, T, H + 2G, D)
        queries_keys = self._norm_queries_keys(joint[:, :, :-groups])  # (R, T, H + G, D)
        if context.rotary is not None:
            queries_keys = rotate(queries_keys, *context.rotary)
        parts = queries_keys[:, :, : self.heads], queries_keys[:, :, self.heads :], joint[:, :, -groups:]
        queries, keys, values = (part.transpose(1, 2) for part in parts)  # (R, H or G, T, D)
        mask = context.attention_mask
        causal = context.causal and mask is None
        mixed, weights = attend(queries, keys, values, attention_mask=mask, causal=causal, capture=context.capture)
        return mixed.transpose(1, 2).reshape(len(hidden), -1), weights  # (R * T, H * D)

    def _norm_queries_keys(self, queries_keys: Tensor) -> Tensor:
        """The norm of every query and key, (…, H + G, D), where the model has one."""
        if self.query_key_gain is None:
            return queries_keys
        return functional.rms_norm(queries_keys, (self.head_width,), eps=self.epsilon) * self.query_key_gain


def _scores(queries: Tensor, keys: Tensor, prefix: Tensor | None) -> Tensor:
    """Scores (G, R, H / G, P + O) of queries (G, R, H / G, D) with keys of the prefix (G, 1, P, D) and the suffix
    (G, R, O, D)."""
    groups, rows, shared, width = queries.shape
    # Product and division by sqrt(D) in one kernel; with beta 0 the sum's other half is not read.
    unread, scale = queries.new_empty(()), width**-0.5
    queries = queries.reshape(groups * rows, shared, width)  # (G * R, H / G, D)
    of_suffix = torch.baddbmm(
        unread, queries, keys.flatten(0, 1).transpose(1, 2), beta=0, alpha=scale
    )  # (G * R, H / G, O)
    of_suffix = of_suffix.view(groups, rows, shared, -1)  # (G, R, H / G, O)
    if prefix is None:
        return of_suffix
    flat = queries.reshape(groups, rows * shared, width)  # (G, R * H / G, D): the prefix is read once for all rows
    of_prefix = torch.baddbmm(unread, flat, prefix[:, 0].transpose(1, 2), beta=0, alpha=scale)  # (G, R * H / G, P)
    return torch.cat((of_prefix.view(groups, rows, shared, -1), of_suffix), dim=-1)  # (G, R, H / G, P + O)


def _mixed(weights: Tensor, values: Tensor, prefix: Tensor | None) -> Tensor:
    """Weights (G, R, H / G, P + O) of the same columns' values, summed: (G, R, H / G, D)."""
    groups, rows, shared, _ = weights.shape
    each = weights.view(groups * rows, shared, -1)  # (G * R, H / G, P + O)
    if prefix is None:
        return torch.bmm(each, values.flatten(0, 1)).view(groups, rows, shared, -1)  # (G, R, H / G, D)
    length = prefix.shape[2]
    of_prefix = torch.bmm(weights.view(groups, rows * shared, -1)[..., :length], prefix[:, 0])  # (G, R * H / G, D)
    of_prefix = of_prefix.view(groups * rows, shared, -1)  # (G * R, H / G, D)
    summed = torch.baddbmm(of_prefix, each[..., length:], values.flatten(0, 1))  # (G * R, H / G, D)
    return summed.view(groups, rows, shared, -1)  # (G, R, H / G, D)


def _gain(attention: SelfAttention, config: TransformerConfig) -> Tensor | None:
    if attention.query_norm is None or attention.key_norm is None:
        return None
    gains = attention.query_norm.weight, attention.key_norm.weight  # (D,) each
    counts = config.heads, config.key_value_heads
    return torch.cat([gain.data.expand(count, -1) for gain, count in zip(gains, counts, strict=True)])  # (H + G, D)
