"""Devices, precision, and what happens when memory is short."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from model import catalog
from model import device as device_module
from model.arguments import ModelArguments
from model.compiled.dense import DenseMatrix
from model.compiled.matrix import CompactLinear
from model.device import DeviceConfig, free_memory, native_shortage, shortage, total_memory
from model.errors import AttendError
from model.huggingface.causal import HuggingFaceModel
from model.interface import Want
from model.progress import in_words, silent
from model.transformer.decoder import Transformer
from tests.helpers.folders import llama
from tests.helpers.tiny import check_same_pass

IDS = [1, 40, 7, 300, 12]
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llama(tmp_path_factory.mktemp("device_config") / "llama")


def test_a_device_that_is_none_or_not_here_and_a_precision_that_is_none_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for device in ("tpu", "cuda:", "cuda:-1", "CPU", "", "cpu\n"):
        with pytest.raises(AttendError, match="choose auto, cpu, cuda, cuda:0 or mps"):
            DeviceConfig(device)
    for dtype in ("int3", "int4", "float64", "FLOAT32", ""):
        with pytest.raises(AttendError, match="choose one of auto, float32, bfloat16, float16, int8"):
            DeviceConfig("cpu", dtype)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert DeviceConfig("cuda:1").torch_device() == torch.device("cuda:1")
    with pytest.raises(AttendError, match=r"can't use cuda:2 on this machine \(only 2 found\)"):
        DeviceConfig("cuda:2").torch_device()
    with pytest.raises(AttendError, match=r"can't use cuda:999 on this machine \(only 2 found\)"):
        DeviceConfig("cuda:999").torch_device()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(AttendError, match=r"can't use cuda on this machine \(none found\)"):
        DeviceConfig("cuda").torch_device()
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(AttendError, match="can't use mps"):
        DeviceConfig("mps").torch_device()


def test_the_machine_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert DeviceConfig().torch_device() == CPU
    assert {DeviceConfig().torch_dtype(stored) for stored in ("bfloat16", "float16", "float32", None)} == {
        torch.float32
    }
    assert DeviceConfig(dtype="bfloat16").torch_dtype("float32") == torch.bfloat16
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert DeviceConfig().torch_device() == torch.device("cuda:0")
    assert DeviceConfig().torch_dtype("bfloat16") == torch.bfloat16
    assert DeviceConfig().torch_dtype("int4") == DeviceConfig().torch_dtype(None) == torch.float32
    monkeypatch.setenv("SPACES_ZERO_GPU", "1")  # a GPU for each run alone
    assert DeviceConfig().torch_device() == CPU


def test_8_bits_are_for_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert DeviceConfig(dtype="int8").torch_device() == DeviceConfig("cpu", "int8").torch_device() == CPU
    for device in ("cuda", "cuda:0", "mps"):
        with pytest.raises(AttendError, match="choose another precision, or cpu as the device"):
            DeviceConfig(device, "int8")


@pytest.mark.parametrize("engine", ["native", "adapter"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_that_and_says_nearly_the_same(folder: Path, engine: str, dtype: torch.dtype) -> None:
    on_cpu = catalog.load(str(folder), engine).model
    model = catalog.load(str(folder), engine, DeviceConfig("cpu", str(dtype).removeprefix("torch."))).model
    network: Any = model if isinstance(model, Transformer) else model._hf_model  # pyright: ignore[reportAttributeAccessIssue]
    compact = [module.matrix for module in network.modules() if isinstance(module, CompactLinear)]
    if compact:  # widened as they are read; only the matrices are kept in half precision
        assert all(isinstance(matrix, DenseMatrix) and matrix.weight.dtype == np.uint16 for matrix in compact)
    else:
        assert {parameter.dtype for parameter in network.parameters()} == {dtype}
    assert bool(compact) == (engine == "native" and dtype == torch.bfloat16)
    want = Want(attention=True, hidden=True, layers=(0, 1))
    expected, seen = (each.step([5], each.prefill(IDS).cache, want=want) for each in (on_cpu, model))
    assert seen.attention is not None and expected.attention is not None
    assert seen.hidden is not None and seen.layer_logits is not None
    assert {part.dtype for part in (seen.logits, seen.attention.decoder, seen.hidden, seen.layer_logits)} == {
        torch.float32
    }
    # bfloat16 keeps 8 bits: each of some twenty roundings in a row errs by up to 2^-9 of a number.
    close = 20 * 2.0**-9 * expected.logits.abs().max()
    assert 0 < (seen.logits - expected.logits).abs().max() < close
    assert torch.allclose(seen.attention.decoder, expected.attention.decoder, atol=0.05)
    assert torch.allclose(model.inspect(IDS).attention.decoder.sum(-1), torch.ones(1), atol=0.02)


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 60 kB of free memory."""
    monkeypatch.setattr(device_module.psutil, "virtual_memory", lambda: SimpleNamespace(available=60_000, total=10**9))


