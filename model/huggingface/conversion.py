"""Checkpoints of other families as our own transformer: GPT-2, Llama (SmolLM too), Mistral, Qwen2 and Qwen3.

Reads a Hugging Face `config.json` and the weights' names; needs no transformers for it. A config is read field by
field. If it has an unknown field, or a value that our blocks do not support, its layout is unknown, and the model is
never run as a similar one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from model.errors import AttendError
from model.transformer.config import RotaryScaling, TransformerConfig

# Fields about training, other tasks or storage; none changes a logit.
_WITHOUT_EFFECT = frozenset(
    {
        "_model_name_or_path",
        "_name_or_path",
        "architectures",
        "attention_dropout",
        "attn_pdrop",
        "bos_token_id",
        "dtype",
        "embd_pdrop",
        "eos_token_id",
        "id2label",
        "initializer_range",
        "is_llama_config",
        "label2id",
        "max_window_layers",
        "model_type",
        "n_ctx",
        "output_attentions",
        "output_hidden_states",
        "pad_token_id",
        "pretraining_tp",
        "reorder_and_upcast_attn",
        "resid_pdrop",
        "return_dict",
        "summary_activation",
        "summary_first_dropout",
        "summary_proj_to_labels",
        "summary_type",
        "summary_use_proj",
        "task_specific_params",
        "torch_dtype",
        "transformers.js_config",
        "transformers_version",
        "unk_token_id",
        "use_cache",
    }
)

Weights = Callable[[Mapping[str, Tensor], TransformerConfig], dict[str, Tensor]]


class _Unknown(Exception):
    """The config is not of this layout."""


class _Fields:
    """The fields of a config, each to be taken once; what is left at the end is unknown."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._left = {name: value for name, value in values.items() if name not in _WITHOUT_EFFECT}

    def need(self, name: str) -> Any:
        """A value that the family cannot do without."""
        if self._left.get(name) is None:
            raise _Unknown(name)
        return self._left.pop(name)

    def take(self, name: str, default: Any) -> Any:
        """A value, or what the family takes where there is none."""
        value = self._left.pop(name, None)
        return default if value is None else value

    def expect(self, name: str, accepted: Any) -> None:
        """Only this value is ours; it is also the family's where there is none."""
        if self.take(name, accepted) != accepted:
            raise _Unknown(name)

    def nothing_left(self) -> None:
        if self._left:
            raise _Unknown(next(iter(self._left)))


@dataclass(frozen=True, slots=True)
class Layout:
    """A checkpoint of another family: what to build, and where each of our weights comes from."""

    config: TransformerConfig
    weights: Weights


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
    fields = _Fields(values)
    try:
        config = read(fields)
        fields.nothing_left()
    except _Unknown as error:
        name = str(error)
        return f"its {name} is {str(values[name])[:80]!r}" if name in values else f"it has no {name}"
    except AttendError as error:
        return str(error).rstrip(".")
    except (TypeError, ValueError, KeyError, OverflowError):  # strange values: for the adapter to explain
        return "its config.json holds a value of the wrong kind"
    return Layout(config, weights)


def _gpt2(fields: _Fields) -> TransformerConfig:
    fields.expect("scale_attn_weights", True)
    fields.expect("scale_attn_by_inverse_layer_idx", False)
    fields.expect("add_cross_attention", False)
    fields.expect("activation_function", "gelu_new")
    width, heads = fields.need("n_embd"), fields.need("n_head")
    return TransformerConfig(
        vocabulary_size=fields.need("vocab_size"),
        context_length=fields.need("n_positions"),
        width=width,
        layers=fields.need("n_layer"),
        heads=heads,
        key_value_heads=heads,
        feed_forward_width=fields.take("n_inner", 4 * width),
        positions="learned",
        norm="layer",
        activation="gelu_tanh",
        biases="all",
        tied_embeddings=fields.take("tie_word_embeddings", True),
        norm_epsilon=fields.need("layer_norm_epsilon"),
    )


def _llama(fields: _Fields) -> TransformerConfig:
    everywhere = fields.take("attention_bias", False)
    fields.expect("mlp_bias", everywhere)
    return _rotary(fields, biases="all" if everywhere else "none")


def _mistral(fields: _Fields) -> TransformerConfig:
    return _rotary(fields, sliding_window=fields.take("sliding_window", 0))


