"""Turns the sizes of a model, as a GGUF file names them, into the values that its `config.json` would hold.

llama.cpp names the keys in the same way for all families. As in `model.huggingface.conversion`, a file with a key that
is unknown here is never run as a model that it only resembles.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

import numpy as np

from model.errors import AttendError
from model.gguf.dequantize import read_tensor
from model.gguf.header import GgufHeader

ROPE_FACTORS = "rope_freqs.weight"  # Llama 3.1 divides the frequency of each pair of dimensions by these

_ROTARY = MappingProxyType(  # key of a file, after the name of its architecture → field of config.json
    {
        "context_length": "max_position_embeddings",
        "embedding_length": "hidden_size",
        "block_count": "num_hidden_layers",
        "feed_forward_length": "intermediate_size",
        "attention.head_count": "num_attention_heads",
        "attention.head_count_kv": "num_key_value_heads",
        "attention.layer_norm_rms_epsilon": "rms_norm_eps",
        "rope.freq_base": "rope_theta",
    }
)
_LEARNED = MappingProxyType(
    {
        "context_length": "n_positions",
        "embedding_length": "n_embd",
        "block_count": "n_layer",
        "feed_forward_length": "n_inner",
        "attention.head_count": "n_head",
        "attention.layer_norm_epsilon": "layer_norm_epsilon",
    }
)
# Mistral, SmolLM and many others call themselves llama.
_FAMILIES = MappingProxyType({"llama": _ROTARY, "qwen2": _ROTARY, "qwen3": _ROTARY, "gpt2": _LEARNED})

_OPTIONAL = frozenset({"attention.head_count_kv", "rope.freq_base"})  # keys that llama.cpp can do without
_BY_LAYER = ("attention.head_count", "attention.head_count_kv", "feed_forward_length")  # may be lists, one value each
_WIDTHS = frozenset({"attention.key_length", "attention.value_length", "rope.dimension_count"})
_WITHOUT_EFFECT = frozenset({"vocab_size", "tensor_data_layout"})  # the first is counted in the weights
_ABSENT = {"expert_count": 0, "expert_used_count": 0, "attention.causal": True}  # values that change nothing

_LONGEST_CONTEXT = 1 << 21  # tokens; a table of rotations is computed for each

# The values in the config.json of Llama 3.1, 3.2 and 3.3; a file only holds the factors that follow from them.
_LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}


def config_values(header: GgufHeader, name: str) -> dict[str, Any]:
    """The values of the `config.json` that the model had before it became a GGUF file.

    Args:
        name: what messages call the model.

    Raises `AttendError` for a model with a part that is unknown here. `check_architecture` comes before, and
    `model.gguf.dequantize.check_quantizations`.
    """
    architecture = header.architecture
    fields = _FAMILIES[architecture]
    prefix = f"{architecture}."
    keys = {key.removeprefix(prefix): value for key, value in header.metadata.items() if key.startswith(prefix)}
    for key in _BY_LAYER:
        if isinstance(listed := keys.get(key), list) and listed:
            if any(value != listed[0] for value in listed):
                raise unknown_part(name, f"its layers differ ({prefix}{key} is {listed[:9]!r:.80})")
            keys[key] = listed[0]
    for key in (fields.keys() | _WIDTHS) & keys.keys():
        if type(keys[key]) not in (int, float) or not keys[key] > 0:
            raise unknown_part(name, f"its {prefix}{key} is {keys[key]!r:.80}")
    if missing := sorted(fields.keys() - _OPTIONAL - keys.keys()):
        raise unknown_part(name, f"it has no {prefix}{missing[0]}")
    layers, context = keys["block_count"], keys["context_length"]
    if layers > len(header.tensors) or context > _LONGEST_CONTEXT:  # refused before anything is built of them
        raise AttendError(
            f"{name} claims {layers:,} layers and a context of {context:,} tokens, which no model of its size has: "
            "download it again, or choose another file."
        )
    values: dict[str, Any] = {
        "model_type": architecture,
        "tie_word_embeddings": "output.weight" not in header.tensors,
        **{field: keys.pop(key) for key, field in fields.items() if key in keys},
    }
    if "token_embd.weight" in header.tensors:
        values["vocab_size"] = header.tensors["token_embd.weight"].shape[0]
    if fields is _ROTARY:  # llama.cpp has other defaults for absent keys than the family's config class
        values = {"num_key_value_heads": values["num_attention_heads"], "rope_theta": 10_000.0} | values
        values |= _heads(header, keys, name, values)
        values |= _rotation(header, keys, name, values)  # the width of a head is known by now
    for key, value in keys.items():
        if key not in _WITHOUT_EFFECT and _ABSENT.get(key) != value:
            raise unknown_part(name, f"its {prefix}{key[:80]} is {value!r:.80}")
    _check_widths(header, values, name)
    return values


def _check_widths(header: GgufHeader, values: dict[str, Any], name: str) -> None:
    """Refuse widths that are not those of the weights: a model of strange sizes is never built."""
    width, heads = values.get("hidden_size"), values.get("num_attention_heads")
    claimed = {  # tensor → (dimension, its size)
        "token_embd.weight": (-1, values.get("n_embd", width)),
        "blk.0.ffn_up.weight": (0, values.get("n_inner", values.get("intermediate_size"))),
        "blk.0.attn_output.weight": (-1, heads and values.get("head_dim", 0) * heads),
    }
    for tensor, (dimension, size) in claimed.items():
        if size and tensor in header.tensors and (shape := header.tensors[tensor].shape)[dimension] != size:
            raise AttendError(
                f"The header and the weights of {name} belong to different models ({tensor} is "
                f"{' × '.join(map(str, shape))}, not {size:,} wide): download it again, or choose another file."
            )


def check_architecture(architecture: str, name: str) -> None:
    """Raise `AttendError` for an architecture, as llama.cpp names it, that is unknown here."""
    if architecture not in _FAMILIES:
        raise AttendError(
            f"{name} is a GGUF file of the architecture {architecture[:80]!r}, and only {', '.join(_FAMILIES)} can be "
            "run from one: choose another model, or its checkpoint with safetensors."
        )


def unknown_part(name: str, reason: str) -> AttendError:
    """The refusal of a model with a part that Attend does not have; `reason` is the middle of a sentence."""
    return AttendError(
        f"{name} can't run as Attend's own transformer, since {reason}: choose another model, or its checkpoint with "
        "safetensors."
    )


def _heads(header: GgufHeader, keys: dict[str, Any], name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Widths, windows and biases of the attention; takes the keys that it knows."""
    width = keys.pop("attention.key_length", values["hidden_size"] // values["num_attention_heads"])
    if (rotated := keys.pop("rope.dimension_count", width)) != width:
        raise unknown_part(name, f"{rotated} of the {width} dimensions of each head are rotated")
    if (value_width := keys.pop("attention.value_length", width)) != width:
        raise unknown_part(name, f"its keys have {width} dimensions, but its values {value_width}")
    fields: dict[str, Any] = {"head_dim": width}
    if header.architecture == "llama":
        if window := keys.pop("attention.sliding_window", None):
            return fields | {"model_type": "mistral", "sliding_window": window}
        biases = {"attention_bias": "blk.0.attn_q.bias", "mlp_bias": "blk.0.ffn_up.bias"}
        fields |= {field: tensor in header.tensors for field, tensor in biases.items()}
    return fields


def _rotation(header: GgufHeader, keys: dict[str, Any], name: str, values: dict[str, Any]) -> dict[str, Any]:
    """How positions are scaled; takes the keys that it knows."""
    for without_effect in ("original_context_length", "finetuned"):  # on these kinds of scaling
        keys.pop(f"rope.scaling.{without_effect}", None)
    factor = keys.pop("rope.scaling.factor", None)
    kind = keys.pop("rope.scaling.type", "linear")  # as in llama.cpp
    if kind == "none" or (kind == "linear" and not factor):
        return {"rope_scaling": _llama3(header, name, values)} if ROPE_FACTORS in header.tensors else {}
    if kind != "linear" or ROPE_FACTORS in header.tensors:
        raise unknown_part(name, f"its positions are scaled as {kind!r:.40}")
    return {"rope_scaling": {"rope_type": "linear", "factor": factor}}


def _llama3(header: GgufHeader, name: str, values: dict[str, Any]) -> dict[str, Any] | None:
    """Llama 3's scaling, from its factors: only the largest, that of slow rotations, differs between models.

    The formula is the one of transformers (`_compute_llama3_parameters`) and of llama.cpp's converter.
    """
    stored = read_tensor(header, ROPE_FACTORS).ravel()  # (D / 2,)
    factor = float(stored.max())
    low, high, original = _LLAMA3.values()
    turns = original * values["rope_theta"] ** -(np.arange(stored.size) / stored.size) / (2 * math.pi)
    share = np.clip((turns - low) / (high - low), 0, 1)
    if stored.size != values["head_dim"] / 2 or not np.allclose(stored, 1 / ((1 - share) / factor + share), rtol=1e-3):
        raise unknown_part(name, "its rotations are scaled by factors that are not Llama 3's")
    return {"rope_type": "llama3", "factor": factor, **_LLAMA3} if factor > 1 else None
