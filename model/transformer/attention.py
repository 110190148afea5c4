"""Scaled dot-product attention, and the two modules made of it: self-attention and cross-attention.

Shapes: R rows, T tokens fed in this pass, K keys (all tokens so far), U sources of S tokens each, padding included,
H query heads, G key/value heads, D head width, W model width.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.inspection.matching import note
from model.interface import Attention
from model.transformer.cache import KeyValueCache
from model.transformer.config import TransformerConfig
from model.transformer.cross_attention_cache import CrossAttentionCache
from model.transformer.positions import rotate

_SHORT = 32  # tokens; the fused kernel is made for long texts, and 30 times slower than plain products on short ones


class AttentionWeights(NamedTuple):
    """The captured attention weights of one layer."""

    to_text: Tensor | None = None  # (R, H, capture, K)
    to_source: Tensor | None = None  # (R, H, capture, S), from cross-attention


def stack_attention(layers: Sequence[AttentionWeights], encoder: Sequence[AttentionWeights] = ()) -> Attention:
    """The weights that the layers captured, (R, layers, H, capture, K or S) each."""
    text, source, encoded = (
        [part for part in parts if part is not None]
        for parts in (
            [weights.to_text for weights in layers],
            [weights.to_source for weights in layers],
            [weights.to_text for weights in encoder],
        )
    )
    optional = (torch.stack(part, dim=1).float() if part else None for part in (source, encoded))
    return Attention(torch.stack(text, dim=1).float(), *optional)


@dataclass(frozen=True, slots=True)
class ForwardContext:
    """What all layers share in one pass over R rows of T tokens; hidden states are flat, (R * T, W)."""

    rows: int
    rotary: tuple[Tensor, Tensor] | None = None  # cosines and sines, (R or 1, T, 1, D) each
    attention_mask: Tensor | None = None  # boolean, broadcastable to (R, 1, T, K); None: all that `causal` allows
    cache: KeyValueCache | None = None  # holds the keys before these tokens; None: there are none
    source: CrossAttentionCache | None = None  # keys and values for cross-attention
    causal: bool = True  # no token sees a later one, except in an encoder
    capture: int = 0  # how many of the last queries' attention weights to return
    groups: Sequence[tuple[int, int]] = ()  # of texts one after another in one row: how many have which length


def attend(
    queries: Tensor, keys: Tensor, values: Tensor, *, attention_mask: Tensor | None, causal: bool, capture: int
) -> tuple[Tensor, Tensor | None]:
    """Scaled dot-product attention (Vaswani et al., 2017, section 3.2.1).

    A single query or a short text is so cheap that its weights are always computed and used. Other texts run through
    the fused kernel, and captured weights are computed beside it. Either way, capturing changes no bit of the output.

    Args:
        queries: (R, H, T, D).
        keys, values: (R, G, K, D); each of the G heads serves H / G query heads.
        attention_mask: boolean, broadcastable to (R, 1, T, K), True where a query may attend; None if it may attend
        everywhere.
        causal: the T queries are the last of the K tokens and must not see later ones; then there is no mask.
        capture: how many of the last queries' weights to return.

    Returns:
        Output (R, H, T, D) and weights (R, H, capture, K), None for a `capture` of 0.
    """
    length, tokens = queries.shape[2], keys.shape[2]
    note(queries, keys, queries.shape[-1] ** -0.5)
    if length == 1:
        weights = attention_weights(queries, keys, attention_mask)  # (R, H, 1, K)
        return _weighted_sum(weights, values), weights if capture else None
    if causal:
        visible = torch.ones(length, tokens, dtype=torch.bool, device=keys.device)  # (T, K)
        attention_mask = visible.tril(tokens - length)  # (T, K)
    if tokens <= _SHORT:
        weights = attention_weights(queries, keys, attention_mask)  # (R, H, T, K)
        return _weighted_sum(weights, values), weights[:, :, -capture:] if capture else None
    square = causal and length == tokens  # the kernel's own causal mask is faster, but is only right for these
    groups = queries.shape[1] // keys.shape[1]
    keys_of_all, values_of_all = _repeat(keys, groups), _repeat(values, groups)  # (R, H, K, D) each
    output = functional.scaled_dot_product_attention(
        queries, keys_of_all, values_of_all, attn_mask=None if square else attention_mask, is_causal=square
    )  # (R, H, T, D)
    if not capture:
        return output, None
    if attention_mask is not None:
        attention_mask = attention_mask[..., -capture:, :]
    return output, attention_weights(queries[:, :, -capture:], keys, attention_mask)


def attention_weights(queries: Tensor, keys: Tensor, attention_mask: Tensor | None) -> Tensor:
    """softmax(q k / sqrt(D)) over the keys that the mask allows, (R, H, T, K); arguments as in `attend`."""
    rows, heads, length, width = queries.shape
    key_heads = keys.shape[1]
    grouped = queries.reshape(rows, key_heads, heads // key_heads * length, width)  # (R, G, H / G * T, D)
    scores = (grouped * width**-0.5) @ keys.transpose(2, 3)  # (R, G, H / G * T, K)
    scores = scores.view(rows, heads, length, -1)  # (R, H, T, K)
    if attention_mask is not None:
        scores = scores.masked_fill(~attention_mask, -math.inf)
    return scores.softmax(dim=-1)  # (R, H, T, K)


def _weighted_sum(weights: Tensor, values: Tensor) -> Tensor:
    rows, heads, length, keys = weights.shape
    value_heads = values.shape[1]
    grouped = weights.reshape(rows, value_heads, heads // value_heads * length, keys)  # (R, G, H / G * T, K)
    return (grouped @ values).view(rows, heads, length, -1)  # (R, H, T, D)


def _repeat(heads: Tensor, groups: int) -> Tensor:
    return heads if groups == 1 else heads.repeat_interleave(groups, dim=1)  # (R, H, K, D)


def _attend_within_texts(queries: Tensor, keys: Tensor, values: Tensor, groups: Sequence[tuple[int, int]]) -> Tensor:
    """Causal attention within each of many texts that lie one after another, for training.

    Its gradient costs a processor a quarter of the fused kernel's in bfloat16, and as much in float32.

    Args:
        queries, keys, values: (N, H, D).
        groups: how many neighbours have the same length, and this length; all of them have N tokens.

    Returns:
        Output (N, H * D).
    """
    mixed = []
    by_group = (part.split([count * length for count, length in groups]) for part in (queries, keys, values))
    for (count, length), *parts in zip(groups, *by_group, strict=True):
        texts = [part.unflatten(0, (count, length)).transpose(1, 2) for part in parts]  # (count, H, length, D) each
        query, key, value = (text.flatten(0, 1) for text in texts)  # (count * H, length, D) each
        mask = torch.full((length, length), -math.inf, dtype=query.dtype, device=query.device).triu(1)
        scores = torch.baddbmm(mask, query, key.mT, alpha=query.shape[-1] ** -0.5)  # (count * H, length, length)
        output = torch.bmm(scores.softmax(dim=-1), value)  # (count * H, length, D)
        mixed.append(output.view_as(texts[0]).transpose(1, 2).flatten(2).flatten(0, 1))  # (count * length, H * D)
    return torch.cat(mixed)


class SelfAttention(nn.Module):
    """Every token attends to itself and to the tokens before it or, in an encoder, to the whole text."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.heads, self.key_value_heads, self.head_width = config.heads, config.key_value_heads, config.head_width
        query_width, key_width = config.heads * config.head_width, config.key_value_heads * config.head_width
        # One product instead of three.
        self.qkv_proj = nn.Linear(config.width, query_width + 2 * key_width, bias=config.biases != "none")
        self.o_proj = nn.Linear(query_width, config.width, bias=config.biases == "all")
        self.query_norm, self.key_norm = (
            nn.RMSNorm(config.head_width, config.norm_epsilon) if config.query_key_norm else None for _ in range(2)
        )

    def forward(self, hidden: Tensor, layer: int, context: ForwardContext) -> tuple[Tensor, Tensor | None]:
        """Hidden states (R * T, W) to the same, and the captured weights, (R, H, capture, K)."""
        rows, length = context.rows, hidden.shape[0] // context.rows
        queries, keys, values = self.project(hidden, rows, context.rotary)
        if context.groups:
            assert context.attention_mask is None, "texts in groups can't have a sliding window"
            shared = self.heads // self.key_value_heads
            keys, values = (part.repeat_interleave(shared, dim=2) if shared > 1 else part for part in (keys, values))
            return self.o_proj(_attend_within_texts(queries[0], keys[0], values[0], context.groups)), None
        queries, keys, values = (part.transpose(1, 2) for part in (queries, keys, values))  # (R, H or G, T, D)
        if context.cache is not None:
            context.cache.write(layer, keys.transpose(0, 1), values.transpose(0, 1))
            keys, values = (part.transpose(0, 1) for part in context.cache.keys_values(layer))  # (R, G, K, D) each
        mask = context.attention_mask
        causal = context.causal and mask is None and length > 1
        mixed, weights = attend(queries, keys, values, attention_mask=mask, causal=causal, capture=context.capture)
        mixed = mixed.transpose(1, 2).reshape(rows * length, -1)  # (R * T, H * D)
        return self.o_proj(mixed), weights

    def project(self, hidden: Tensor, rows: int, rotary: tuple[Tensor, Tensor] | None) -> tuple[Tensor, Tensor, Tensor]:
        """Hidden states (R * T, W) to queries (R, T, H, D), keys and values (R, T, G, D)."""
        joint = self.qkv_proj(hidden).view(rows, len(hidden) // rows, -1, self.head_width)  # (R, T, H + 2G, D)
        queries, keys, values = joint.split((self.heads, self.key_value_heads, self.key_value_heads), dim=2)
        if self.query_norm is not None and self.key_norm is not None:
            queries, keys = self.query_norm(queries), self.key_norm(keys)
        if rotary is not None:
            queries, keys = rotate(queries, *rotary), rotate(keys, *rotary)
        return queries, keys, values


class CrossAttention(nn.Module):
    """Every token of a decoder attends to the encoder's source, which has the same keys and values in every pass."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.heads, self.key_value_heads, self.head_width = config.heads, config.key_value_heads, config.head_width
        query_width, key_width = config.heads * config.head_width, config.key_value_heads * config.head_width
        self.q_proj = nn.Linear(config.width, query_width, bias=config.biases != "none")
        self.kv_proj = nn.Linear(config.width, 2 * key_width, bias=config.biases != "none")
        self.o_proj = nn.Linear(query_width, config.width, bias=config.biases == "all")

    def project_keys_values(self, encoded: Tensor) -> Tensor:
        """Keys, then values, of sources' hidden states (U, S, W): (2, G, U, S, D)."""
        joint = self.kv_proj(encoded).unflatten(-1, (2, self.key_value_heads, -1))  # (U, S, 2, G, D)
        return joint.permute(2, 3, 0, 1, 4)  # (2, G, U, S, D)

    def forward(self, hidden: Tensor, layer: int, context: ForwardContext) -> tuple[Tensor, Tensor | None]:
        """Hidden states (R * T, W) to the same, and the captured weights, (R, H, capture, S)."""
        assert context.source is not None
        queries = self.q_proj(hidden).view(context.rows, -1, self.heads, self.head_width)  # (R, T, H, D)
        queries = queries.transpose(1, 2)  # (R, H, T, D)
        keys, values = (part.transpose(0, 1) for part in context.source.keys_values(layer))  # (R or 1, G, S, D) each
        if len(keys) < context.rows:
            keys, values = (part.expand(context.rows, -1, -1, -1) for part in (keys, values))  # (R, G, S, D) each
        mask = context.source.attention_mask
        mixed, weights = attend(queries, keys, values, attention_mask=mask, causal=False, capture=context.capture)
        mixed = mixed.transpose(1, 2).reshape(len(hidden), -1)  # (R * T, H * D)
        return self.o_proj(mixed), weights
