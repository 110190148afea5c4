"""Finds the parts of a model of transformers in its tree of modules, and tries them out before they are used.

Families name and nest their modules in many ways, and some add, scale or norm where others don't. So parts are tried on
a few tokens, and refused if they don't add up to what the model computes.

Shapes: W model width, V vocabulary.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.errors import AttendError
from model.inspection.anatomy import Anatomy, Layer, SubLayer
from model.inspection.inspector import Inspector, Passes

_PROJECTIONS = ("o_proj", "c_proj", "out_proj", "dense", "o", "out_lin", "wo", "out", "attn_out")
_FEED_FORWARDS = ("mlp", "feed_forward", "ffn", "DenseReluDense", "block_sparse_moe", "moe", "feedforward", "ff")
_LAST = ("down_proj", "c_proj", "fc2", "dense_4h_to_h", "wo", "fc_out", "w2", "output_linear", "linear_2", "proj_out")
_NORMS_AFTER_WRITES = {  # of families that norm what a sub-layer writes, by the sub-layer
    "attention": ("post_self_attn_layernorm", "post_attention_layernorm", "post_attention_norm"),
    "feed_forward": ("post_mlp_layernorm", "post_feedforward_layernorm", "post_ffw_norm"),
}
_NORMS_AFTER_STREAM = {  # of families that norm the stream after each sub-layer, as in the 2017 paper
    "attention": ("self_attn_layer_norm",),
    "cross_attention": ("encoder_attn_layer_norm",),
    "feed_forward": ("final_layer_norm",),
}
_FINAL_NORMS = (
    *("norm", "ln_f", "final_layer_norm", "final_layernorm", "final_norm", "norm_f", "embedding_norm", "layer_norm"),
    *("layernorm", "output_layernorm"),
)
_HEAD_COUNTS = ("num_attention_heads", "decoder_attention_heads", "num_heads", "n_head", "n_heads")
_TRIED = (1, 2, 3, 4, 5)  # ids that every vocabulary has
_TOLERANCE = 1e-3  # of the largest logit


def final_norm(hf_model: Any) -> nn.Module | None:
    """The norm after the last layer, or None if the model does not expose it."""
    decoder = hf_model.get_decoder()
    norm = next((getattr(decoder, name) for name in _FINAL_NORMS if getattr(decoder, name, None) is not None), None)
    return norm if isinstance(norm, nn.Module) else None


def open_model(hf_model: Any, passes: Passes, *, source: bool, pads: bool) -> Inspector:
    """The model, opened.

    Args:
        source: whether the decoder reads an encoder.
        pads: as `Inspector` takes it.

    Raises `AttendError` for a model whose parts are not found, or do not add up to what it computes.
    """
    # T5 and its like scale the stream before the unembedding, or don't, by settings that each calls otherwise.
    weight = hf_model.get_input_embeddings().weight
    if weight.dtype != torch.float32:  # in 16 bits, sums are too rough to tell whether parts add up
        kind = str(weight.dtype).removeprefix("torch.")
        raise AttendError(
            f"Looking inside needs weights in float32, but this model's are in {kind}: load it in float32."
        )
    scales = (1.0, hf_model.get_output_embeddings().weight.shape[-1] ** -0.5)
    for norm_after, scale in itertools.product((False, True), scales):
        anatomy = None
        with suppress(AttributeError):  # a family that names or nests its parts otherwise
            anatomy = _anatomy(hf_model, norm_after=norm_after, scale=scale, source=source)
        if anatomy is not None and _holds(inspector := Inspector(anatomy, passes, pads=pads), source=source):
            return inspector
    raise AttendError(
        f"The parts of this model ({hf_model.config.model_type}) don't add up as Attend knows them, so it can't be "
        "opened: choose another model."
    )


def _holds(inspector: Inspector, *, source: bool) -> bool:
    """Whether the parts are those of the model: what leaves its last layer gives its logits, and it attends with as
    many heads in every layer."""
    anatomy = inspector.anatomy
    try:
        inside = inspector.inspect(_TRIED, source=_TRIED if source else ())
    except (AttendError, LookupError, RuntimeError, TypeError, ValueError, AttributeError):
        return False  # for example, because a hook never ran
    if inside.attention.decoder.shape[1:3] != (len(anatomy.layers), anatomy.heads):  # some layers are recurrent
        return False
    with torch.inference_mode():
        read = anatomy.logits(inside.streams[-1, -1])  # (T, V)
    return bool((read - inside.logits).abs().max() <= _TOLERANCE * inside.logits.abs().max())


def _anatomy(hf_model: Any, *, norm_after: bool, scale: float, source: bool) -> Anatomy | None:
    decoder = hf_model.get_decoder()
    blocks = _blocks(decoder)
    layers = [_layer(block, norm_after=norm_after, source=source) for block in blocks]
    norm = nn.Identity() if norm_after else final_norm(hf_model)
    head = hf_model.get_output_embeddings()
    if not layers or norm is None or head is None or any(layer is None for layer in layers):
        return None
    config = hf_model.config.get_text_config(decoder=True)
    counts = (getattr(config, name, None) for name in _HEAD_COUNTS)
    heads = next((count for count in counts if isinstance(count, int)), 0)
    if not heads:
        return None
    embedded = hf_model.get_encoder() if source else hf_model
    if not hasattr(embedded, "get_input_embeddings"):
        return None
    return Anatomy(
        tuple(layer for layer in layers if layer is not None),
        heads=heads,
        embedding=embedded.get_input_embeddings(),
        final_norm=norm,
        unembedding=head,
        unembed=_Unembedding(hf_model, head, scale),
        write_scale=float(getattr(config, "residual_multiplier", 1.0) or 1.0),
    )


def _blocks(decoder: nn.Module) -> list[nn.Module]:
    """The layers of a decoder: its longest list of modules, outermost first."""
    lists = [module for module in decoder.modules() if isinstance(module, nn.ModuleList)]
    return [*max(lists, key=len)] if lists else []


def _layer(block: nn.Module, *, norm_after: bool, source: bool) -> Layer | None:
    attention, cross = None, None
    for name, module in block.named_modules():
        projection = _child(module, _PROJECTIONS)
        called = f"{name} {type(module).__name__}".lower()
        if projection is None or ("attention" not in called and "attn" not in called):
            continue
        if "cross" in called or "encoder_attn" in called or "encdec" in called:
            cross = cross or projection
        else:
            attention = attention or projection
    feed_forward = _feed_forward(block)
    if attention is None or feed_forward is None or (source and cross is None):
        return None
    modules: dict[str, nn.Module] = {"attention": attention}
    if source and cross is not None:
        modules["cross_attention"] = cross
    modules["feed_forward"] = feed_forward
    norms = _NORMS_AFTER_STREAM if norm_after else {}
    written = _NORMS_AFTER_WRITES if _child(block, _NORMS_AFTER_WRITES["feed_forward"]) is not None else {}
    sublayers = []
    for name, module in modules.items():
        norm = _child(block, norms.get(name, ()))
        if norm_after and norm is None:
            return None
        write = _child(block, written.get(name, ())) or module
        sublayers.append(SubLayer(name, write, None if name == "feed_forward" else module, norm))  # type: ignore[arg-type]
    return Layer(block, tuple(sublayers))


def _feed_forward(block: nn.Module) -> nn.Module | None:
    """The last linear layer of a block's feed-forward part; all of the part if it has experts."""
    named = ((path.rpartition(".")[2], module) for path, module in block.named_modules())
    part = next((module for name, module in named if name in _FEED_FORWARDS), None)
    return _child(block, ("fc2",)) if part is None else _child(part, _LAST) or part


