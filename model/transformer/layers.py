"""A block of a transformer: attention, feed-forward and their norms, joined by the residual stream.

Shapes: R rows, T tokens fed in this pass, W model width, F feed-forward width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from torch import Tensor, nn
from torch.nn import functional

from model.transformer.attention import AttentionWeights, CrossAttention, ForwardContext, SelfAttention
from model.transformer.config import Activation, TransformerConfig


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
    """The up projection, the activation and the down projection, applied to each token.

    With SwiGLU, the up projection also contains the gate, which comes first.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[config.activation]
        gates = 2 if config.activation == "swiglu" else 1
        self.up_proj = nn.Linear(config.width, gates * config.feed_forward_width, bias=config.biases == "all")
        self.down_proj = nn.Linear(config.feed_forward_width, config.width, bias=config.biases == "all")

    def forward(self, hidden: Tensor) -> Tensor:
        """(R * T, W) to the same."""
        return self.down_proj(self.activation(self.up_proj(hidden)))  # (R * T, F), then (R * T, W)


def make_norm(config: TransformerConfig) -> nn.Module:
    kind = nn.RMSNorm if config.norm == "rms" else nn.LayerNorm
    return kind(config.width, eps=config.norm_epsilon)


class Block(nn.Module):
    """Attention, then cross-attention where there is a source, then feed-forward, each added to the residual stream and
    normed before or after."""

    def __init__(self, config: TransformerConfig, *, cross_attention: bool = False) -> None:
        super().__init__()
        self.norm_first = config.norm_place == "before"
        self.attention_norm, self.attention = make_norm(config), SelfAttention(config)
        self.cross_norm, self.cross = (make_norm(config), CrossAttention(config)) if cross_attention else (None, None)
        self.feed_forward_norm, self.feed_forward = make_norm(config), FeedForward(config)
        self.dropout = config.dropout

    def forward(self, hidden: Tensor, layer: int, context: ForwardContext) -> tuple[Tensor, AttentionWeights]:
        """Hidden states (R * T, W) to the same, and the captured weights."""
        update, to_text = self.attention(self.normed(hidden, self.attention_norm), layer, context)
        hidden, to_source = self._add(hidden, update, self.attention_norm), None
        if self.cross is not None and self.cross_norm is not None:
            update, to_source = self.cross(self.normed(hidden, self.cross_norm), layer, context)
            hidden = self._add(hidden, update, self.cross_norm)
        update = self.feed_forward(self.normed(hidden, self.feed_forward_norm))
        return self._add(hidden, update, self.feed_forward_norm), AttentionWeights(to_text, to_source)

    def normed(self, hidden: Tensor, norm: nn.Module) -> Tensor:
        """The input of a sub-layer."""
        return norm(hidden) if self.norm_first else hidden

    def _add(self, hidden: Tensor, update: Tensor, norm: nn.Module) -> Tensor:
        """The residual stream after a sub-layer."""
        if self.training:
            update = functional.dropout(update, self.dropout)
        return hidden + update if self.norm_first else norm(hidden + update)
