"""Checkpoints in other families' layouts run as our own transformer, held against transformers' on random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from model.compiled.prepare import prepare_for_decoding
from model.huggingface.conversion import layout_of
from model.huggingface.folder import load_model
from model.huggingface.weights import CheckpointFiles
from model.interface import Want
from model.transformer.decoder import Transformer
from tests.model.huggingface.test_causal import text

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
    ids = text(20)
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
    # a name means nothing; transformers writes the second as it reads a GGUF file
    assert layout_of({**old, "_name_or_path": "a/fox", "_model_name_or_path": "A Fox 135M"}) == layout


@torch.no_grad()
@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral", "qwen2", "qwen3"])
def test_fields_that_change_no_logit_are_no_reason_for_another_engine(name: str, tmp_path: Path) -> None:
    """A causal family is one whatever `is_decoder` says; what chooses tokens is a matter of `GenerationFields`."""
    values, _ = saved(MODELS[name](), tmp_path)
    more: dict[str, Any] = {"is_decoder": True, "problem_type": None, "do_sample": True, "temperature": 0.6, "top_k": 5}
    more |= {"attn_implementation": "sdpa", "_attn_implementation_autoset": True, "gradient_checkpointing": True}
    more |= {"unsloth_fixed": True, "unsloth_version": "2026.4.5"} | ({"use_mrope": False} if name == "qwen2" else {})
    assert layout_of({**values, **more}) == layout_of(values) is not None
    ids = torch.tensor([[5, 7, 9, 11]])
    plain = AutoModelForCausalLM.from_pretrained(tmp_path)(ids).logits
    (tmp_path / "config.json").write_text(json.dumps({**values, **more}))
    changed = AutoModelForCausalLM.from_pretrained(tmp_path)(ids).logits
    assert torch.equal(plain, changed)


OTHERS: dict[str, list[dict[str, Any]]] = {
    "llama": [
        {"model_type": "cohere"},
        {"a_field_of_tomorrow": 1},
        {"auto_map": {"AutoModelForCausalLM": "modeling.Mine"}},
        {"quantization_config": {"bits": 4}},
        {"hidden_act": "gelu"},
        {"attention_bias": True},
        {"rope_parameters": {"rope_type": "yarn", "factor": 2.0, "rope_theta": 10_000.0}},
        {"rope_parameters": {"rope_theta": 10_000.0, "partial_rotary_factor": 0.5}},
        *({"hidden_size": None}, {"hidden_size": "wide"}, {"head_dim": 0}, {"num_attention_heads": 0}),
        *({"num_key_value_heads": 0}, {"tie_word_embeddings": None}, {"rope_scaling": {"factor": 2.0}}),
    ],
    "mistral": [{"sliding_window": 0}, {"sliding_window": -1}],
    "qwen2": [
        *({"head_dim": None}, {"num_hidden_layers": 10**12}, {"use_sliding_window": True}, {"use_mrope": True}),
        {"layer_types": ["full_attention", "sliding_attention"]},
    ],
    "gpt2": [{"activation_function": "relu"}, {"scale_attn_by_inverse_layer_idx": True}],
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_resembles_a_layout_is_none(name: str, tmp_path: Path) -> None:
    values, _ = saved(MODELS[name](), tmp_path)
    assert layout_of(values) is not None
    assert [changes for changes in OTHERS[name] if layout_of({**values, **changes}) is not None] == []


def read_config(values: dict[str, Any], folder: Path) -> PreTrainedConfig:
    """What transformers reads in a config."""
    (folder / "config.json").write_text(json.dumps(values))
    return AutoConfig.from_pretrained(folder)


def with_random_weights(values: dict[str, Any], folder: Path) -> PreTrainedModel | None:
    """The model of transformers that a config describes, saved beside that config; None where it is large."""
    kind = MODELS[values["model_type"]]().__class__
    config = read_config(values, folder)
    with torch.device("meta"):
        if sum(parameter.numel() for parameter in kind(config).parameters()) > 2_000_000:
            return None
    saved(kind(config), folder)
    (folder / "config.json").write_text(json.dumps(values))
    return kind.from_pretrained(folder).eval()


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "qwen2", "qwen3"])
def test_a_field_that_is_absent_or_null_means_what_transformers_takes_for_it(family: str, tmp_path: Path) -> None:
    """Each field in turn, in texts of 30 tokens, beyond the window of 5 where the config has one. The families differ:
    absent, `num_key_value_heads` is 8 in Mistral, 32 in Qwen2 and as many as there are heads in Llama."""
    torch.manual_seed(0)
    values, _ = saved(MODELS[family](), tmp_path)
    values |= {"sliding_window": 5} if family in ("mistral", "qwen2", "qwen3") else {}
    ids, whole = text(30), read_config(values, tmp_path).to_dict()
    equal = 0
    for field in values.keys() - {"model_type"}:
        for changed in ({name: value for name, value in values.items() if name != field}, {**values, field: None}):
            try:
                same = read_config(changed, tmp_path).to_dict() == whole
                reference = None if same else with_random_weights(changed, tmp_path)
            except Exception:  # transformers refuses it
                continue
            if same:  # no other model for transformers, so none for us
                assert layout_of(changed) in (layout_of(values), None), field
                equal += layout_of(changed) is not None
            if reference is None or layout_of(changed) is None:
                continue
            ours = native(changed, load_file(tmp_path / "model.safetensors"))
            with torch.no_grad():
                expected = reference(torch.tensor([ids])).logits[0]
            assert torch.allclose(ours.logits(ids[:1], [*ids[1:], 0]), expected, atol=1e-4), field
            equal += 1
    assert equal > 20


@pytest.mark.parametrize("family", ["gpt2", "llama"])  # whose names of weights the others have
@pytest.mark.parametrize("stored", ["both", "both, equal", "the output matrix alone", "the base model"])
def test_embeddings_are_tied_where_transformers_ties_them(family: str, stored: str, tmp_path: Path) -> None:
    """Its `tie_weights` keeps an output matrix that is stored and differs, and ties to whichever is stored alone."""
    torch.manual_seed(0)
    reference = MODELS[family]()
    reference.config.tie_word_embeddings = True
    _, weights = saved(reference.base_model if stored == "the base model" else reference, tmp_path)
    embedding = next(name for name in weights if name.endswith(("embed_tokens.weight", "wte.weight")))
    if stored != "the base model":
        weights["lm_head.weight"] = weights[embedding] * (1 if stored == "both, equal" else 2)
    if stored == "the output matrix alone":
        del weights[embedding]
    save_file(
        {name: weight.clone() for name, weight in weights.items()}, tmp_path / "model.safetensors", {"format": "pt"}
    )
    expected = AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    for engine in ("native", "auto"):
        model, notes = load_model(CheckpointFiles.read(tmp_path, "a model"), engine)
        assert isinstance(model, Transformer) and notes == ()
        with torch.no_grad():
            logits = expected(torch.tensor([[5, 9, 7]])).logits[0]
        assert torch.allclose(model.inspect([5, 9, 7]).logits, logits, atol=1e-4)
