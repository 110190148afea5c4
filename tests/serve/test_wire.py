"""Steps travel as bytes and are what they were."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import pytest
import torch

from decoding.call import DecodeCall
from decoding.parameters.parameter import SettingError
from decoding.settings import DecodingSettings
from model import catalog
from model.loaded import LoadedModel
from model.text.conversation import Message
from serve import evaluation, wire
from tests.decoding.test_batch import check_same
from tests.helpers.folders import CHATML, gpt2
from tests.helpers.waiting import steps_of
from ui.runs.models import Models


@pytest.mark.parametrize("strategy", ["sample", "beam", "contrastive", "dola"])
def test_passes_come_back_as_they_were(tiny: LoadedModel, strategy: str) -> None:
    models = Models((tiny.name,), lambda name, progress: tiny)
    settings = DecodingSettings.from_dict({"strategy": strategy, "seed": 4, "max_new_tokens": 8})
    passes = [each for each in models.decode(DecodeCall(tiny.name, tiny.prompt("Once upon"), (settings,))) if each]
    back = wire.loads(wire.dumps(passes))
    check_same(steps_of(back), steps_of(passes))
    assert [each.seconds for each in back] == [each.seconds for each in passes]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int64])
def test_a_tensor_keeps_its_type_shape_and_values(dtype: torch.dtype) -> None:
    for shape in ((), (0,), (3, 0, 2), (2, 3, 5)):
        tensor = (torch.randn(shape) * 100).to(dtype)
        back = wire.loads(wire.dumps({"a": [tensor]}))["a"][0]
        assert back.dtype == dtype and back.shape == tensor.shape and torch.equal(back, tensor)
        back += 1  # it is the reader's own


def test_a_view_sends_its_own_values_alone() -> None:
    view = torch.arange(1_000_000.0).view(1000, 1000)[::500, 3]
    written = wire.dumps(view)
    assert torch.equal(wire.loads(written), view)
    assert len(written) < 300


def test_attention_takes_little_more_than_its_values() -> None:
    attention = torch.rand(6, 8, 64).half()
    assert len(wire.dumps(attention)) < attention.numel() * 2 + 150 < len(pickle.dumps(attention))


def test_an_error_for_people_keeps_the_settings_that_it_names() -> None:
    back = wire.loads(wire.dumps(SettingError("top_k is too large.", "top_k")))
    assert isinstance(back, SettingError)
    assert (str(back), back.names) == ("top_k is too large.", ("top_k",))


def test_a_model_with_a_chat_template_is_described_to_pages(tmp_path: Path) -> None:
    """Its sandbox holds a lock and a process, which stay here."""
    loaded = catalog.load(str(gpt2(tmp_path / "templated", CHATML)))

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, pid: evaluation.Properties) -> evaluation.Properties:
            return pid

    described = Unpickler(io.BytesIO(evaluation.describe(loaded))).load()
    assert loaded.chat is not None
    assert described.model[0] == loaded.model.vocabulary_size
    prompts = [
        chat.prompt([Message("user", "Hi")], context_length=128, reserve=8) for chat in (described.chat, loaded.chat)
    ]
    assert prompts[0] == prompts[1]
