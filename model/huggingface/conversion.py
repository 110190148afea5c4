"""Checkpoints of other families as our own transformer: GPT-2, Llama (SmolLM too), Mistral, Qwen2 and Qwen3.

Reads a Hugging Face `config.json` and the weights' names. For a field that is absent, null or under an older name, the
family's config class in transformers gives the value. The config is then read field by field. If it has an unknown
field, or a value that our blocks do not support, its layout is unknown, and the model is never run as a similar one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

import torch
from torch import Tensor

from model.errors import AttendError
from model.huggingface.config_fields import Fields, Ignored, Unknown
from model.transformer.config import RotaryScaling, TransformerConfig

Weights = Callable[[Mapping[str, Tensor], TransformerConfig], dict[str, Tensor]]


@dataclass(frozen=True, slots=True)
class Layout:
    """A checkpoint of another family: what to build, and where each of our weights comes from."""

    config: TransformerConfig
    weights: Weights

    def for_weights(self, stored: Mapping[str, Tensor]) -> Self:
        """The layout of a checkpoint with these weights.

        As in transformers, a stored output matrix that differs from the embeddings is used, even if the config says
        that they are tied.
        """
        names = [name for name in stored if name.endswith((*EMBEDDINGS, OUTPUT))]
        if not self.config.tied_embeddings or len(names) != 2 or _equal(*(stored[name] for name in names)):
            return self
        return replace(self, config=replace(self.config, tied_embeddings=False))


EMBEDDINGS, OUTPUT = ("embed_tokens.weight", "wte.weight"), "lm_head.weight"  # names of the matrices that may be tied


def _equal(first: Tensor, second: Tensor) -> bool:
    """Whether two matrices are equal in the more precise of their types."""
    precision = torch.promote_types(first.dtype, second.dtype)
    return torch.equal(first.to(precision), second.to(precision))


class IgnoredField(str):
    """A reason for which there is no layout: a field that transformers ignores, too."""


def layout_of(values: Mapping[str, Any]) -> Layout | None:
    """The layout of a `config.json`; None if our transformer can't be exactly this model."""
    layout = layout_or_reason(values)
    return layout if isinstance(layout, Layout) else None


def layout_or_reason(values: Mapping[str, Any]) -> Layout | str:
    """The layout of a `config.json`, or which of its fields our transformer cannot follow, as part of a sentence."""
    family = _FAMILIES.get(kind := str(values.get("model_type"))[:80])
    if family is None:
        return f"its model_type is {kind!r}, not one of {', '.join(_FAMILIES)}"
    read, weights = family
    try:
        left = Fields(kind, values)
        config = read(left)
        left.nothing_left()
    except Ignored as error:
        return IgnoredField(_reason(values, str(error)))
    except Unknown as error:
        return _reason(values, str(error))
    except AttendError as error:
        return str(error).rstrip(".")
    except Exception as error:  # whatever the family's class raises for strange values
        reason = str(error).strip().rpartition("\n")[2].strip().rstrip(".")
        return f"its config.json can't be read ({reason[:200]})"
    return Layout(config, weights)


def _reason(values: Mapping[str, Any], name: str) -> str:
    return f"its {name} is {str(values[name])[:80]!r}" if name in values else f"it has no {name}"


def _gpt2(fields: Fields) -> TransformerConfig:
    fields.expect("scale_attn_weights", True)
    fields.expect("scale_attn_by_inverse_layer_idx", False)
    fields.expect("add_cross_attention", False)
    fields.expect("activation_function", "gelu_new")
    width, heads, inner = (fields.take(name) for name in ("n_embd", "n_head", "n_inner"))
    return TransformerConfig(
        vocabulary_size=fields.take("vocab_size"),
        context_length=fields.take("n_positions"),
        width=width,
        layers=fields.take("n_layer"),
        heads=heads,
        key_value_heads=heads,
        feed_forward_width=4 * width if inner is None else inner,
        positions="learned",
        norm="layer",
        activation="gelu_tanh",
        biases="all",
        tied_embeddings=fields.take("tie_word_embeddings"),
        norm_epsilon=fields.take("layer_norm_epsilon"),
    )


def _llama(fields: Fields) -> TransformerConfig:
    everywhere = fields.take("attention_bias")
    fields.expect("mlp_bias", everywhere)
    return _rotary(fields, biases="all" if everywhere else "none")


def _mistral(fields: Fields) -> TransformerConfig:
    window = fields.take("sliding_window")
    if window is not None and window < 1:  # no token would see anything
        raise Unknown("sliding_window")
    return _rotary(fields, sliding_window=window or 0)


def _qwen2(fields: Fields) -> TransformerConfig:
    _expect_full_attention(fields)
    fields.expect("use_mrope", False)  # Qwen2.5's own configs have it
    return _rotary(fields, biases="qkv")


def _qwen3(fields: Fields) -> TransformerConfig:
    _expect_full_attention(fields)
    fields.expect("attention_bias", False)
    return _rotary(fields, query_key_norm=True)


def _expect_full_attention(fields: Fields) -> None:
    """Refuse sliding windows that differ between layers, which our transformer lacks, unless they are switched off."""
    fields.expect("use_sliding_window", False)
    fields.take("sliding_window")
    if set(fields.take("layer_types")) != {"full_attention"}:
        raise Unknown("layer_types")


