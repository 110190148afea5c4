"""A stranger's folder can neither block nor crash whoever loads it, nor fill the memory."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from model import catalog, device
from model.arguments import ModelArguments
from model.errors import AttendError
from model.progress import silent
from model.sandbox import folder as checked_folder
from model.transformer import checkpoint
from tests.conftest import make_checkpoint
from tests.helpers.folders import bert, gpt2


def changed(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return gpt2(tmp_path / "evil")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_what_is_no_regular_file_is_never_opened_nor_one_that_only_seems_small(folder: Path, name: str) -> None:
    """Reading a FIFO would wait for ever, and /dev/zero would fill the memory."""
    with (folder / name).open("r+b") as file:
        file.truncate(10**12)  # takes no room on the disk
    with pytest.raises(AttendError, match="1,000,000,000,000 bytes"):
        catalog.load(str(folder))
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (folder / name).unlink()
        make(folder / name)
        with pytest.raises(AttendError, match=f"{name} is not a regular file"):
            catalog.load(str(folder))
        if name == "config.json":  # alone it is read no other way
            with pytest.raises(AttendError, match="not a regular file"):
                checkpoint.read_config(folder)


@pytest.mark.parametrize("positions", ["rotary", "sinusoidal", "learned"])
def test_sizes_that_the_weights_do_not_have_allocate_nothing(tmp_path: Path, positions: str) -> None:
    folder = make_checkpoint(tmp_path / "claims")
    known = json.loads((folder / "config.json").read_text()) | {"positions": positions}
    sizes = {"heads": 10**8, "context_length": 10**10, "feed_forward_width": 10**12}
    sizes |= dict.fromkeys(("width", "vocabulary_size", "head_width", "layers", "encoder_layers"), 10**9)
    for field, value in sizes.items():
        (folder / "config.json").write_text(json.dumps(known | {field: value}))
        with pytest.raises(AttendError):
            catalog.load(str(folder))


def test_the_sizes_of_a_transformers_config_are_checked_against_its_weights(folder: Path) -> None:
    known = json.loads((folder / "config.json").read_text())
    for field, value in (("n_layer", 10**8), ("n_embd", 4 * 10**8), ("vocab_size", 10**10), ("n_positions", 10**9)):
        (folder / "config.json").write_text(json.dumps(known | {field: value}))
        for engine in ("adapter", "auto"):
            with pytest.raises(AttendError):
                catalog.load(str(folder), engine)


def test_a_tokenizer_that_panics_is_one_sentence(folder: Path) -> None:
    """The Rust library's assertions are no exceptions, and who waited for this load never heard of it."""

    def panicking(values: dict[str, Any]) -> None:
        values["truncation"] = {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 5}

    changed(folder / "tokenizer.json", panicking)
    with pytest.raises(AttendError, match=r"tokenizer"):
        catalog.load(str(folder))


@pytest.mark.parametrize("rule", [{"Regex": "."}, {"String": "꙰"}], ids=["any character", "one of its rules"])
def test_a_tokenizer_that_hangs_is_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, rule: dict[str, str]
) -> None:
    monkeypatch.setattr(checked_folder, "_SECONDS", 3.0)

    def hanging(values: dict[str, Any]) -> None:
        doubling = {"type": "Replace", "pattern": rule, "content": rule.get("String", "a") * 2}
        values["normalizer"] = {"type": "Sequence", "normalizers": [doubling] * 40}

    changed(folder / "tokenizer.json", hanging)
    with pytest.raises(AttendError, match=r"tokenizer.json crashed or took too long"):
        catalog.load(str(folder))


def sparse_weights(path: Path, dtype: str, size: int, excess: int = 0) -> None:
    """A safetensors file of eight tensors whose bytes take no room on the disk."""
    part = size // 8
    tensors = {
        f"weight.{n}": {"dtype": dtype, "shape": [part], "data_offsets": [n * part, n * part + part]} for n in range(8)
    }
    header = json.dumps(tensors).encode()
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size + excess)


@pytest.mark.parametrize("kind", ["own", "gpt2", "bert"])
def test_weights_must_match_their_header_and_fit_in_memory(tmp_path: Path, kind: str) -> None:
    folder = {"own": make_checkpoint, "gpt2": gpt2, "bert": bert}[kind](tmp_path / kind)
    load: Callable[[str], object] = catalog.load_encoder if kind == "bert" else catalog.load
    sparse_weights(folder / "model.safetensors", "U8", 10**3, excess=10**12)
    with pytest.raises(AttendError, match="is damaged or incomplete"):
        load(str(folder))
    sparse_weights(folder / "model.safetensors", "U8", 10**13)
    with pytest.raises(AttendError, match="more than this machine can read"):
        load(str(folder))
    sparse_weights(folder / "model.safetensors", "U8", device.total_memory() // 2)  # in float32 it is twice as much
    with pytest.raises(AttendError, match=r"needs about [\d.]+ \wB of memory"):
        catalog.load_another(ModelArguments(), str(folder), silent)


def test_an_encoder_needs_the_memory_of_what_its_header_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of a byte each become four, whatever config.json says that they are stored in."""
    folder = bert(tmp_path / "bert")
    sparse_weights(folder / "model.safetensors", "U8", 40_000)
    monkeypatch.setattr(device, "free_memory", lambda _: 50_000)
    with pytest.raises(AttendError, match="needs about 160 kB of memory, but only 50 kB is free"):
        catalog.load_another(ModelArguments(), str(folder), silent)


def test_a_weight_of_another_shape_is_never_filled_up(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in weights if name.endswith("wte.weight"))
    weights[name] = weights[name][:2].clone()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    for engine in ("adapter", "auto"):
        with pytest.raises(AttendError):
            catalog.load(str(folder), engine)
