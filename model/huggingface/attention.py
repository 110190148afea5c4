"""Captures the attention of models of transformers.

No model is copied or changed for it: all are loaded with one attention function of ours, which runs the fused kernel,
and the family's own explicit softmax only while a pass of this thread asks for weights (a context variable says so).

Shapes: R rows, T tokens fed in this pass, K keys (all tokens so far), H query heads, G key/value heads, D head width.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, eager_mask, sdpa_mask
from transformers.modeling_utils import AttentionInterface

ATTENTION = "attend"  # the name under which transformers knows our attention function
_EAGER_ONLY = {"bloom", "falcon"}  # families that take no attention function, and return their weights themselves

# Where the weights of the passes of this thread go, the last `queries` of each; None: nothing is captured.
_capture: ContextVar[_Captured | None] = ContextVar("capture", default=None)


@dataclass(slots=True)
class _Captured:
    queries: int
    weights: list[Tensor]  # of each layer, (R, H, queries, K)


def _explicit(config: Any) -> bool:
    """Whether the fused kernel cannot do what this family's softmax does."""
    return _capture.get() is not None or getattr(config, "attn_logit_softcapping", None) is not None


def _attend(module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **options: Any) -> Any:
    """The attention function of every layer.

    Queries (R, H, T, D), keys and values (R, G, K, D) to outputs (R, T, H, D) and, where captured, weights.
    """
    if not _explicit(getattr(module, "config", None)):
        return sdpa_attention_forward(module, query, key, value, mask, **options)
    family = sys.modules[type(module).__module__]
    output, weights = family.eager_attention_forward(module, query, key, value, mask, **options)
    captured = _capture.get()
    if captured is not None:
        captured.weights.append(weights[:, :, -captured.queries :])
    return output, weights


def _mask(*arguments: Any, config: Any, **options: Any) -> Tensor | None:
    """A mask as the kernel that will run reads it."""
    return (eager_mask if _explicit(config) else sdpa_mask)(*arguments, config=config, **options)


AttentionInterface.register(ATTENTION, _attend)
AttentionMaskInterface.register(ATTENTION, _mask)


@contextmanager
def capturing(queries: int) -> Iterator[list[Tensor]]:
    """Within it, each layer's weights of the last `queries` queries are gathered; none for 0."""
    captured = _Captured(queries, [])
    token = _capture.set(captured if queries else None)
    try:
        yield captured.weights
    finally:
        _capture.reset(token)


def attention_for(model_type: str) -> str:
    """The attention implementation to load a model of this kind with."""
    return "eager" if model_type in _EAGER_ONLY else ATTENTION


def forward_with_attention(hf_model: Any, queries: int, **inputs: Any) -> tuple[Any, list[Tensor]]:
    """Run a model.

    Returns:
        Its output, and each attention layer's weights of the last `queries` queries, (R, H, queries, K), in the order
        in which the layers ran; none for 0.
    """
    if not queries or hf_model.config._attn_implementation == ATTENTION:
        with capturing(queries) as weights:
            return hf_model(**inputs), weights
    answer = hf_model(**inputs, output_attentions=True)
    return answer, [layer[:, :, -queries:] for layer in answer.attentions]


def stacked(weights: Sequence[Tensor], keys: int) -> Tensor:
    """(R, layers, H, queries, K); a layer with a sliding window has weight 0 before it."""
    padded = [functional.pad(layer, (keys - layer.shape[-1], 0)) for layer in weights]
    return torch.stack([layer.to(padded[0].device, torch.float32) for layer in padded], dim=1)
