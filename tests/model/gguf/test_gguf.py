"""GGUF files say what their checkpoints said: logits, texts and tokens, of both engines and of transformers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFReader
from gguf.quants import dequantize
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
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

from model import catalog
from model.gguf.header import GgufHeader
from model.gguf.weights import GgufWeights
from model.huggingface.causal import HuggingFaceModel
from model.loaded import LoadedModel
from model.text.conversation import Message, as_dicts
from model.transformer.decoder import Transformer
from tests.helpers.folders import byte_level, sentence_piece
from tests.helpers.gguf_files import write_gguf

TEXT = "Hi! How are you today? 12 foxes."
ENGINES = {"native": Transformer, "adapter": HuggingFaceModel}
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "initializer_range": 0.3,
    "rope_theta": 5000.0,
}
GPT2 = {"n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_inner": 96, "initializer_range": 0.3}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500_000.0,
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def llama(**changes: Any) -> PreTrainedModel:
    torch.manual_seed(9)
    return LlamaForCausalLM(LlamaConfig(**{"vocab_size": len(sentence_piece()), **SIZES, **changes}))


def qwen3(**changes: Any) -> PreTrainedModel:
    torch.manual_seed(9)
    return Qwen3ForCausalLM(Qwen3Config(**{"vocab_size": len(byte_level()), "head_dim": 16, **SIZES, **changes}))


MODELS: dict[str, Callable[[], PreTrainedModel]] = {
    "llama": llama,
    "llama with tied embeddings": lambda: llama(tie_word_embeddings=True),
    "llama with biases": lambda: llama(attention_bias=True, mlp_bias=True),
    "mistral": lambda: MistralForCausalLM(
        MistralConfig(vocab_size=len(sentence_piece()), sliding_window=4, head_dim=8, **SIZES)
    ),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(vocab_size=len(byte_level()) + 5, **SIZES)),
    "qwen3": qwen3,
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(vocab_size=len(byte_level()) + 5, **GPT2)),
}


def written(path: Path, model: PreTrainedModel, **options: Any) -> Path:
    of_bytes = model.config.model_type in ("gpt2", "qwen2", "qwen3")
    return write_gguf(path, model, byte_level() if of_bytes else sentence_piece(), **options)


def _merges(tokenizer: Any) -> list[tuple[str, str]]:
    return [tuple(merge) for merge in json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]]


@torch.no_grad()
def original_logits(model: PreTrainedModel, ids: list[int]) -> torch.Tensor:
    """Of all positions (T, V)."""
    with warnings.catch_warnings():
        return model.eval()(torch.tensor([ids])).logits[0].float()


@torch.no_grad()
def logits(loaded: LoadedModel, ids: list[int]) -> torch.Tensor:
    """The same, the first half in one pass and then token by token."""
    half = len(ids) // 2
    forward = loaded.model.prefill(ids[:half])
    passes = [forward.logits]
    for token in ids[half:]:
        forward = loaded.model.step([token], forward.cache)
        passes.append(forward.logits)
    return torch.cat(passes)


def check(file: Path, model: PreTrainedModel, *, text: str = TEXT, adapter: float = 1e-4) -> None:
    """Read by either engine, the file predicts what the model does; the adapter may be off by as much."""
    for engine, atol in (("native", 1e-4), ("adapter", adapter)):
        loaded = catalog.load(str(file), engine)
        ids = list(loaded.prompt(text))
        expected = original_logits(model, ids)[-1]
        torch.testing.assert_close(loaded.model.prefill(ids).logits[0], expected, atol=atol, rtol=0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("family", MODELS)
def test_a_file_gives_the_same_results_as_its_checkpoint(family: str, engine: str, tmp_path: Path) -> None:
    torch.manual_seed(9)
    model = MODELS[family]()
    with torch.no_grad():
        for name, bias in model.named_parameters():
            if name.endswith("bias") or "norm" in name:
                bias.normal_(1.0, 0.3)
    window = {"llama.attention.sliding_window": 4} if family == "mistral" else {}
    architecture = "llama" if family == "mistral" else ""
    loaded = catalog.load(str(written(tmp_path / "m.gguf", model, architecture=architecture, keys=window)), engine)
    assert isinstance(loaded.model, ENGINES[engine])
    ids = list(loaded.prompt(TEXT))
    half = len(ids) // 2
    assert half > 5
    expected = original_logits(model, ids)[half - 1 :]
    torch.testing.assert_close(logits(loaded, ids), expected, atol=1e-4, rtol=1e-4)


def test_llama_3_rotates_as_its_checkpoint_does(tmp_path: Path) -> None:
    """A file holds what the frequencies are divided by, and transformers, which reads no such tensor, leaves it out."""
    model = llama(rope_parameters=LLAMA3, head_dim=32, max_position_embeddings=16_384)
    plain = 500_000.0 ** -(np.arange(16) / 16)
    scaled: torch.Tensor = model.get_submodule("model.rotary_emb").inv_freq  # type: ignore[assignment]
    factors = plain / scaled.numpy()
    assert factors[0] == 1.0 and factors[-1] == pytest.approx(32.0)
    check(written(tmp_path / "m.gguf", model, tensors={"rope_freqs.weight": factors}), model, text=TEXT * 20)


@pytest.mark.parametrize("quantization", ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"])
def test_what_is_quantized_is_what_transformers_makes_of_it(quantization: str, tmp_path: Path) -> None:
    file = written(tmp_path / "m.gguf", llama(), quantization=GGMLQuantizationType[quantization])
    reference = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=file.name, dtype=torch.float32)
    check(file, reference, adapter=1e-5)


@pytest.mark.parametrize("quantization", ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS"])
def test_blocks_of_256_are_read_where_the_package_reads_them(quantization: str, tmp_path: Path) -> None:
    """The package does not write these, of which most files are, so other blocks get their name."""
    model = llama(hidden_size=256, num_hidden_layers=1, head_dim=64, initializer_range=0.02)
    file = written(tmp_path / "m.gguf", model, quantization=GGMLQuantizationType.Q8_0)
    for tensor in GGUFReader(file, "r+").tensors:
        if tensor.name == "blk.0.ffn_up.weight":
            tensor.field.parts[4][0] = GGMLQuantizationType[quantization]
    (stored,) = (tensor for tensor in GGUFReader(file).tensors if tensor.name == "blk.0.ffn_up.weight")
    weights = GgufWeights(GgufHeader.read(file), {"num_attention_heads": 4, "num_key_value_heads": 2}, "m")
    with np.errstate(invalid="ignore"):  # what was a byte of a number may be the scale of others
        weight = weights["model.layers.0.mlp.up_proj.weight"].numpy()
        expected = dequantize(stored.data, stored.tensor_type)
    assert weight.shape == (64, 256)
    np.testing.assert_array_equal(weight, expected)


def test_its_tokens_are_those_of_transformers(tmp_path: Path) -> None:
    file = written(tmp_path / "m.gguf", qwen3())
    loaded, reference = catalog.load(str(file)), AutoTokenizer.from_pretrained(tmp_path, gguf_file=file.name)
    for text in (TEXT, "", "two  spaces\n\n", "日本 🦊", "it's 2026"):
        assert list(loaded.prompt(text)) == reference(text).input_ids
        assert loaded.tokenizer.decode(loaded.tokenizer.encode(text, begins=True), begins=True) == text
    turns = [Message("user", "Hi!"), Message("assistant", "Hello"), Message("user", "Bye")]
    expected = reference.apply_chat_template(as_dicts(turns), add_generation_prompt=True, return_dict=False)
    assert list(loaded.chat_prompt(turns, reserve=8).ids) == list(expected)


def test_llama_3_begins_texts_and_keeps_whole_words(tmp_path: Path) -> None:
    """As its tokenizer.json has it ("ignore_merges"), and as llama.cpp reads its files, which do not say so."""
    tokens = byte_level()
    words = [str(tokens.convert_ids_to_tokens(piece)) for piece in range(len(tokens))]
    words[-1] = "zebra"  # which no merges lead to
    keys = {"tokenizer.ggml.pre": "llama-bpe", "tokenizer.ggml.bos_token_id": 0, "tokenizer.ggml.tokens": words}
    merges = [f"{first} {second}" for first, second in _merges(tokens) if first + second in words]
    keys |= {"tokenizer.ggml.merges": merges}
    model = llama(vocab_size=len(words))
    loaded = catalog.load(str(write_gguf(tmp_path / "m.gguf", model, tokens, keys=keys)))
    assert loaded.prompt("zebra") == (0, len(words) - 1)
    assert loaded.notes == ()


def test_the_settings_that_it_suggests_are_noted(tmp_path: Path) -> None:
    """Keys of the gguf package (`Keys.General.SAMPLING_TEMP` and so on)."""
    keys = {"general.sampling.temp": 0.7, "general.sampling.top_k": 20, "general.sampling.mirostat": 0}
    (note,) = catalog.load(str(written(tmp_path / "m.gguf", qwen3(), keys=keys))).notes
    assert note == (
        "The generation config of m suggests temperature 0.7 and top_k 20: Attend leaves these to your settings."
    )


LINEAR = {"rope_type": "linear", "factor": 4.0, "rope_theta": 10_000.0}
ABSENT = ("attention.head_count_kv", "attention.key_length", "attention.value_length", "rope.freq_base")


@pytest.mark.parametrize(
    ("make", "keys"),
    [
        (partial(llama, rope_parameters=LINEAR), {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}),
        (partial(llama, rope_parameters=LINEAR), {"rope.scaling.factor": 4.0}),  # without a type it is meant, too
        # A list of one value for every layer is that value (`get_key_or_arr` in llama-model.cpp).
        (llama, {"attention.head_count": [4, 4], "attention.head_count_kv": [2, 2], "feed_forward_length": [64, 64]}),
        # What a file leaves out: as many heads of keys and values as of queries, a base of 10,000, heads that share the
        # width, no scaling without a factor (`load_hparams` in llama-model.cpp); Qwen3's config class has 32 heads of
        # 128.
        (
            partial(qwen3, num_key_value_heads=4, rope_theta=10_000.0, head_dim=8),
            {**dict.fromkeys(ABSENT), "rope.scaling.type": "linear"},
        ),
    ],
    ids=["linear", "a factor alone", "lists", "absent"],
)
def test_keys_mean_what_llama_cpp_takes_for_them(
    make: Callable[[], PreTrainedModel], keys: dict[str, Any], tmp_path: Path
) -> None:
    model = make()
    named = {f"{model.config.model_type}.{key}": value for key, value in keys.items()}
    check(written(tmp_path / "m.gguf", model, keys=named), model)
