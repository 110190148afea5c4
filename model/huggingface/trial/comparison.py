"""Compares our own transformer with transformers itself on a checkpoint's config, before its weights are read.

What the fields of a config mean doesn't depend on its sizes. So a small model of the same config gets random weights
and reads two texts in both: a short one, and one that goes beyond the window, if it has one, and turns its slow
rotations. The window is small, too, so only its size in both configs is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import CONFIG_MAPPING, AutoConfig, AutoModelForCausalLM

from model.errors import AttendError
from model.huggingface.conversion import layout_or_reason
from model.huggingface.verify import tolerance
from model.transformer import checkpoint

_LENGTHS = (6, 400)  # tokens of the two texts
_WINDOW = 16
_MAX_HEADS = 512  # four times what the largest models have
_SIZES = {"vocab_size": 64, "num_hidden_layers": 2, "intermediate_size": 48, "head_dim": 16}
_HEAD_WIDTH = 8  # used if heads divide the model's width
_POSITIONS = 1 << 16  # in a table; the texts of the comparison are shorter


def check_native(values: Mapping[str, Any], name: str) -> None:
    """Raise `AttendError` for a config with which our own transformer doesn't compute what transformers does.

    Args:
        values: what `config.json` holds.
        name: what messages call the model.
    """
    if isinstance(whole := layout_or_reason(values), str) or whole.config.heads > _MAX_HEADS:
        return  # transformers runs it, or nothing does
    small, window = _small(values)
    layout = layout_or_reason(small)
    if isinstance(layout, str):
        return
    if whole.config.sliding_window != window:
        raise _differs(name, f"its window is {whole.config.sliding_window:,} instead of {window:,} tokens")
    hf_model: Any = AutoModelForCausalLM.from_config(AutoConfig.for_model(**small), attn_implementation="sdpa").eval()
    generator = torch.Generator().manual_seed(0)
    with torch.inference_mode():
        for parameter in hf_model.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, generator=generator) + 0.5 * (parameter.dim() == 1))
    stored = hf_model.state_dict()
    layout = layout.for_weights(stored)
    weights = layout.weights(stored, layout.config)
    if layout.config.tied_embeddings:
        del weights["unembedding.weight"]
    ours = checkpoint.from_weights(layout.config, weights, Path(name))
    for length in sorted({min(length, layout.config.context_length - 1) for length in _LENGTHS} - {0}):
        text = torch.randint(_SIZES["vocab_size"], (length + 1,), generator=generator)  # (T,)
        with torch.inference_mode():
            expected = hf_model(text[None], logits_to_keep=2).logits[0].float()  # (2, V)
        *prompt, last = text.tolist()
        forward = ours.prefill(prompt)
        actual = torch.cat([forward.logits, ours.step([last], forward.cache).logits])  # (2, V)
        difference = float((actual - expected).abs().max() / expected.std())
        if not difference <= tolerance(torch.float32):  # true for NaN
            raise _differs(name, f"its logits are off by up to {difference:.2g} standard deviations")


def _differs(name: str, how: str) -> AttendError:
    return AttendError(
        f"Attend's own transformer would run {name} differently from transformers ({how}): load it with --engine "
        "adapter."
    )


def _small(values: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """A config that only differs in sizes, and the window of the original one (0 for none).

    Absent fields stay absent, unless they are sizes of the whole model.
    """
    family = CONFIG_MAPPING[values["model_type"]]
    alias = family.attribute_map
    complete: Any = family(**{name: value for name, value in values.items() if name != "model_type"})
    kinds = getattr(complete, "layer_types", None) or ["sliding_attention"]
    window = (getattr(complete, "sliding_window", None) or 0) if "sliding_attention" in kinds else 0
    if window:
        values = {**values, "sliding_window": _WINDOW}
    sizes = {"hidden_size": _HEAD_WIDTH * complete.num_attention_heads, **_SIZES}
    optional = {"intermediate_size": "n_inner", "head_dim": "head_dim"}
    left_out = {*sizes, *alias, "dtype", "torch_dtype"}
    small = {name: value for name, value in values.items() if name not in left_out}
    for name, size in sizes.items():
        stored = optional[name] if name in optional and not hasattr(complete, name) else alias.get(name, name)
        if name not in optional or values.get(stored) is not None:
            small[stored] = size
    if "layer_types" in values:
        small["layer_types"] = list(values["layer_types"])[:2]
    positions = alias.get("max_position_embeddings", "max_position_embeddings")
    small[positions] = min(complete.max_position_embeddings, _POSITIONS)
    return small, window
