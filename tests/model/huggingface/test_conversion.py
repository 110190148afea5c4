"""Checkpoints in other families' layouts run as our own transformer, held against transformers' on random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from model.compiled.prepare import prepare_for_decoding
from model.huggingface.conversion import layout_of
from model.interface import Want
from model.transformer.decoder import Transformer

SIZES: dict[str, Any] = {
    "vocab_size": 60,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 40,
    "rms_norm_eps": 1e-5,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
GPT2: dict[str, Any] = {"vocab_size": 60, "n_positions": 40, "n_embd": 32, "n_layer": 2, "n_head": 4}

MODELS = {
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(**GPT2)),
    "gpt2-untied-narrow": lambda: GPT2LMHeadModel(GPT2Config(**GPT2, n_inner=24, tie_word_embeddings=False)),
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SIZES)),
    "llama-tied-biased": lambda: LlamaForCausalLM(
        LlamaConfig(**SIZES, tie_word_embeddings=True, attention_bias=True, mlp_bias=True)
    ),
    "llama-wide-heads": lambda: LlamaForCausalLM(LlamaConfig(**SIZES, head_dim=12)),
    "llama3": lambda: LlamaForCausalLM(LlamaConfig(**SIZES, rope_parameters=LLAMA3)),
    "llama-linear": lambda: LlamaForCausalLM(
        LlamaConfig(**SIZES, rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 10_000.0})
    ),
    "mistral": lambda: MistralForCausalLM(MistralConfig(**SIZES, sliding_window=None)),
    "mistral-window": lambda: MistralForCausalLM(MistralConfig(**SIZES, sliding_window=5)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**SIZES)),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SIZES, head_dim=16)),
}


def saved(reference: PreTrainedModel, folder: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """A checkpoint as transformers writes it, with norms and biases that are not their neutral values."""
    with torch.no_grad():
        for parameter in reference.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2)))
    reference.save_pretrained(folder)
    return json.loads((folder / "config.json").read_text()), load_file(folder / "model.safetensors")


def native(values: dict[str, Any], weights: dict[str, torch.Tensor]) -> Transformer:
    layout = layout_of(values)
    assert layout is not None
    model = Transformer(layout.config)
    model.load_state_dict(layout.weights(weights, layout.config))
    return prepare_for_decoding(model.eval())


@pytest.mark.parametrize("name", MODELS)
def test_logits_and_attention_are_those_of_transformers(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    reference = MODELS[name]().eval()
    ours = native(*saved(reference, tmp_path))
    reference.set_attn_implementation("eager")
    ids = torch.randint(3, 60, (20,), generator=torch.Generator().manual_seed(1)).tolist()
    with torch.no_grad():
        expected = reference(torch.tensor([ids]), output_attentions=True)
    forward = ours.prefill(ids[:9], want=Want(attention=True))
    for position in range(9, 21):
        assert torch.allclose(forward.logits[0], expected.logits[0, position - 1], atol=1e-4)
        assert forward.attention is not None
        for layer, weights in enumerate(expected.attentions):  # (1, heads, queries, keys)
            seen = weights[0, :, position - 1, :position]
            assert torch.allclose(forward.attention.decoder[0, layer, :, 0], seen, atol=1e-5)
        if position < 20:
            forward = ours.step([ids[position]], forward.cache, want=Want(attention=True))
    assert torch.allclose(ours.logits(ids[:1], [*ids[1:], 0]), expected.logits[0], atol=1e-4)


def test_a_config_of_an_older_transformers_is_read(tmp_path: Path) -> None:
    values, weights = saved(LlamaForCausalLM(LlamaConfig(**SIZES, rope_parameters=LLAMA3)), tmp_path)
    rotation = values.pop("rope_parameters")
    old = {**values, "rope_theta": rotation.pop("rope_theta"), "rope_scaling": rotation}
    layout = layout_of(old)
    assert layout is not None
    assert layout.config == native({**values, "rope_parameters": LLAMA3}, weights).config


def test_a_name_in_a_config_means_nothing(tmp_path: Path) -> None:
    """transformers writes the second as it reads a GGUF file."""
    values, _ = saved(LlamaForCausalLM(LlamaConfig(**SIZES)), tmp_path)
    named = layout_of({**values, "_name_or_path": "a/fox", "_model_name_or_path": "A Fox 135M"})
    assert named is not None and named == layout_of(values)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("llama", {"model_type": "cohere"}),
        ("llama", {"a_field_of_tomorrow": 1}),
        ("llama", {"auto_map": {"AutoModelForCausalLM": "modeling.Mine"}}),
        ("llama", {"quantization_config": {"bits": 4}}),
        ("llama", {"hidden_act": "gelu"}),
        ("llama", {"attention_bias": True}),
        ("llama", {"rope_parameters": {"rope_type": "yarn", "factor": 2.0, "rope_theta": 10_000.0}}),
        ("llama", {"rope_parameters": {"rope_theta": 10_000.0, "partial_rotary_factor": 0.5}}),
        ("llama", {"hidden_size": None}),
        ("llama", {"hidden_size": "wide"}),
        ("llama", {"num_attention_heads": 0}),
        ("qwen2", {"use_sliding_window": True}),
        ("qwen2", {"layer_types": ["full_attention", "sliding_attention"]}),
        ("gpt2", {"activation_function": "relu"}),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}),
    ],
)
def test_what_only_resembles_a_layout_is_none(name: str, changes: dict[str, Any], tmp_path: Path) -> None:
    values, _ = saved(MODELS[name](), tmp_path)
    assert layout_of(values) is not None
    assert layout_of({**values, **changes}) is None
