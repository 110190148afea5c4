"""Folders of recurrent models: what is saved comes back, and what is damaged is refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from model.errors import AttendError
from model.recurrent import checkpoint
from model.recurrent.network import Recurrent, RecurrentConfig
from tests.helpers.folders import change_json

CONFIG = RecurrentConfig(30, 16, attention=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    checkpoint.save(Recurrent(CONFIG), tmp_path)
    return tmp_path


def test_what_was_saved_comes_back_in_half_precision(folder: Path) -> None:
    torch.manual_seed(0)
    model, loaded = Recurrent(CONFIG), checkpoint.load(folder)
    assert loaded.config == CONFIG and not loaded.training
    for name, tensor in loaded.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name].half().float())


def test_another_config_is_refused(folder: Path) -> None:
    path = folder / "config.json"
    known = path.read_text()
    others: list[tuple[dict[str, Any], str]] = [
        ({"width": 8}, "don't fit its config.json: copy the folder again."),
        ({"attention": False}, "don't fit its config.json: copy the folder again."),
        ({"layers": 3}, "doesn't describe a recurrent model: copy the folder again."),
        ({"width": "16"}, "width is '16', but must be a whole number of at least 1."),
        ({"attention": 1}, "attention is 1, but must be true or false."),
        ({"dropout": 1.0}, "dropout is 1.0, but must be between 0 and 1."),
    ]
    for changes, words in others:
        path.write_text(known)
        change_json(path, **changes)
        with pytest.raises(AttendError, match=words):
            checkpoint.load(folder)


def test_a_damaged_or_missing_file_is_refused(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(AttendError, match="is damaged or incomplete"):
        checkpoint.load(folder)
    weights.unlink()
    with pytest.raises(AttendError, match=r"has no model\.safetensors"):
        checkpoint.load(folder)