def _rotary(fields: Fields, **changes: Any) -> TransformerConfig:
    """The config of any descendant of Llama, whose own fields are `changes`."""
    fields.expect("hidden_act", "silu")
    fields.expect("rope_interleaved", False)
    width, heads = fields.take("hidden_size"), fields.take("num_attention_heads")
    head_width = fields.take("head_dim", width // heads)
    if not isinstance(head_width, int) or head_width < 1:
        raise Unknown("head_dim")
    base, scaling = _rotation(fields)
    return TransformerConfig(
        vocabulary_size=fields.take("vocab_size"),
        context_length=fields.take("max_position_embeddings"),
        width=width,
        layers=fields.take("num_hidden_layers"),
        heads=heads,
        head_width=head_width,
        key_value_heads=fields.take("num_key_value_heads"),
        feed_forward_width=fields.take("intermediate_size"),
        tied_embeddings=fields.take("tie_word_embeddings"),
        norm_epsilon=fields.take("rms_norm_eps"),
        rotary_base=base,
        rotary_scaling=scaling,
        **changes,
    )


def _rotation(fields: Fields) -> tuple[float, RotaryScaling | None]:
    """The base of the rotary wavelengths, and how they are scaled."""
    rotation = dict(fields.take("rope_parameters"))
    base, kind = rotation.pop("rope_theta", None), rotation.pop("rope_type", None)
    rotation.pop("type", None)  # as older checkpoints call the kind
    if kind == "default" and not rotation:
        return base, None
    if kind == "linear" and rotation.keys() == {"factor"}:
        return base, RotaryScaling("linear", rotation["factor"])
    if kind == "llama3" and rotation.keys() == _LLAMA3.keys():
        return base, RotaryScaling("llama3", **{_LLAMA3[name]: value for name, value in rotation.items()})
    raise Unknown("rope_parameters")


_LLAMA3 = {
    "factor": "factor",
    "low_freq_factor": "low_frequency_factor",
    "high_freq_factor": "high_frequency_factor",
    "original_max_position_embeddings": "original_context",
}


def _prefix(stored: Mapping[str, Tensor], prefix: str) -> str:
    """The prefix of all weights' names but the output matrix's; "" in checkpoints of a base model."""
    return prefix if any(name.startswith(prefix) for name in stored) else ""


def _embeddings(stored: Mapping[str, Tensor], name: str, config: TransformerConfig) -> tuple[Tensor, Tensor]:
    """The matrices of embeddings and output; if they are tied, whichever is stored."""
    if not config.tied_embeddings:
        return stored[name], stored[OUTPUT]
    tied = stored[name if name in stored or OUTPUT not in stored else OUTPUT]
    return tied, tied


def _gpt2_weights(stored: Mapping[str, Tensor], config: TransformerConfig) -> dict[str, Tensor]:
    """GPT-2 keeps its matrices transposed (inputs, outputs)."""
    prefix = _prefix(stored, "transformer.")
    embedding, output = _embeddings(stored, f"{prefix}wte.weight", config)
    weights = {
        "embedding.weight": embedding,
        "position_embedding.weight": stored[f"{prefix}wpe.weight"],
        "unembedding.weight": output,
        "final_norm.weight": stored[f"{prefix}ln_f.weight"],
        "final_norm.bias": stored[f"{prefix}ln_f.bias"],
    }
    renamed = {
        "attention_norm": "ln_1",
        "attention.qkv_proj": "attn.c_attn",
        "attention.o_proj": "attn.c_proj",
        "feed_forward_norm": "ln_2",
        "feed_forward.up_proj": "mlp.c_fc",
        "feed_forward.down_proj": "mlp.c_proj",
    }
    for layer in range(config.layers):
        for module, stored_name in renamed.items():
            for kind in ("weight", "bias"):
                tensor = stored[f"{prefix}h.{layer}.{stored_name}.{kind}"]
                weights[f"blocks.{layer}.{module}.{kind}"] = tensor.t() if tensor.dim() == 2 else tensor
    return weights


def _llama_weights(stored: Mapping[str, Tensor], config: TransformerConfig) -> dict[str, Tensor]:
    """Llama stores the matrices of queries, keys, values, gate and width separately."""
    prefix = _prefix(stored, "model.")
    embedding, output = _embeddings(stored, f"{prefix}embed_tokens.weight", config)
    weights = {
        "embedding.weight": embedding,
        "unembedding.weight": output,
        "final_norm.weight": stored[f"{prefix}norm.weight"],
    }
    renamed = {
        "attention_norm": ("input_layernorm",),
        "attention.qkv_proj": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
        "attention.o_proj": ("self_attn.o_proj",),
        "feed_forward_norm": ("post_attention_layernorm",),
        "feed_forward.up_proj": ("mlp.gate_proj", "mlp.up_proj"),
        "feed_forward.down_proj": ("mlp.down_proj",),
    }
    if config.query_key_norm:
        renamed |= {"attention.query_norm": ("self_attn.q_norm",), "attention.key_norm": ("self_attn.k_norm",)}
    for layer in range(config.layers):
        for module, stored_names in renamed.items():
            for kind in ("weight", "bias"):
                names = [f"{prefix}layers.{layer}.{part}.{kind}" for part in stored_names]
                if kind == "weight" or names[0] in stored:
                    weights[f"blocks.{layer}.{module}.{kind}"] = torch.cat([stored[name] for name in names])
    return weights


_FAMILIES: Mapping[str, tuple[Callable[[Fields], TransformerConfig], Weights]] = MappingProxyType(
    {
        "gpt2": (_gpt2, _gpt2_weights),
        "llama": (_llama, _llama_weights),
        "mistral": (_mistral, _llama_weights),
        "qwen2": (_qwen2, _llama_weights),
        "qwen3": (_qwen3, _llama_weights),
    }
)
