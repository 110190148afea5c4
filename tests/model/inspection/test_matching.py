"""Queries and keys: what they give is the attention of the same pass, and the slow twin's by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from model.errors import AttendError
from model.inspection.inspector import Inspector
from model.inspection.intervention import Intervention
from tests.model.huggingface.test_conversion import GPT2, native, saved
from tests.model.huggingface.test_opened import SEQ2SEQ, adapter
from tests.model.inspection.test_probe import IDS, SOURCE, difference, every_config, model_of, source_of

REFUSED = ("t5", "gpt_oss", "bloom")  # with a bias for distances, with sinks, and one that doesn't give access to them


def weights_of(queries: Tensor, keys: Tensor, scale: float, seen: Tensor) -> Tensor:
    return (queries @ keys.T * scale).masked_fill(~seen, -torch.inf).softmax(dim=-1)


def check(inspector: Inspector, recorded: Tensor, *, cross: bool = False, **options: Any) -> None:
    """Of every head, against the attention (L, H, T, K) of a pass of its own."""
    for layer, heads in enumerate(recorded):
        for head, weights in enumerate(heads):
            matching = inspector.match(IDS, layer, head, cross=cross, **options)
            again = weights_of(matching.queries, matching.keys, matching.scale, weights > 0)
            assert difference(again, weights) < 1e-5 and difference(matching.weights, weights) < 1e-6


@torch.inference_mode()
@every_config
def test_ours_give_the_recorded_attention(name: str) -> None:
    model = model_of(name)
    source, off = source_of(model), [Intervention(0, "head", 1)]
    attention = model.inspect(IDS, source=source).attention
    check(model.inspector(), attention.decoder[0], source=source)
    changed = model.inspector().inspect(IDS, source=source, interventions=off).attention.decoder[0]
    assert difference(changed, attention.decoder[0]) > 1e-3
    check(model.inspector(), changed, source=source, interventions=off)
    if attention.cross is not None:
        check(model.inspector(), attention.cross[0], cross=True, source=source)


@torch.inference_mode()
@pytest.mark.parametrize("family", ["llama", "qwen3", "phi3", "gpt_neox", "mistral", "bart"])
def test_those_of_transformers_give_the_recorded_attention(family: str) -> None:
    """Fused projections and separate ones, rotated, normed or neither, with fewer keys than queries."""
    model: Any = adapter(family)
    source = SOURCE if family in SEQ2SEQ else ()
    attention = model.inspect(IDS, source=source).attention
    check(model.inspector(), attention.decoder[0], source=source)
    if source:
        check(model.inspector(), attention.cross[0], cross=True, source=source)


@torch.inference_mode()
def test_those_of_gpt2_are_slices_of_its_projection(tmp_path: Path) -> None:
    """By hand on transformers' own modules, which rotate nothing: the first block reads the normed embeddings. Its
    attention in every layer is that of ours."""
    reference: Any = GPT2LMHeadModel(GPT2Config(**GPT2)).eval()
    reference.set_attn_implementation("eager")
    inspector, body = native(*saved(reference, tmp_path)).inspector(), reference.transformer
    attentions = reference(torch.tensor([IDS]), output_attentions=True).attentions  # (1, H, T, T) each
    check(inspector, torch.cat(attentions))
    embedded = body.wte.weight[list(IDS)] + body.wpe.weight[: len(IDS)]  # (T, W)
    queries, keys, _ = body.h[0].attn.c_attn(body.h[0].ln_1(embedded)).chunk(3, dim=-1)  # (T, W) each
    matching = inspector.match(IDS, 0, 2)
    width = matching.queries.shape[-1]
    assert difference(matching.queries, queries[:, 2 * width : 3 * width]) < 1e-5
    assert difference(matching.keys, keys[:, 2 * width : 3 * width]) < 1e-5 and matching.scale == width**-0.5


@pytest.mark.parametrize("family", REFUSED)
def test_attention_that_they_do_not_give_is_refused(family: str) -> None:
    inspector = adapter(family).inspector()
    with pytest.raises(AttendError, match="more than a softmax of their products, or doesn't give access to them"):
        inspector.match(IDS, 1, 1, source=SOURCE if family in SEQ2SEQ else ())


def test_a_head_that_is_not_there_is_refused() -> None:
    with pytest.raises(AttendError, match="There is no head 5"):
        model_of("as attend-chat").inspector().match(IDS, 0, 4)
    with pytest.raises(AttendError, match="it has no encoder"):
        model_of("as attend-chat").inspector().match(IDS, 0, 0, cross=True)
