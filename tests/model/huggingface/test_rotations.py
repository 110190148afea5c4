"""Rotations that depend on the length of a text: beyond the length at which they change, texts are as transformers'."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from benchmarks.families.tiny_models import tiny_config
from decoding.request import Request, RequestOptions
from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.huggingface import verify
from model.huggingface.attention import EAGER
from model.huggingface.causal import HuggingFaceModel
from model.interface import Want
from tests.helpers.tiny import best, decode
from tests.helpers.transformers_generate import transformers_generate

SHORT = 16  # the longest text that is rotated as short ones are
LONG_ROPE = {
    "rope_type": "longrope",
    "short_factor": [1.0, 1.5],
    "long_factor": [2.0, 6.0],
    "factor": 3.0,
    "original_max_position_embeddings": SHORT,
}
SCALES = {"short_mscale": 1.1, "long_mscale": 1.4}  # of PhiMoE alone
YARN = {"rope_type": "yarn", "factor": 3.0, "original_max_position_embeddings": SHORT, **SCALES}
DYNAMIC = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 100.0}
PROMPT = [9, 20, 31, 42, 11, 24, 35, 46, 13, 28, 39, 50]


def tiny(family: str, rotation: dict[str, Any], **changes: Any) -> PreTrainedModel:
    """A random model of transformers whose rotations change after `SHORT` tokens."""
    config: Any = tiny_config(family)
    sizes: dict[str, Any] = {
        "max_position_embeddings": SHORT if rotation is DYNAMIC else 3 * SHORT,
        "rope_parameters": dict(rotation),
    }
    sizes |= {"hidden_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4, **changes}
    if rotation is not DYNAMIC:
        sizes["original_max_position_embeddings"] = SHORT
    config = type(config)(**{**config.to_dict(), **sizes, "eos_token_id": None})
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(config, attn_implementation=EAGER).eval()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return model


MODELS = {
    "phi3": lambda: tiny("phi3", LONG_ROPE),
    "phimoe": lambda: tiny("phimoe", {**LONG_ROPE, **SCALES}),
    "phimoe, yarn": lambda: tiny("phimoe", YARN),
    "llama, long rope": lambda: tiny("llama", LONG_ROPE),
    "llama, dynamic": lambda: tiny("llama", DYNAMIC),
    "mistral, dynamic, window": lambda: tiny("mistral", DYNAMIC, sliding_window=7),
}


@pytest.mark.parametrize("name", MODELS)
def test_texts_beyond_it_are_those_of_transformers(name: str) -> None:
    """From a prompt before it, at it and behind it, greedily and with beams, each after a longer text."""
    reference = MODELS[name]()
    model = verify.verified(HuggingFaceModel, copy.deepcopy(reference), name)
    assert model.context_length > 2 * SHORT
    for prompt in (PROMPT, [*PROMPT, *PROMPT], [*PROMPT, 7, 8, 9, 10], PROMPT[:3]):
        for strategy, beams in (("greedy", 1), ("beam", 3)):
            chosen = {"strategy": strategy, "num_beams": beams, "max_new_tokens": 15}
            request = Request.of_model(model, prompt, RequestOptions(attention=True))
            tokens = best(decode(model, DecodingSettings.from_dict(chosen), request)).tokens
            used_once = copy.deepcopy(reference)  # since transformers leaves lengths in a model
            expected = transformers_generate(used_once, prompt, [], chosen).sequences[0, len(prompt) :]
            assert list(tokens) == expected.tolist()


@pytest.mark.parametrize("name", MODELS)
def test_rows_of_other_lengths_change_nothing(name: str) -> None:
    """A row that grows beyond it, one that is beyond it, and one that stays short, beside the same rows alone."""
    model = verify.verified(HuggingFaceModel, MODELS[name](), name)
    if not model.joinable:  # a window keeps columns that padding would take
        assert "window" in name
        return
    alone = [model.prefill(prompt).cache for prompt in ([*PROMPT, 7, 8], [*PROMPT, *PROMPT], PROMPT[:3])]
    together = alone[0].join(alone[1]).join(alone[2])
    want = Want(attention=True, hidden=True)
    for tokens in ([9, 11, 12], [13, 14, 15], [16, 17, 18], [19, 20, 21], [22, 23, 24]):
        forward = model.step(tokens, together, want=want)
        singles = [model.step([token], cache, want=want) for token, cache in zip(tokens, alone, strict=True)]
        for row, single in enumerate(singles):
            assert torch.allclose(forward.logits[row], single.logits[0], atol=1e-4)
            assert forward.attention is not None and single.attention is not None
            seen = single.attention.decoder[0]
            assert torch.allclose(forward.attention.decoder[row][..., -seen.shape[-1] :], seen, atol=1e-5)
            assert forward.hidden is not None and single.hidden is not None
            assert torch.allclose(forward.hidden[row], single.hidden[0], atol=1e-4)
        together, alone = forward.cache, [single.cache for single in singles]


def test_a_model_that_kept_short_rotations_is_refused_and_rows_that_would_share_them_are_kept_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check of a load reads over the length at which they change, at the cost of six tokens."""
    with monkeypatch.context() as patch:
        patch.setattr("model.huggingface.causal.reads_again", lambda _: None)
        with pytest.raises(AttendError, match="runs differently from transformers"):
            verify.verified(HuggingFaceModel, tiny("phi3", LONG_ROPE), "a model")
    monkeypatch.setattr("model.huggingface.causal.rotate_rows_alone", lambda _: None)
    assert not verify.verified(HuggingFaceModel, tiny("llama", LONG_ROPE), "a model").joinable


def test_dynamic_rotations_stretch_the_context_by_their_factor_and_all_of_transformers_are_known() -> None:
    """Of these, `dynamic` and `longrope` depend on the length of a text (`dynamic_rope_update`)."""
    assert HuggingFaceModel(tiny("llama", DYNAMIC)).context_length == 4 * SHORT
    assert HuggingFaceModel(tiny("llama", LONG_ROPE)).context_length == 3 * SHORT
    assert set(ROPE_INIT_FUNCTIONS) == {"linear", "dynamic", "yarn", "longrope", "llama3", "proportional"}
