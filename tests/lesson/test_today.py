"""Today's models: parameters by part, norms, activations and the cache's size, against plain arithmetic."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from lesson.today import activation_curves, cache_bytes, count_parameters, normalize, part_of, time_cache
from model import catalog, names
from model.loaded import LoadedModel
from model.transformer.config import TransformerConfig
from model.transformer.encoder_decoder import EncoderDecoder
from tests.helpers.folders import gpt2


@pytest.mark.skipif("attend-chat" not in names.embedded(), reason="the embedded models are not there")
def test_the_parts_of_attend_chat_add_up() -> None:
    """Width 256, six layers, SwiGLU of 704, 4,096 tokens, no biases, tied embeddings."""
    counts = count_parameters(catalog.load("attend-chat"))
    assert counts == {
        "embeddings": 4096 * 256,
        "attention": 6 * 4 * 256 * 256,
        "feed-forward": 6 * 3 * 704 * 256,
        "norms": (2 * 6 + 1) * 256,
    }


def test_every_parameter_has_a_part_in_our_code_and_in_that_of_others(
    tiny_translator: LoadedModel, tmp_path: Path
) -> None:
    folder = str(gpt2(tmp_path))
    by_engine = [count_parameters(catalog.load(folder, engine)) for engine in ("native", "adapter")]
    assert by_engine[0] == by_engine[1], "the same checkpoint, once as our own network, once through transformers"
    counts = count_parameters(tiny_translator)
    assert sum(counts.values()) == sum(one.numel() for one in tiny_translator.model.parameters())  # type: ignore[attr-defined]
    assert not {"other"} & (counts.keys() | by_engine[0].keys())


def test_a_parameter_is_known_by_its_name() -> None:
    parts = {
        "blocks.0.attention_norm.weight": "norms",
        "transformer.h.0.ln_1.weight": "norms",
        "model.layers.0.input_layernorm.weight": "norms",
        "model.layers.0.self_attn.q_proj.weight": "attention",
        "encoder.block.0.layer.1.DenseReluDense.wi.weight": "feed-forward",
        "model.decoder.layers.0.fc1.weight": "feed-forward",
        "model.embed_tokens.weight": "embeddings",
        "transformer.wpe.weight": "embeddings",
        "lm_head.weight": "output",
        "something.else": "other",
    }
    assert {name: part_of(name) for name in parts} == parts


def test_the_two_norms_by_their_formulas() -> None:
    vector = [1.0, 2.0, 3.0, 6.0]
    mean = sum(vector) / 4
    deviation = math.sqrt(sum((one - mean) ** 2 for one in vector) / 4)
    root = math.sqrt(sum(one**2 for one in vector) / 4)
    norms = normalize(vector)
    assert norms.layer.tolist() == pytest.approx([(one - mean) / deviation for one in vector], abs=1e-4)
    assert norms.rms.tolist() == pytest.approx([one / root for one in vector], abs=1e-4)


def test_activations_are_those_of_pytorchs_modules() -> None:
    points = [-2.0, -0.5, 0.0, 1.5]
    curves = activation_curves(points)
    for name, module in (("ReLU", nn.ReLU()), ("SiLU", nn.SiLU()), ("GELU", nn.GELU())):
        torch.testing.assert_close(curves[name], module(torch.tensor(points)))


def test_the_papers_base_model_is_pytorchs_transformer() -> None:
    """../shared/REFERENCE.md, "Models": 6 + 6 layers, d_model 512, 8 heads, d_ff 2048.

    An encoder layer has 4 (512² + 512) numbers for attention, 2 · 512 · 2048 + 2048 + 512 for feed-forward and
    2 · 2 · 512 for norms: 3,152,384; a decoder layer one attention and one norm more: 4,204,032. With the embeddings of
    37,000 tokens (Vaswani et al., 2017, section 5.1) that makes 63.1 million. The paper's table 3 differs: it has 65,
    which the page quotes.
    """
    heads = {"heads": 8, "key_value_heads": 8, "feed_forward_width": 2048}
    kinds = {"positions": "sinusoidal", "norm": "layer", "norm_place": "after", "activation": "relu", "biases": "all"}
    layers: Any = {"vocabulary_size": 37_000, "width": 512, "layers": 6, "encoder_layers": 6, "tied_embeddings": True}
    with torch.device("meta"):
        ours = EncoderDecoder(TransformerConfig.from_dict({**layers, **heads, **kinds}))
        reference = nn.Transformer(batch_first=True)  # which has these sizes unless told otherwise
    reference.encoder.norm = reference.decoder.norm = None  # which the paper does not have
    counts = [sum(parameter.numel() for parameter in model.parameters()) for model in (ours, reference)]
    assert counts[1] == 6 * 3_152_384 + 6 * 4_204_032
    assert counts[0] == counts[1] + 37_000 * 512 == 63_082_496


def test_the_cache_is_as_large_as_it_says(tiny: LoadedModel) -> None:
    config = TransformerConfig(vocabulary_size=8, layers=6, heads=8, key_value_heads=2, head_width=32)
    assert cache_bytes(config, 100) == 2 * 6 * 2 * 32 * 100 * 4
    timings = time_cache(tiny, [4, 16], tries=1)
    assert [one.tokens for one in timings] == [4, 16] and all(min(one.with_cache, one.without) > 0 for one in timings)