def _qwen2(fields: _Fields) -> TransformerConfig:
    _expect_full_attention(fields)
    return _rotary(fields, biases="qkv")


def _qwen3(fields: _Fields) -> TransformerConfig:
    _expect_full_attention(fields)
    fields.expect("attention_bias", False)
    return _rotary(fields, query_key_norm=True)


def _expect_full_attention(fields: _Fields) -> None:
    """Refuse sliding windows that differ between layers, which our transformer lacks, unless they are switched off."""
    fields.expect("use_sliding_window", False)
    fields.take("sliding_window", 0)
    if set(fields.take("layer_types", ["full_attention"])) != {"full_attention"}:
        raise _Unknown("layer_types")


def _rotary(fields: _Fields, **changes: Any) -> TransformerConfig:
    """What all descendants of Llama have in common."""
    fields.expect("hidden_act", "silu")
    fields.expect("rope_interleaved", False)
    heads = fields.need("num_attention_heads")
    base, scaling = _rotation(fields)
    return TransformerConfig(
        vocabulary_size=fields.need("vocab_size"),
        context_length=fields.need("max_position_embeddings"),
        width=fields.need("hidden_size"),
        layers=fields.need("num_hidden_layers"),
        heads=heads,
        head_width=fields.take("head_dim", 0),
        key_value_heads=fields.take("num_key_value_heads", heads),
        feed_forward_width=fields.need("intermediate_size"),
        tied_embeddings=fields.take("tie_word_embeddings", False),
        norm_epsilon=fields.need("rms_norm_eps"),
        rotary_base=base,
        rotary_scaling=scaling,
        **changes,
    )


def _rotation(fields: _Fields) -> tuple[float, RotaryScaling | None]:
    """Base and scaling; transformers 5 writes both as `rope_parameters`, older ones `rope_theta` and `rope_scaling`."""
    old = {"rope_theta": fields.take("rope_theta", 10_000.0), **fields.take("rope_scaling", {})}
    rotation = {**old, **fields.take("rope_parameters", {})}
    base = rotation.pop("rope_theta")
    kind = rotation.pop("rope_type", rotation.pop("type", "default"))
    if kind == "default" and not rotation:
        return base, None
    if kind == "linear" and rotation.keys() == {"factor"}:
        return base, RotaryScaling("linear", rotation["factor"])
    if kind == "llama3" and rotation.keys() == _LLAMA3.keys():
        return base, RotaryScaling("llama3", **{_LLAMA3[name]: value for name, value in rotation.items()})
    raise _Unknown("rope_scaling" if len(old) > 1 else "rope_parameters")


_LLAMA3 = {
    "factor": "factor",
    "low_freq_factor": "low_frequency_factor",
    "high_freq_factor": "high_frequency_factor",
    "original_max_position_embeddings": "original_context",
}


def _gpt2_weights(stored: Mapping[str, Tensor], config: TransformerConfig) -> dict[str, Tensor]:
    """GPT-2 keeps its matrices transposed (inputs, outputs), and older checkpoints leave the first name out."""
    prefix = "transformer." if "transformer.wte.weight" in stored else ""
    embedding = stored[f"{prefix}wte.weight"]
    weights = {
        "embedding.weight": embedding,
        "position_embedding.weight": stored[f"{prefix}wpe.weight"],
        "unembedding.weight": embedding if config.tied_embeddings else stored["lm_head.weight"],
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
    embedding = stored["model.embed_tokens.weight"]
    weights = {
        "embedding.weight": embedding,
        "unembedding.weight": embedding if config.tied_embeddings else stored["lm_head.weight"],
        "final_norm.weight": stored["model.norm.weight"],
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
                names = [f"model.layers.{layer}.{part}.{kind}" for part in stored_names]
                if kind == "weight" or names[0] in stored:
                    weights[f"blocks.{layer}.{module}.{kind}"] = torch.cat([stored[name] for name in names])
    return weights


_FAMILIES: Mapping[str, tuple[Callable[[_Fields], TransformerConfig], Weights]] = MappingProxyType(
    {
        "gpt2": (_gpt2, _gpt2_weights),
        "llama": (_llama, _llama_weights),
        "mistral": (_mistral, _llama_weights),
        "qwen2": (_qwen2, _llama_weights),
        "qwen3": (_qwen3, _llama_weights),
    }
)
