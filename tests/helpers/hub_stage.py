"""Shared by the tests of the Hub: a repository with a model, and a fake Hub that serves it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from model.hub import download as hub_files
from model.hub import repository as hub
from tests.helpers.folders import refusal as refused
from tests.helpers.hub_server import StandIn, serving

HUB_MODEL = "someone/tiny-llama"
WEIGHTS = "model.safetensors"
ROOMY = 10**12


@pytest.fixture(scope="session")
def on_the_hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What lies on the Hub: a whole model, and files that nobody needs."""
    from tests.helpers.folders import llama  # brings transformers, which most tests do without

    folder = llama(tmp_path_factory.mktemp("hub") / "llama")
    (folder / "README.md").write_text("A model card.")
    (folder / "pytorch_model.bin").write_bytes(b"never fetched")
    (folder / "onnx").mkdir()
    (folder / "onnx" / WEIGHTS).write_bytes(b"another form of it")
    return folder


@pytest.fixture
def hub_server(on_the_hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A fake Hub with that model; the client in this process uses it, with an empty cache."""
    with serving() as standing:
        standing.repositories[HUB_MODEL, "main"] = on_the_hub
        monkeypatch.setattr(constants, "ENDPOINT", standing.address)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
        monkeypatch.setattr(hub_files, "_RETRY_DELAY", 0.0)
        yield standing


def fetch(revision: str = "main", **options: Any) -> hub.Snapshot:
    """The model, with no limit unless one is given."""
    return hub.fetch(HUB_MODEL, revision, **{"limit": ROOMY, **options})


def contents(folder: Path) -> dict[str, bytes]:
    """What lies in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def wanted(original: Path) -> dict[str, bytes]:
    """What of the repository should come."""
    names = {"config.json", "generation_config.json", WEIGHTS, "tokenizer.json", "tokenizer_config.json"}
    names |= {"chat_template.jinja"}
    assert names <= {path.name for path in original.iterdir()}
    return {name: (original / name).read_bytes() for name in names}


def refusal(**options: Any) -> str:
    """The one sentence in which it is refused."""
    return refused(fetch, **options)


def parts() -> list[Path]:
    """Files that are kept to be continued."""
    return list(Path(constants.HF_HUB_CACHE).rglob("*.incomplete"))
