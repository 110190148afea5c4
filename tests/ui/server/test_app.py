"""`app.py`: refusals in one plain sentence, and how it chooses its threads."""

from __future__ import annotations

import copy
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from threadpoolctl import threadpool_info

import app
from model.arguments import ModelArguments
from model.huggingface.causal import HuggingFaceModel
from model.loaded import LoadedModel
from model.threads import fastest_threads, use_threads
from model.transformer.decoder import Transformer
from tests.helpers.folders import llama
from tests.helpers.paths import ROOT
from ui.runs.models import Models


@pytest.fixture(autouse=True)
def no_space(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPACE_ID", "PORT"):
        monkeypatch.delenv(name, raising=False)


def test_it_is_private_by_default_and_public_on_a_space(monkeypatch: pytest.MonkeyPatch) -> None:
    assert app.options([]) == app.Options("127.0.0.1", 7860, ModelArguments("attend-chat"), False, False)
    assert app.options(["--public"]).public is True
    monkeypatch.setenv("SPACE_ID", "someone/attend")
    on_space = app.options([])
    assert (on_space.host, on_space.public) == ("0.0.0.0", True)


def test_a_busy_port_is_refused_at_once_with_the_way_out() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = subprocess.run(
            [sys.executable, "app.py", "--port", str(port)], cwd=ROOT, capture_output=True, text=True, timeout=60
        )
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.count("\n") == 1
    assert f"Port {port}" in ran.stderr and "--port" in ran.stderr


@pytest.mark.parametrize(
    ("host", "port", "sentence"), [("127.0.0.1", 0, "between 1 and 65535"), ("no.such", 1, "--host")]
)
def test_an_impossible_address_is_refused(
    host: str, port: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(["--host", host, "--port", str(port)]) == 2
    message = capsys.readouterr().err
    assert sentence in message and message.count("\n") == 1


@pytest.mark.parametrize("value", ["abc", "80.5", "-1", "²", "1" * 500])
def test_a_port_of_the_environment_that_is_none_is_refused_unless_another_is_chosen(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PORT", value)
    assert app.main([]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"The environment's PORT is '{value[:80]}', not a port") and message.count("\n") == 1
    assert app.options(["--port", "8000"]).port == 8000
    monkeypatch.setenv("PORT", "8001")
    assert app.options([]).port == 8001


def test_a_mistyped_flag_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["--prot", "80"]) == 2
    assert capsys.readouterr().err == "There is no flag --prot: did you mean --port?\n"


def damaged(tiny_checkpoint: Path, folder: Path, damage: str) -> Path:
    """A copy of a checkpoint with one thing wrong."""
    shutil.copytree(tiny_checkpoint, folder)
    weights, config = folder / "model.safetensors", folder / "config.json"
    if damage == "truncated":
        weights.write_bytes(weights.read_bytes()[:-1000])
    elif damage == "foreign":
        config.write_text('{"model_type": "gpt2", "vocab_size": 50257}')
    elif damage == "no weights":
        weights.unlink()
    elif damage == "no tokenizer":
        (folder / "tokenizer.model").unlink()
    return folder


@pytest.mark.parametrize("damage", ["truncated", "foreign", "no weights", "no tokenizer"])
def test_a_damaged_checkpoint_is_named(
    tiny_checkpoint: Path, tmp_path: Path, free_port: int, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = damaged(tiny_checkpoint, tmp_path / "broken", damage)
    assert app.main(["--port", str(free_port), "--model", str(folder)]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert folder.name in message
    assert "Traceback" not in message


def test_a_missing_checkpoint_is_named(free_port: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["--port", str(free_port), "--model", "no-such-model"]) == 2
    assert "no-such-model" in capsys.readouterr().err


def test_a_public_page_shows_only_its_own_models(
    tiny_checkpoint: Path, free_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(["--port", str(free_port), "--model", str(tiny_checkpoint), "--public"]) == 2
    assert "only the models of the catalogue" in capsys.readouterr().err


@pytest.mark.parametrize(("engine", "kind"), [("adapter", HuggingFaceModel), ("native", Transformer)])
def test_models_chosen_later_run_on_the_chosen_engine(
    engine: str, kind: type, tiny_checkpoint: Path, tmp_path: Path, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[Models] = []
    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)
    monkeypatch.setattr("ui.page.layout.build", lambda models: pages.append(models))
    monkeypatch.setattr(app, "launch", lambda *page: 0)
    assert app.main(["--port", str(free_port), "--model", str(tiny_checkpoint), "--engine", engine]) == 0
    models = pages[0]
    loading = models.load(str(llama(tmp_path / "later")))
    try:
        while True:
            next(loading)
    except StopIteration as ended:
        assert isinstance(ended.value.model, kind)


def test_telemetry_is_off() -> None:
    assert os.environ["GRADIO_ANALYTICS_ENABLED"] == "False"


def test_the_fastest_number_of_threads_is_found_and_set(tiny: LoadedModel) -> None:
    before = torch.get_num_threads()
    try:
        chosen = fastest_threads(copy.deepcopy(tiny.model), most=2)  # a copy has no compiled step
        assert chosen in (1, 2)
        assert torch.get_num_threads() == chosen
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}  # NumPy's
        assert fastest_threads(tiny.model, most=1) == 1
    finally:
        use_threads(before)
