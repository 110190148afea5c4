"""One more token a row, or a short text, in as few calls as PyTorch has for it.

A step of a small model spends as long on calling as on multiplying: modules, look-ups and dozens of small kernels a
block. Here the blocks of `layers.py` run on their bare tensors, by kernels that do two things at once. The modules are
the slow, obvious twin: the tests hold both equal for every kind of transformer, and whatever feeds more than one token
a row to a decoder goes through them.

Shapes: R rows, T tokens of a text, K keys (all tokens so far; P of them shared by all rows, O each row's own), H query
heads, G key/value heads, D head width, W model and F feed-forward width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from model.config import TransformerConfig
from model.layers import ACTIVATIONS, Block, Pass, SelfAttention, Weights, attend, rotate
from model.products import Apply, fast_norm, product_of
from model.stepping_cross import FastCross


@dataclass(frozen=True, slots=True)
class FastBlock:
    """The tensors of one `layers.Block`, to be made again after a change: some are kept in two orders."""

    before: bool  # whether the norms stand before their sub-layers
    heads: int
    key_value_heads: int
    head_width: int
    attention_norm: Apply
    queries_keys_values: Apply
    query_key_gain: Tensor | None  # (H + G, D), of the norm of queries and keys
    epsilon: float
    output: Apply
    feed_forward_norm: Apply
    cross: FastCross | None
    up: Apply  # under SwiGLU the gate's projection, too
    activation: Apply
    down: Apply

    @classmethod
    def of(cls, block: Block, config: TransformerConfig) -> FastBlock:
        return cls(
            before=config.norm_place == "before",
            heads=config.heads,
            key_value_heads=config.key_value_heads,
            head_width=config.head_width,
            attention_norm=fast_norm(block.attention_norm),
            queries_keys_values=product_of(block.attention.queries_keys_values),
            query_key_gain=_gain(block.attention, config),
            epsilon=config.norm_epsilon,
            output=product_of(block.attention.output),
            feed_forward_norm=fast_norm(block.feed_forward_norm),
            cross=FastCross.of(block),
            up=product_of(block.feed_forward.wide),
            activation=ACTIVATIONS[config.activation],
            down=product_of(block.feed_forward.narrow),
        )

    def __call__(self, hidden: Tensor, layer: int, shared: Pass) -> tuple[Tensor, Weights]:
        """Hidden states (R, W) to the same, and the attention weights of one query where they are asked for."""
        mixed, own = self._attend(self.attention_norm(hidden) if self.before else hidden, layer, shared)
        hidden, cross = hidden + self.output(mixed), None
        if not self.before:
            hidden = self.attention_norm(hidden)
        if self.cross is not None:
            mixed, cross = self.cross(self.cross.norm(hidden) if self.before else hidden, layer, shared)
            hidden = hidden + mixed
            if not self.before:
                hidden = self.cross.norm(hidden)
        weights = Weights(own, cross)
        if self.before:
            return hidden + self._feed_forward(self.feed_forward_norm(hidden)), weights
        return self.feed_forward_norm(hidden + self._feed_forward(hidden)), weights

    def _feed_forward(self, hidden: Tensor) -> Tensor:
        return self.down(self.activation(self.up(hidden)))

    def _attend(self, given: Tensor, layer: int, shared: Pass) -> tuple[Tensor, Tensor | None]:
        if shared.cache is None:
            return self._attend_all(given, shared)
        rows, groups = shared.rows, self.key_value_heads
        joint = self.queries_keys_values(given).view(rows, -1, self.head_width)  # (R, H + 2G, D)
        turned, values = joint[:, :-groups], joint[:, -groups:]  # (R, H + G, D), (R, G, D)
        if self.query_key_gain is not None:
            turned = functional.rms_norm(turned, (self.head_width,), eps=self.epsilon) * self.query_key_gain
        if shared.rotary is not None:
            turned = rotate(turned[:, None], *shared.rotary)[:, 0]
        queries = turned[:, : self.heads].unflatten(1, (groups, -1)).transpose(0, 1)  # (G, R, H / G, D)
        newest = turned[:, self.heads :].transpose(0, 1), values.transpose(0, 1)  # (G, R, D) each
        shared.cache.write(layer, *(part[:, :, None] for part in newest))
        past, own = shared.cache.shared(layer), shared.cache.own(layer)
        scores = _scores(queries, own.keys, None if past is None else past.keys)  # (G, R, H / G, K)
        if shared.visible is not None:
            visible = shared.visible[:, 0] if shared.visible.dim() == 4 else shared.visible  # (R, 1, K) or (1, K)
            scores = scores.masked_fill(~visible, -math.inf)
        weights = scores.softmax(dim=-1)  # (G, R, H / G, K)
        mixed = _mixed(weights, own.values, None if past is None else past.values)  # (G, R, H / G, D)
        mixed = mixed.transpose(0, 1).reshape(rows, -1)  # (R, W)
        if not shared.capture:
            return mixed, None
        return mixed, weights.transpose(0, 1).reshape(rows, self.heads, 1, -1)  # (R, H, 1, K)

    def _attend_all(self, given: Tensor, shared: Pass) -> tuple[Tensor, Tensor | None]:
        """All tokens of a text (R * T, W) at once, as `layers.SelfAttention`, but by the products for few rows."""
        rows, groups = shared.rows, self.key_value_heads
        joint = self.queries_keys_values(given).view(rows, -1, self.heads + 2 * groups, self.head_width)
        turned, values = joint[:, :, :-groups], joint[:, :, -groups:]  # (R, T, H + G, D), (R, T, G, D)
        if self.query_key_gain is not None:
            turned = functional.rms_norm(turned, (self.head_width,), eps=self.epsilon) * self.query_key_gain
        if shared.rotary is not None:
            turned = rotate(turned, *shared.rotary)
        queries, keys, values = (  # (R, H or G, T, D)
            part.transpose(1, 2) for part in (turned[:, :, : self.heads], turned[:, :, self.heads :], values)
        )
        causal = shared.causal and shared.visible is None
        mixed, weights = attend(queries, keys, values, visible=shared.visible, causal=causal, capture=shared.capture)
        return mixed.transpose(1, 2).reshape(len(given), -1), weights  # (R * T, W)


def _scores(queries: Tensor, keys: Tensor, past: Tensor | None) -> Tensor:
    """Queries (G, R, H / G, D) with each row's own keys (G, R, O, D), and the past of all (G, 1, P, D) before them."""
    groups, rows, shared, width = queries.shape
    # Product and division by sqrt(D) in one kernel; with beta 0 the sum's other half is not read.
    unread, scale = queries.new_empty(()), width**-0.5
    queries = queries.reshape(groups * rows, shared, width)  # (G * R, H / G, D)
    own = torch.baddbmm(unread, queries, keys.flatten(0, 1).transpose(1, 2), beta=0, alpha=scale)  # (G * R, H / G, O)
    own = own.view(groups, rows, shared, -1)  # (G, R, H / G, O)
    if past is None:
        return own
    asked = queries.reshape(groups, rows * shared, width)  # (G, R * H / G, D): the past is read once for all rows
    before = torch.baddbmm(unread, asked, past[:, 0].transpose(1, 2), beta=0, alpha=scale)  # (G, R * H / G, P)
    return torch.cat((before.view(groups, rows, shared, -1), own), dim=-1)  # (G, R, H / G, P + O)


