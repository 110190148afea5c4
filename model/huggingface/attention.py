"""Captures the attention of models of transformers.

Models are not copied. Families that accept an attention function get one of ours, which runs the fused kernel. It only
uses the family's explicit softmax while this thread asks for weights (as a context variable says), or if the fused
kernel does not support what that softmax does. Older families return their weights themselves.

Shapes: R rows, T tokens fed in this pass, K keys (all tokens so far), H query heads, G key/value heads, D head width.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, eager_mask, sdpa_mask
from transformers.modeling_utils import AttentionInterface

from model.errors import AttendError
from model.inspection.matching import note

# The names under which transformers knows our attention functions.
FUSED = "attend"  # the fused kernel, except while weights are captured
EXPLICIT = "attend_explicit"  # always the family's own softmax: it has sinks, or caps its scores
EAGER = "eager"  # the family's own function; its other ones compute the same

# Collects the weights of this thread's passes, for the last `queries` of each; None: nothing is captured.
_capture: ContextVar[_Captured | None] = ContextVar("capture", default=None)


@dataclass(slots=True)
class _Captured:
    queries: int
    weights: list[Tensor]  # one for each layer, (R, H, queries, K)
    latest: tuple[nn.Module, Tensor] | None = None  # the layer and the keys of the last weights


def _fused(module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Any, **options: Any) -> Any:
    """The attention function of every layer; see `_explicit`. Without capturing, it returns no weights."""
    attend = sdpa_attention_forward if _capture.get() is None else _explicit
    return attend(module, query, key, value, attention_mask, **options)


def _explicit(module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Any, **options: Any) -> Any:
    """Turn queries (R, H, T, D), keys and values (R, G, K, D) into outputs (R, T, H, D) and weights (R, H, T, K)."""
    family = sys.modules[type(module).__module__]
    output, weights = family.eager_attention_forward(module, query, key, value, attention_mask, **options)
    captured = _capture.get()
    # A layer that attends to both halves of its values with the same queries and keys has one set of weights.
    if captured is not None and not (captured.latest and captured.latest[0] is module and captured.latest[1] is key):
        last = weights[:, :, -captured.queries :]  # (R, H, queries, K)
        captured.weights.append(last if last.shape == weights.shape else last.clone())  # a view would keep the others
        captured.latest = module, key
        note(query, key, options.get("scaling") or query.shape[-1] ** -0.5)
    return output, weights


def _fused_mask(*arguments: Any, **options: Any) -> Tensor | None:
    """A mask in the form that the kernel will read."""
    return (sdpa_mask if _capture.get() is None else eager_mask)(*arguments, **options)


AttentionInterface.register(FUSED, _fused)
AttentionInterface.register(EXPLICIT, _explicit)
AttentionMaskInterface.register(FUSED, _fused_mask)
AttentionMaskInterface.register(EXPLICIT, eager_mask)


@contextmanager
def capturing(queries: int) -> Iterator[list[Tensor]]:
    """Capture each layer's weights of the last `queries` queries while the context is open; 0 captures none."""
    captured = _Captured(queries, [])
    token = _capture.set(captured if queries else None)
    try:
        yield captured.weights
    finally:
        _capture.reset(token)


def make_capturable(hf_model: PreTrainedModel) -> None:
    """Give a model that was loaded as `EAGER` our attention function, if its family takes one.

    A family that asks whether its attention is called "eager" would take ours for a kernel with another interface:
    DeepSeek V3.2 would ignore its indexer.
    """
    parts: list[Any] = [part for part in hf_model.modules() if isinstance(part, PreTrainedModel)]
    if all(part._can_set_attn_implementation() and not _asks_for_eager(type(part)) for part in parts):
        hf_model.set_attn_implementation(FUSED if all(part._supports_sdpa for part in parts) else EXPLICIT)


def _asks_for_eager(family: type) -> bool:
    return bool(
        re.search(
            r'_attn_implementation (==|!=|in|not in) .*"eager"', inspect.getsource(sys.modules[family.__module__])
        )
    )


@contextmanager
def without_us(hf_model: Any) -> Iterator[None]:
    """Let a model compute as transformers alone would while the context is open; not for use by two threads."""
    ours = hf_model.config._attn_implementation
    hf_model.set_attn_implementation(EAGER)
    try:
        yield
    finally:
        hf_model.set_attn_implementation(ours)


def forward_with_attention(hf_model: Any, queries: int, **inputs: Any) -> tuple[Any, list[Tensor]]:
    """Run a model.

    Returns:
        Its output, and each attention layer's weights of the last `queries` queries, (R, H, queries, K), in the order
        in which the layers ran; no weights for 0.

    Raises `AttendError` for a model that does not return its weights.
    """
    if not queries:
        return hf_model(**inputs), []
    if hf_model.config._attn_implementation in (FUSED, EXPLICIT):
        with capturing(queries) as weights:
            answer = hf_model(**inputs)
    else:
        answer = hf_model(**inputs, output_attentions=True)
        weights = [layer[:, :, -queries:] for layer in _returned(answer) if layer is not None]
    if not weights:
        raise AttendError("This model does not provide its attention: choose another model.")
    return answer, weights


def _returned(answer: Any) -> Sequence[Tensor | None]:
    """The weights of every layer as a family returns them, each followed by its cross-attention, if it has any."""
    if decoder := getattr(answer, "decoder_attentions", None):
        return [layer for both in zip(decoder, answer.cross_attentions, strict=True) for layer in both]
    return getattr(answer, "attentions", None) or ()


def stacked(weights: Sequence[Tensor], keys: int) -> Tensor:
    """(R, layers, H, queries, K); a layer with a sliding window has weight 0 before it.

    Raises `AttendError` for layers that do not fit on one map.
    """
    if len({layer.shape[1] for layer in weights}) > 1:
        raise AttendError(
            "The layers of this model differ in their number of heads, which Attend can't show: choose another model."
        )
    if any(layer.shape[-1] > keys for layer in weights):  # T5Gemma 2 attends to its text and its source together
        raise AttendError(
            "This model attends to more than one text at a time, which Attend can't show: choose another."
        )
    padded = [padded_left(layer, keys) for layer in weights]
    return torch.stack([layer.to(padded[0].device, torch.float32) for layer in padded], dim=1)


def padded_left(weights: Tensor, keys: int) -> Tensor:
    """Weights for so many keys (…, keys): 0 for keys before those that were attended to."""
    return functional.pad(weights, (keys - weights.shape[-1], 0))
