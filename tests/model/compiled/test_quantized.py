"""8-bit weights: nearly the same output, steps that agree with whole passes, and refusals."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch

from model import catalog
from model.arguments import DEFAULT
from model.compiled.quantized import quantize
from model.device import DeviceConfig
from model.errors import AttendError
from tests.helpers.tiny import TinyModel
from tests.helpers.translators import marian_of_several
from tests.model.transformer.test_transformer import random_model, text


def test_the_embedded_model_loses_little() -> None:
    full, rounded = (catalog.load(DEFAULT, device_config=DeviceConfig("cpu", dtype)) for dtype in ("float32", "int8"))
    ids = full.prompt("Once upon a time there was a little fox. She went to the park and saw a big dog.")
    before, after = (loaded.model.inspect(ids).logits.log_softmax(dim=-1) for loaded in (full, rounded))  # (T, V) each
    divergence = (before.exp() * (before - after)).sum(dim=-1).mean().item() / 0.6931  # bits a token
    assert 0 < divergence < 0.05  # of some 3 bits that a token costs; 0 would mean that nothing was rounded


def test_steps_score_as_whole_passes_do() -> None:
    model = quantize(random_model())
    ids = text(12)
    forward = model.prefill(ids[:5])
    for position in range(5, 12):
        alone = model.logits(ids[:position], [0])[0]
        # The inputs of a pass are rounded together, so one token's depend a little on its company.
        assert torch.allclose(forward.logits[0], alone, atol=0.05)
        forward = model.step([ids[position]], forward.cache)
    rows = forward.cache.select([0, 0, 0])
    assert torch.allclose(model.step([3, 3, 3], rows).logits, model.step([3], forward.cache).logits, atol=1e-5)


def test_the_matrices_are_small_and_the_model_is_the_same_object() -> None:
    model = random_model()
    before = copy.deepcopy(model)
    assert quantize(model) is model
    named = {name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)}
    assert not named and any(isinstance(module, torch.nn.Linear) for module in before.modules())
    assert torch.equal(model.embedding.weight, before.embedding.weight)


def test_what_cannot_be_rounded_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AttendError, match="choose another --dtype"):
        quantize(TinyModel(lambda text: [0.0, 1.0]))
    with pytest.raises(AttendError, match=r"^This model runs through transformers, but int8 works only"):
        catalog.load(str(marian_of_several(tmp_path / "model")), device_config=DeviceConfig("cpu", "int8"))
    with pytest.raises(AttendError, match="choose one of auto, float32, bfloat16, float16, int8"):
        DeviceConfig(dtype="int4")
