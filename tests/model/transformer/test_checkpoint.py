"""A checkpoint folder: what is saved comes back, and a folder that is not whole is refused in a plain sentence."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from model import catalog, names
from model.errors import AttendError
from model.transformer import checkpoint
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from model.transformer.encoder_decoder import build
from tests.helpers.folders import change_json


@pytest.mark.parametrize("tied", [True, False])
def test_what_is_saved_comes_back_in_half_precision(tied: bool, tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = TransformerConfig(40, width=16, layers=2, heads=2, key_value_heads=1, biases="all", tied_embeddings=tied)
    model = Transformer(config)
    checkpoint.save(model, tmp_path)
    loaded = checkpoint.load(tmp_path)
    assert loaded.config == config and not loaded.training
    assert (loaded.unembedding.weight is loaded.embedding.weight) == tied
    for (name, ours), reference in zip(model.named_parameters(), loaded.parameters(), strict=True):
        assert torch.equal(ours.half().float(), reference), name
    assert {parameter.dtype for parameter in loaded.parameters()} == {torch.float32}


@pytest.mark.parametrize("name", names.embedded())
def test_embedded_weights_load_as_if_copied_one_by_one(name: str) -> None:
    folder = names.EMBEDDED / name
    model = build(TransformerConfig.from_dict(checkpoint.read_config(folder))).eval()
    stored = load_file(folder / checkpoint.WEIGHTS)
    checkpoint.rename_weights(stored)
    parameters = dict(model.named_parameters())  # a tied matrix is there once
    assert parameters.keys() == stored.keys()
    with torch.no_grad():
        for weight, parameter in parameters.items():
            parameter.copy_(stored[weight])
    loaded = checkpoint.load(folder)
    assert torch.equal(loaded.logits([5, 6, 7], [8, 9, 10]), model.logits([5, 6, 7], [8, 9, 10]))


OLD_NAMES = {  # as the weights were called until 2026-11-22
    "qkv_proj": "queries_keys_values",
    "attention.o_proj": "attention.output",
    "cross.q_proj": "cross.queries",
    "cross.kv_proj": "cross.keys_values",
    "cross.o_proj": "cross.output",
    "up_proj": "wide",
    "down_proj": "narrow",
}


@pytest.mark.parametrize("encoder_layers", [0, 1])
def test_weights_under_their_old_names_load(encoder_layers: int, tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "width": 16,
        "layers": 2,
        "encoder_layers": encoder_layers,
        "heads": 2,
        "key_value_heads": 1,
    }
    config = TransformerConfig(40, **sizes, biases="qkv")
    model = build(config).eval()
    checkpoint.save(model, tmp_path, dtype=torch.float32)
    old = load_file(tmp_path / checkpoint.WEIGHTS)
    for new_name, old_name in OLD_NAMES.items():
        old = {name.replace(f"{new_name}.", f"{old_name}."): tensor for name, tensor in old.items()}
    assert any("queries_keys_values" in name for name in old) and not any("proj" in name for name in old)
    save_file(old, tmp_path / checkpoint.WEIGHTS)
    change_config(tmp_path, biases="queries_keys_values")
    expected = model.logits([1, 2], [3, 4])
    assert torch.equal(checkpoint.load(tmp_path).logits([1, 2], [3, 4]), expected)
    other = build(config).eval()
    other.load_state_dict(old | {"unembedding.weight": old["embedding.weight"]})
    assert torch.equal(other.logits([1, 2], [3, 4]), expected)


@pytest.fixture
def folder(tiny_checkpoint: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(tiny_checkpoint, tmp_path / "spoilt"))


def change_config(folder: Path, **changes: object) -> None:
    change_json(folder / checkpoint.CONFIG, **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"layers": 10**9}, "fewer layers than its"),  # none of which is built
        ({"layers": 3}, "has no weight blocks.2"),
        ({"layers": 1}, "has a weight blocks.1.* that doesn't fit"),
        ({"feed_forward_width": 65}, "has a weight .* that doesn't fit"),
        ({"tied_embeddings": False}, "has no weight unembedding"),
        ({"norm_epsilon": "small"}, "norm_epsilon is 'small', but must be a number"),
        ({"context_length": 10**15}, "context_length of 1,000,000,000,000,000, but at its width"),
        ({"architectures": ["GPT2"]}, "unknown field 'architectures'"),
    ],
)
def test_weights_of_another_config_are_refused(changes: dict[str, object], words: str, folder: Path) -> None:
    change_config(folder, **changes)
    with pytest.raises(AttendError, match=words):
        checkpoint.load(folder)


def test_a_config_of_another_form_and_weights_cut_anywhere_are_refused(folder: Path) -> None:
    weights = folder / checkpoint.WEIGHTS
    whole = weights.read_bytes()
    for left in (0, 4, 100, -1):
        weights.write_bytes(whole[:left])
        with pytest.raises(AttendError, match="damaged or incomplete"):
            checkpoint.load(folder)
    for content in ("", "{", "[1]", "null"):
        (folder / checkpoint.CONFIG).write_text(content)
        with pytest.raises(AttendError, match="copy the checkpoint folder again"):
            checkpoint.load(folder)


def test_a_tokenizer_of_another_model_is_refused_in_a_home_folder_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    assert catalog.load(f"~/{folder.name}").name == folder.name
    wider = catalog.load(str(folder)).model.vocabulary_size + 1
    checkpoint.save(Transformer(TransformerConfig(wider, width=8, layers=1, heads=2, key_value_heads=2)), folder)
    with pytest.raises(AttendError, match="belong to different checkpoints"):
        catalog.load(str(folder))


def test_a_pointer_of_git_lfs_a_folder_without_a_config_and_no_folder_are_named_as_such(folder: Path) -> None:
    (folder / checkpoint.WEIGHTS).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n")
    with pytest.raises(AttendError, match="run git lfs pull"):
        catalog.load(str(folder))
    (folder / checkpoint.CONFIG).unlink()
    with pytest.raises(AttendError, match=r"has no config\.json"):
        catalog.load(str(folder))
    with pytest.raises(AttendError, match="There is no checkpoint at"):
        checkpoint.load(folder / "elsewhere")
