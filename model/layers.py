"""The parts of a transformer: positions, norms, attention, feed-forward, and the block that joins them.

Shapes: R rows, T tokens fed in this pass, K keys (all tokens so far), U sources of S tokens each, padding
included, H query heads, G key/value heads, D head width, W model width, F feed-forward width. The parts know nothing of
vocabularies, caches' insides or decoding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.cache import KeyValueCache
from model.config import Activation, RotaryScaling, TransformerConfig
from model.source import KeysValues, Source

_SHORT = 32  # tokens; the fused kernel is made for long texts, and 30 times slower than plain products on short ones


def sinusoids(length: int, width: int) -> Tensor:
    """Sinusoidal positions (Vaswani et al., 2017, section 3.5): sine in even columns, cosine in odd; (length, W)."""
    angles = torch.arange(length)[:, None].float() * _frequencies(width, 10_000.0)  # (length, W / 2)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, :width]  # (length, W)


def rotary_tables(
    length: int, head_width: int, base: float, scaling: RotaryScaling | None = None
) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the rotary angles (Su et al., 2021), each (length, D), in half-split order as Llama's.

    The first half of the sines is negative: a pair (x, y) turns into (x cos - y sin, y cos + x sin).
    """
    frequencies = _frequencies(head_width, base)  # (D / 2,)
    if scaling is not None:
        frequencies = _scaled(frequencies, scaling)
    angles = torch.arange(length)[:, None].float() * frequencies  # (length, D / 2)
    cosines, sines = angles.cos(), angles.sin()
    return torch.cat((cosines, cosines), dim=-1), torch.cat((-sines, sines), dim=-1)  # (length, D) each


def _frequencies(width: int, base: float) -> Tensor:
    return base ** -(torch.arange(0, width, 2) / width).float()  # (width / 2,) radians a position


def _scaled(frequencies: Tensor, scaling: RotaryScaling) -> Tensor:
    """See `RotaryScaling`."""
    divided = frequencies / scaling.factor
    if scaling.kind == "linear":
        return divided
    turns = scaling.original_context * frequencies / (2 * math.pi)  # in the context first trained on
    low, high = scaling.low_frequency_factor, scaling.high_frequency_factor
    kept = ((turns - low) / (high - low)).clamp(0, 1)  # 0: divided, 1: kept
    return (1 - kept) * divided + kept * frequencies