def _child(module: nn.Module, names: tuple[str, ...]) -> nn.Module | None:
    children = dict(module.named_children())
    return next((children[name] for name in names if name in children), None)


class _Unembedding:
    """Logits of a part of the vocabulary from the normed stream, as a family computes them: (..., W) to (..., V)."""

    def __init__(self, hf_model: Any, head: Any, before: float) -> None:
        """
        Args:
            before: the factor of the stream.
        """
        config: Any = hf_model.config.get_text_config(decoder=True)
        self._head, self._before = head, before
        self._bias = getattr(hf_model, "final_logits_bias", None)
        self._project = getattr(hf_model.get_decoder(), "project_out", None)  # of OPT-350m
        self._scale = float(getattr(config, "logit_scale", None) or 1.0)
        self._scale /= float(getattr(config, "logits_scaling", None) or 1.0)
        self._cap = getattr(config, "final_logit_softcapping", None)

    def __call__(self, hidden: Tensor, part: slice) -> Tensor:
        if self._project is not None:
            hidden = self._project(hidden)
        hidden = (hidden * self._before).to(self._head.weight.dtype)
        if type(self._head) is nn.Linear and self._head.weight.device == hidden.device:
            bias = None if self._head.bias is None else self._head.bias[part]
            logits = functional.linear(hidden, self._head.weight[part], bias) * self._scale
        else:
            logits = self._head(hidden)[..., part] * self._scale
        if self._bias is not None:
            logits = logits + self._bias[0, part]
        return logits if not self._cap else self._cap * torch.tanh(logits / self._cap)
