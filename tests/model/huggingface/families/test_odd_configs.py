"""Tiny models with odd but legal values in their configs, as a random search found them, are those of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.families.__main__ import Task, _logits, _same_text
from benchmarks.families.tiny_models import tiny_model
from model.device import DeviceConfig
from model.huggingface.folder import load_model
from model.huggingface.weights import CheckpointFiles

TEXTS = ([9, 30, 12], [11, 40, 17, 8, 33, 52, 21, 14, 45, 10, 27, 19, 50, 36])


@torch.inference_mode()
@pytest.mark.parametrize(
    ("family", "task", "changes"),
    [
        ("bloom", "causal", {"return_dict": False, "output_hidden_states": True}),
        ("bart", "seq2seq", {"return_dict": False}),
        ("qwen3_moe", "causal", {"output_router_logits": True}),
    ],
)
def test_a_config_that_asks_for_more_or_less_is_read(
    family: str, task: Task, changes: dict[str, Any], tmp_path: Path
) -> None:
    built = tiny_model(family, seq2seq=task == "seq2seq")
    for name, value in changes.items():
        setattr(built.config, name, value)
    built.save_pretrained(tmp_path)
    model, _ = load_model(CheckpointFiles.read(tmp_path, family), "adapter", DeviceConfig("cpu"))
    reference = tiny_model(family, seq2seq=task == "seq2seq")
    for text in TEXTS:
        assert _logits(model, reference, text, task) < 1e-3
        assert _same_text(model, reference, text, beams=1)