def _mixed(weights: Tensor, values: Tensor, past: Tensor | None) -> Tensor:
    """Weights (G, R, H / G, P + O) of the same columns' values, summed: (G, R, H / G, D)."""
    groups, rows, shared, _ = weights.shape
    each = weights.view(groups * rows, shared, -1)  # (G * R, H / G, P + O)
    if past is None:
        return torch.bmm(each, values.flatten(0, 1)).view(groups, rows, shared, -1)  # (G, R, H / G, D)
    length = past.shape[2]
    before = torch.bmm(weights.view(groups, rows * shared, -1)[..., :length], past[:, 0])  # (G, R * H / G, D)
    before = before.view(groups * rows, shared, -1)  # (G * R, H / G, D)
    summed = torch.baddbmm(before, each[..., length:], values.flatten(0, 1))  # (G * R, H / G, D)
    return summed.view(groups, rows, shared, -1)  # (G, R, H / G, D)


@dataclass(frozen=True, slots=True)
class FastStack:
    """All that a token goes through after its embedding."""

    blocks: tuple[FastBlock, ...]
    final_norm: Apply
    unembedding: Apply


def _gain(attention: SelfAttention, config: TransformerConfig) -> Tensor | None:
    if attention.query_norm is None or attention.key_norm is None:
        return None
    gains = attention.query_norm.weight, attention.key_norm.weight  # (D,) each
    counts = config.heads, config.key_value_heads
    return torch.cat([gain.data.expand(count, -1) for gain, count in zip(gains, counts, strict=True)])  # (H + G, D)
