"""On load, our own transformer is held to transformers on a small model of the checkpoint's config."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.errors import AttendError
from model.huggingface import conversion
from model.huggingface.trial.comparison import check_native

LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
CONFIGS: dict[str, dict[str, Any]] = {
    "gpt2": {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_inner": 3072},
    "llama": {"model_type": "llama", "hidden_size": 576, "num_attention_heads": 9, "num_key_value_heads": 3},
    "llama3": {
        "model_type": "llama",
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "head_dim": 128,
        "rope_theta": 500_000.0,
        "rope_scaling": {**LLAMA3, "original_max_position_embeddings": 8192},
        "max_position_embeddings": 131_072,
    },
    "mistral": {"model_type": "mistral", "num_attention_heads": 8},  # without a field of its own, a window of 4,096
    "mistral without a window": {"model_type": "mistral", "num_attention_heads": 8, "sliding_window": None},
    "qwen2": {"model_type": "qwen2", "num_attention_heads": 14, "num_key_value_heads": 2, "max_window_layers": 21},
    "qwen3": {"model_type": "qwen3", "num_attention_heads": 4, "num_key_value_heads": 2, "tie_word_embeddings": True},
    "one position": {"model_type": "llama", "num_attention_heads": 2, "max_position_embeddings": 1},
    "none of ours": {"model_type": "bloom"},
}


@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_read_rightly_passes(name: str) -> None:
    check_native(CONFIGS[name], name)


ROTATION: Callable[..., Any] = conversion._rotation
ROTARY: Callable[..., Any] = conversion._rotary


@pytest.mark.parametrize(
    ("name", "reader", "wrong", "words"),
    [
        (
            "llama",
            "_rotation",
            lambda fields: (1_000_000.0, ROTATION(fields)[1]),
            r"differently from transformers \(its logits are off by .* --engine adapter",
        ),
        # 4,096 tokens in a Mistral whose config doesn't name it
        ("mistral", "_rotary", lambda fields, **_: ROTARY(fields), "its window is 0 instead of 4,096 tokens"),
        # Llama 3.1 slows its slow rotations by 8, which 400 tokens show
        ("llama3", "_rotation", lambda fields: (ROTATION(fields)[0], None), "its logits are off"),
    ],
    ids=["rotation", "window", "scaling"],
)
def test_what_is_read_wrongly_is_found(
    name: str, reader: str, wrong: Callable[..., Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversion, reader, wrong)
    with pytest.raises(AttendError, match=words):
        check_native(CONFIGS[name], "x")
