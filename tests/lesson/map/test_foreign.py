"""The map of models of transformers: nothing is lost or counted twice, and what is shown is the pass itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

from benchmarks.families.tiny_models import tiny_config
from lesson.map.arrays import Text
from lesson.map.model_map import ModelMap
from model.huggingface.attention import EAGER
from model.huggingface.causal import HuggingFaceModel
from model.huggingface.seq2seq import Seq2SeqModel
from model.loaded import LoadedModel

IDS, SOURCE = (5, 9, 30, 12, 40, 9), (11, 12, 13, 14)
CAUSAL = ("gpt2", "llama", "qwen3", "gemma2", "opt", "gpt_neox", "bloom", "phi", "mixtral")
SEQ2SEQ = ("t5", "bart", "marian")
MIXTURES = ("mixtral",)  # whose feed-forward is no two matrices


def opened(family: str, tiny: LoadedModel) -> tuple[ModelMap, Any]:
    seq2seq = family in SEQ2SEQ
    kind = AutoModelForSeq2SeqLM if seq2seq else AutoModelForCausalLM
    torch.manual_seed(3)
    network = kind.from_config(tiny_config(family, seq2seq=seq2seq), attn_implementation=EAGER).eval()
    model: Any = Seq2SeqModel(network) if seq2seq else HuggingFaceModel(network)
    return ModelMap(replace(tiny, model=model)), model


@torch.inference_mode()
@pytest.mark.parametrize("family", (*CAUSAL, *SEQ2SEQ))
def test_what_holds_of_every_family(family: str, tiny: LoadedModel) -> None:
    model_map, model = opened(family, tiny)
    parts = {part for side in model_map.sides for part in side.parts}
    parameters = dict(model.network.named_parameters())
    assert sum(map(sum, model_map.counts.values())) == sum(one.numel() for one in parameters.values())
    assert set(model_map.counts) <= parts, "each is in the picture"
    layers = model_map.layers
    for kind in ("projections", "output", "up" if family in MIXTURES else "down"):
        assert len(model_map.counts[f"decoder.{kind}"]) == layers, kind

    text = Text((*model.decoder_start, *IDS), SOURCE if model_map.has_source else ())
    values = model_map.values(text, 1)
    assert set(values) - parts <= {"decoder.norms", "decoder.final_norm"}, "where the model has none"
    empty = [part for part, arrays in values.items() if not arrays and part in parts]
    assert empty == (["decoder.up"] if family in MIXTURES else [])
    sizes = {"text": len(text.tokens), "source": len(text.source)}
    for part, arrays in values.items():
        for array in arrays:
            lengths = [(axis, size) for axis, size in zip(array.axes, array.values.shape, strict=True) if axis in sizes]
            assert all(size == sizes[axis] for axis, size in lengths), f"{part}: {array.name} {lengths}"
    inspection = model.inspect(text.tokens, source=text.source)
    torch.testing.assert_close(values["decoder.weights"][0].values, inspection.attention.decoder[0, 1])
    torch.testing.assert_close(values["decoder.logits"][0].values, inspection.logits)
    if model_map.norm_first and family not in ("gpt_neox", "phi"):  # which add attention and feed-forward at once
        pre = "decoder.cross_add" if model_map.has_source else "decoder.attention_add"
        added = values[pre][0].values + values["decoder.down"][0].values
        torch.testing.assert_close(values["decoder.feed_forward_add"][0].values, added, atol=1e-4, rtol=1e-4)