def test_what_does_not_fit_waits_on_the_disk_and_says_the_same(folder: Path, request: pytest.FixtureRequest) -> None:
    on_cpu = catalog.load(str(folder), "adapter").model
    request.getfixturevalue("crowded")
    loaded = catalog.load(str(folder))
    assert isinstance(loaded.model, HuggingFaceModel)
    waiting = [name for name, where in loaded.model._hf_model.hf_device_map.items() if where == "disk"]
    assert waiting
    (note,) = loaded.notes
    numbers = sum(parameter.numel() for parameter in on_cpu._hf_model.parameters())  # pyright: ignore[reportAttributeAccessIssue]
    assert note == (
        f"{folder.name} needs about {in_words(4 * numbers)} of memory, but only 60 kB is free: "
        "what doesn't fit is kept in slower memory or on disk."
    )
    want = Want(attention=True, hidden=True, layers=(0, 1))
    for _ in range(2):  # what was on the disk comes every time it is needed
        expected, seen = (each.step([5], each.prefill(IDS).cache, want=want) for each in (on_cpu, loaded.model))
        check_same_pass(seen, expected, atol=0, attention=0)


@pytest.mark.usefixtures("crowded")
def test_beside_models_in_use_nothing_waits_on_the_disk(folder: Path) -> None:
    words = r"needs about [\d.]+ kB of memory, but only 60 kB is free: .* try again when other models are no longer "
    "in use"
    with pytest.raises(AttendError, match=words):
        catalog.load_another(ModelArguments(), str(folder), silent)
    assert catalog.load_arguments(ModelArguments(str(folder))).notes  # on its own it may


@pytest.mark.usefixtures("crowded")
def test_our_own_transformer_is_refused_where_it_does_not_fit(folder: Path, tiny_checkpoint: Path) -> None:
    words = r"needs about [\d.]+ kB of memory, but only 60 kB is free: choose a smaller model"
    with pytest.raises(AttendError, match=f"{words}, or leave --engine out"):
        catalog.load(str(folder), "native")
    with pytest.raises(AttendError, match=words):
        catalog.load(str(tiny_checkpoint))
    with pytest.raises(AttendError, match=words):  # for 8 bits nothing falls back to transformers
        catalog.load(str(folder), device_config=DeviceConfig(dtype="int8"))


@pytest.mark.parametrize(
    ("stored", "largest_rounded", "needed"),
    [
        (0, 0, 6_000),  # 1,000 numbers of 4 bytes, and half of them once more while they are stacked
        (3_000, 0, 7_000),  # the files are more than that
        (3_000, 500, 12_000),  # four copies of 500 numbers are even more
    ],
)
def test_what_packing_takes_for_a_while_must_fit_as_well(
    monkeypatch: pytest.MonkeyPatch, stored: int, largest_rounded: int, needed: int
) -> None:
    for free in (needed, needed - 1):
        memory = SimpleNamespace(available=free, total=10**9)
        monkeypatch.setattr(device_module.psutil, "virtual_memory", lambda memory=memory: memory)
        lacking = native_shortage(1000, stored, CPU, torch.float32, largest_rounded=largest_rounded)
        assert lacking.startswith(f"needs about {in_words(needed)} of memory") == (free < needed)


def test_a_container_has_what_its_group_has_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "_CONTROL_GROUP", tmp_path)
    monkeypatch.setattr(
        device_module.psutil, "virtual_memory", lambda: SimpleNamespace(available=50_000, total=100_000)
    )
    assert (free_memory(CPU), total_memory()) == (50_000, 100_000)  # no group
    (tmp_path / "memory.max").write_text("max\n")
    assert (free_memory(CPU), total_memory()) == (50_000, 100_000)  # no limit
    (tmp_path / "memory.max").write_text("20000\n")
    (tmp_path / "memory.current").write_text("15000\n")
    (tmp_path / "memory.stat").write_text("anon 11000\ninactive_file 3000\nactive_file 1000\n")
    assert (free_memory(CPU), total_memory()) == (20_000 - 15_000 + 3_000, 20_000)
    (tmp_path / "memory.max").write_text("900000\n")  # more than there is
    assert (free_memory(CPU), total_memory()) == (50_000, 100_000)
    assert shortage(CPU, 50_000) == ""
    assert shortage(CPU, 51_000) == "needs about 51 kB of memory, but only 50 kB is free"
    words = {0: "0 kB", 999_000: "999 kB", 999_500: "1 MB", 270_400_000: "270 MB", 1_140_000_000: "1.1 GB"}
    assert {size: in_words(size) for size in words} == words