def rotate(heads: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Turn each pair (i, i + D/2) of every head by its angle; heads (R, T, H, D), tables (R or 1, T, 1, D)."""
    partners = heads.roll(heads.shape[-1] // 2, dims=-1)  # (R, T, H, D), each number's other of the pair in its place
    return torch.addcmul(heads * cosines, partners, sines)  # (R, T, H, D)


def attend(
    queries: Tensor, keys: Tensor, values: Tensor, *, visible: Tensor | None, causal: bool, capture: int
) -> tuple[Tensor, Tensor | None]:
    """Scaled dot-product attention: the output, and the weights of the last `capture` queries (None for 0).

    Args:
        queries: (R, H, T, D).
        keys, values: (R, G, K, D); each of the G heads serves H / G query heads.
        visible: boolean, broadcastable to (R, 1, T, K), True where a query may look; None for everywhere.
        causal: the T queries are the last of the K tokens and must not look ahead; then `visible` is None.
        capture: how many of the last queries' weights to return.

    Returns:
        Output (R, H, T, D) and weights (R, H, capture, K).

    A single query, or a short text, is so cheap that its weights are always computed and used; others run through the
    fused kernel, and the weights asked for are computed beside it. Either way, asking for them changes no bit of the
    output.
    """
    length, tokens = queries.shape[2], keys.shape[2]
    if length == 1:
        weights = attention_weights(queries, keys, visible)  # (R, H, 1, K)
        return _weighted_sum(weights, values), weights if capture else None
    if causal:
        visible = torch.ones(length, tokens, dtype=torch.bool, device=keys.device).tril(tokens - length)  # (T, K)
    if tokens <= _SHORT:
        weights = attention_weights(queries, keys, visible)  # (R, H, T, K)
        return _weighted_sum(weights, values), weights[:, :, -capture:] if capture else None
    square = causal and length == tokens  # the kernel's own causal mask is faster, but right for these alone
    groups = queries.shape[1] // keys.shape[1]
    keys_of_all, values_of_all = _repeat(keys, groups), _repeat(values, groups)  # (R, H, K, D) each
    output = functional.scaled_dot_product_attention(
        queries, keys_of_all, values_of_all, attn_mask=None if square else visible, is_causal=square
    )  # (R, H, T, D)
    if not capture:
        return output, None
    if visible is not None:
        visible = visible[..., -capture:, :]
    return output, attention_weights(queries[:, :, -capture:], keys, visible)


def attention_weights(queries: Tensor, keys: Tensor, visible: Tensor | None) -> Tensor:
    """softmax(q k / sqrt(D)) over the keys that may be seen, written out; (R, H, T, K)."""
    rows, heads, length, width = queries.shape
    key_heads = keys.shape[1]
    grouped = queries.reshape(rows, key_heads, heads // key_heads * length, width)  # (R, G, H / G * T, D)
    scores = (grouped * width**-0.5) @ keys.transpose(2, 3)  # (R, G, H / G * T, K)
    scores = scores.view(rows, heads, length, -1)  # (R, H, T, K)
    if visible is not None:
        scores = scores.masked_fill(~visible, -math.inf)
    return scores.softmax(dim=-1)  # (R, H, T, K)


def _weighted_sum(weights: Tensor, values: Tensor) -> Tensor:
    rows, heads, length, keys = weights.shape
    value_heads = values.shape[1]
    grouped = weights.reshape(rows, value_heads, heads // value_heads * length, keys)  # (R, G, H / G * T, K)
    return (grouped @ values).view(rows, heads, length, -1)  # (R, H, T, D)


def _repeat(heads: Tensor, groups: int) -> Tensor:
    return heads if groups == 1 else heads.repeat_interleave(groups, dim=1)  # (R, H, K, D)


class Weights(NamedTuple):
    """Of one layer, what was asked for of its attention."""

    own: Tensor | None = None  # (R, H, capture, K), to the text itself
    cross: Tensor | None = None  # (R, H, capture, S), to the source


@dataclass(frozen=True, slots=True)
class Pass:
    """What all layers share in one pass over R rows of T tokens, whose hidden states are one flat (R * T, W)."""

    rows: int
    rotary: tuple[Tensor, Tensor] | None = None  # cosines and sines, (R or 1, T, 1, D) each
    visible: Tensor | None = None  # boolean, broadcastable to (R, 1, T, K); None: everything that `causal` allows
    causal: bool = True  # no token looks ahead; only an encoder's do
    cache: KeyValueCache | None = None  # where the keys before these tokens are; None: there are none
    source: Source | None = None  # what a decoder with cross-attention looks up
    capture: int = 0  # how many of the last queries' attention weights to return


class SelfAttention(nn.Module):
    """Every token looks at itself and at the tokens before it or, in an encoder, at all of its text."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.heads, self.key_value_heads, self.head_width = config.heads, config.key_value_heads, config.head_width
        mixed, shared = config.heads * config.head_width, config.key_value_heads * config.head_width
        # One product instead of three.
        self.queries_keys_values = nn.Linear(config.width, mixed + 2 * shared, bias=config.biases != "none")
        self.output = nn.Linear(mixed, config.width, bias=config.biases == "all")
        self.query_norm, self.key_norm = (
            nn.RMSNorm(config.head_width, config.norm_epsilon) if config.query_key_norm else None for _ in range(2)
        )

    def forward(self, hidden: Tensor, layer: int, shared: Pass) -> tuple[Tensor, Tensor | None]:
        """Hidden states (R * T, W) to the same, and the weights that were asked for, (R, H, capture, K)."""
        rows, length = shared.rows, hidden.shape[0] // shared.rows
        joint = self.queries_keys_values(hidden).view(rows, length, -1, self.head_width)  # (R, T, H + 2G, D)
        queries, keys, values = joint.split((self.heads, self.key_value_heads, self.key_value_heads), dim=2)
        if self.query_norm is not None and self.key_norm is not None:
            queries, keys = self.query_norm(queries), self.key_norm(keys)
        if shared.rotary is not None:
            queries, keys = rotate(queries, *shared.rotary), rotate(keys, *shared.rotary)
        queries, keys, values = (part.transpose(1, 2) for part in (queries, keys, values))  # (R, H or G, T, D)
        if shared.cache is not None:
            shared.cache.write(layer, keys.transpose(0, 1), values.transpose(0, 1))
            keys, values = (part.transpose(0, 1) for part in shared.cache.whole(layer))  # (R, G, K, D) each
        causal = shared.causal and shared.visible is None and length > 1
        mixed, weights = attend(queries, keys, values, visible=shared.visible, causal=causal, capture=shared.capture)
        mixed = mixed.transpose(1, 2).reshape(rows * length, -1)  # (R * T, W)
        return self.output(mixed), weights


class CrossAttention(nn.Module):
    """Every token of a decoder looks at the encoder's source, which has the same keys and values in every pass."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.heads, self.key_value_heads, self.head_width = config.heads, config.key_value_heads, config.head_width
        mixed, shared = config.heads * config.head_width, config.key_value_heads * config.head_width
        self.queries = nn.Linear(config.width, mixed, bias=config.biases != "none")
        self.keys_values = nn.Linear(config.width, 2 * shared, bias=config.biases != "none")
        self.output = nn.Linear(mixed, config.width, bias=config.biases == "all")

    def look_up(self, encoded: Tensor) -> KeysValues:
        """Keys and values of sources' hidden states (U, S, W), (G, U, S, D) each."""
        joint = self.keys_values(encoded).unflatten(-1, (2 * self.key_value_heads, -1))  # (U, S, 2G, D)
        return KeysValues(*joint.permute(2, 0, 1, 3).chunk(2, dim=0))  # (G, U, S, D) each

    def forward(self, hidden: Tensor, layer: int, shared: Pass) -> tuple[Tensor, Tensor | None]:
        """Hidden states (R * T, W) to the same, and the weights that were asked for, (R, H, capture, S)."""
        assert shared.source is not None
        queries = self.queries(hidden).view(shared.rows, -1, self.heads, self.head_width)  # (R, T, H, D)
        queries = queries.transpose(1, 2)  # (R, H, T, D)
        keys, values = (part.transpose(0, 1) for part in shared.source.of(layer))  # (R or 1, G, S, D) each
        if len(keys) < shared.rows:
            keys, values = (part.expand(shared.rows, -1, -1, -1) for part in (keys, values))  # (R, G, S, D) each
        mixed, weights = attend(
            queries, keys, values, visible=shared.source.visible, causal=False, capture=shared.capture
        )
        mixed = mixed.transpose(1, 2).reshape(len(hidden), -1)  # (R * T, H * D)
        return self.output(mixed), weights


def swiglu(projected: Tensor) -> Tensor:
    """The gated activation of Shazeer, 2020 ("GLU Variants"): (…, 2F), the gate first, to (…, F)."""
    gate, up = projected.chunk(2, dim=-1)  # (…, F) each
    return functional.silu(gate) * up


ACTIVATIONS: Mapping[Activation, Callable[[Tensor], Tensor]] = MappingProxyType(
    {
        "relu": functional.relu,
        "gelu": functional.gelu,
        "gelu_tanh": partial(functional.gelu, approximate="tanh"),  # GPT-2's
        "swiglu": swiglu,
    }
)


class FeedForward(nn.Module):
    """Each token on its own: the up projection, the activation, the down projection.

    Checkpoints call the projections `wide` and `narrow`; under SwiGLU the first holds the gate's as well.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[config.activation]
        gates = 2 if config.activation == "swiglu" else 1
        self.wide = nn.Linear(config.width, gates * config.feed_forward_width, bias=config.biases == "all")
        self.narrow = nn.Linear(config.feed_forward_width, config.width, bias=config.biases == "all")

    def forward(self, hidden: Tensor) -> Tensor:
        return self.narrow(self.activation(self.wide(hidden)))


def make_norm(config: TransformerConfig) -> nn.Module:
    kind = nn.RMSNorm if config.norm == "rms" else nn.LayerNorm
    return kind(config.width, eps=config.norm_epsilon)


class Block(nn.Module):
    """Attention, then cross-attention where there is a source, then feed-forward, each added to the residual stream and
    normed before or after."""

    def __init__(self, config: TransformerConfig, *, reads_source: bool = False) -> None:
        super().__init__()
        self.before = config.norm_place == "before"
        self.attention_norm, self.attention = make_norm(config), SelfAttention(config)
        self.cross_norm, self.cross = (make_norm(config), CrossAttention(config)) if reads_source else (None, None)
        self.feed_forward_norm, self.feed_forward = make_norm(config), FeedForward(config)
        self.dropout = config.dropout

    def forward(self, hidden: Tensor, layer: int, shared: Pass) -> tuple[Tensor, Weights]:
        """Hidden states (R * T, W) to the same, and the weights that were asked for."""
        mixed, own = self.attention(self._given(hidden, self.attention_norm), layer, shared)
        hidden, cross = self._added(hidden, mixed, self.attention_norm), None
        if self.cross is not None and self.cross_norm is not None:
            mixed, cross = self.cross(self._given(hidden, self.cross_norm), layer, shared)
            hidden = self._added(hidden, mixed, self.cross_norm)
        mixed = self.feed_forward(self._given(hidden, self.feed_forward_norm))
        return self._added(hidden, mixed, self.feed_forward_norm), Weights(own, cross)

    def _given(self, hidden: Tensor, norm: nn.Module) -> Tensor:
        return norm(hidden) if self.before else hidden

    def _added(self, hidden: Tensor, mixed: Tensor, norm: nn.Module) -> Tensor:
        if self.training:
            mixed = functional.dropout(mixed, self.dropout)
        return hidden + mixed if self.before else norm(hidden + mixed)
