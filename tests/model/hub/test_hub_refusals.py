"""Refusals by the Hub and of its models: one sentence each, before anything large is downloaded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from model import catalog
from model import device as device_module
from model.device import DeviceConfig
from model.errors import AttendError
from model.progress import in_words
from tests.helpers.hub_server import StandIn
from tests.helpers.hub_stage import HUB_MODEL, WEIGHTS, contents, fetch, refusal, wanted


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (401, "RepoNotFound", "There is no model someone/tiny-llama on the Hub and no such folder here"),
        (401, "GatedRepo", "someone/tiny-llama is gated: accept its terms on"),
        (403, "", "no access to someone/tiny-llama on the Hub (status 403): log in"),
        (429, "", "The Hub has received too many requests from this address, and someone/tiny-llama isn't downloaded"),
        (503, "", "The Hub is having problems (status 503), and someone/tiny-llama isn't downloaded"),
        (418, "", "The Hub refused someone/tiny-llama (status 418)"),
    ],
)
def test_what_the_hub_answers_is_one_sentence(hub_server: StandIn, status: int, code: str, words: str) -> None:
    for end in ("/revision/main", f"/{WEIGHTS}"):
        hub_server.statuses = {end: (status, code)}
        assert words in refusal()


def test_8_bits_are_refused_before_the_weights_come(hub_server: StandIn) -> None:
    with pytest.raises(AttendError, match=r"^someone/tiny-llama can't run in int8"):
        catalog.load(HUB_MODEL, "adapter", DeviceConfig(dtype="int8"))
    assert WEIGHTS not in hub_server.requested_files()
    assert catalog.load(HUB_MODEL, device_config=DeviceConfig(dtype="int8")).dtype == "int8"


def test_a_file_that_vanished_is_reported(hub_server: StandIn) -> None:
    hub_server.statuses[f"/{WEIGHTS}"] = 404, "EntryNotFound"
    assert "A file of someone/tiny-llama is missing on the Hub" in refusal()


def without(*names: str, **config: Any) -> Callable[[Path], None]:
    """Without these files, and with another config if one is given."""

    def spoil(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()
        if config:
            (folder / "config.json").write_text(json.dumps(config))

    return spoil


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (without(WEIGHTS), r"has only pickled weights \(pytorch_model.bin\)"),
        (without(WEIGHTS, "pytorch_model.bin"), "has no model.safetensors"),
        (without("config.json"), "has no config.json"),
        # of the other configs that `tests/model/huggingface/test_folder.py` has, one: they are all checked at once
        (without(model_type="mine", auto_map={"AutoModelForCausalLM": "modeling.Mine"}), "code from .* is never run"),
        (without(hidden_size=4), "does not name a model_type"),
    ],
)
def test_what_makes_no_model_or_cannot_run_is_refused_before_its_weights_come(
    hub_server: StandIn, on_the_hub: Path, tmp_path: Path, spoil: Callable[[Path], None], words: str
) -> None:
    folder = Path(shutil.copytree(on_the_hub, tmp_path / "spoilt"))
    spoil(folder)
    hub_server.repositories = {(HUB_MODEL, "main"): folder}
    with pytest.raises(AttendError, match=words):
        catalog.load(HUB_MODEL)
    assert hub_server.requested_files() == ([] if words.startswith("has ") else ["config.json"])


def test_a_model_without_the_memory_is_refused_before_its_weights_come(
    hub_server: StandIn, on_the_hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_module.psutil, "virtual_memory", lambda: SimpleNamespace(available=60_000, total=10**9))
    stored = (on_the_hub / WEIGHTS).stat().st_size  # in float32, as it is computed with, and joined on the way
    with pytest.raises(AttendError, match=f"needs about {in_words(2 * stored)} of memory, but only 60 kB is free"):
        catalog.load(HUB_MODEL, "native")
    assert hub_server.requested_files() == ["config.json"]


def test_a_model_too_large_for_the_limit_or_the_disk_is_refused_before_the_download(
    hub_server: StandIn, on_the_hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = sum(map(len, wanted(on_the_hub).values()))
    assert f"is {total / 1000:,.0f} kB, over the limit of 10 kB (by default" in refusal(limit=10_000)
    usage = shutil.disk_usage("/")
    with monkeypatch.context() as full:
        full.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
        assert "but only 1 kB is free: free some space" in refusal()
    assert hub_server.requested_files() == []
    assert contents(fetch(limit=total).path) == wanted(on_the_hub)  # the limit itself is allowed


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_disk_that_fills_up_meanwhile_is_reported(hub_server: StandIn, tmp_path: Path) -> None:
    checksum = next(
        one["lfs"]["sha256"]
        for one in (hub_server.describe(HUB_MODEL, "main") or {})["siblings"]
        if one["rfilename"] == WEIGHTS
    )
    blobs = tmp_path / "cache" / "models--someone--tiny-llama" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{checksum}.attend.incomplete").symlink_to("/dev/full")  # every write ends in ENOSPC
    assert "is full" in refusal()


@pytest.mark.parametrize(
    "overrides",
    [
        {"siblings": [{"rfilename": "config.json"}, {"rfilename": WEIGHTS}]},  # no sizes
        {"siblings": [{"rfilename": name, "size": 5, "blobId": "../../x"} for name in ("config.json", WEIGHTS)]},
        {"siblings": 5},
        {"sha": "../../.."},
        {"sha": None},
    ],
)
def test_a_hub_that_lies_about_its_files_is_refused(
    hub_server: StandIn, overrides: dict[str, Any], tmp_path: Path
) -> None:
    hub_server.overrides = overrides
    assert any(words in refusal() for words in ("no size or checksum", "an invalid reply"))
    assert hub_server.requested_files() == []
    assert not (tmp_path / "cache").exists()
