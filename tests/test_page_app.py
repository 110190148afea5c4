"""The door: what `app.py` refuses, in one plain sentence, and how it chooses its threads."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import types
from pathlib import Path

import pytest
import torch
from threadpoolctl import threadpool_info

import app
from model.choice import ModelChoice
from model.loaded import LoadedModel
from model.threads import fastest_threads, use_threads

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def no_space(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPACE_ID", "PORT"):
        monkeypatch.delenv(name, raising=False)


def test_it_is_private_unless_asked_or_on_a_space(monkeypatch: pytest.MonkeyPatch) -> None:
    assert app.options([]) == app.Options("127.0.0.1", 7860, ModelChoice("attend-chat"), False, False)
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
    with pytest.raises(SystemExit) as ended:
        app.check_port(host, port)
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err


def damaged(tiny_checkpoint: Path, folder: Path, how: str) -> Path:
    """A copy of a checkpoint with one thing wrong."""
    shutil.copytree(tiny_checkpoint, folder)
    weights, config = folder / "model.safetensors", folder / "config.json"
    if how == "truncated":
        weights.write_bytes(weights.read_bytes()[:-1000])
    elif how == "foreign":
        config.write_text('{"model_type": "gpt2", "vocab_size": 50257}')
    elif how == "no weights":
        weights.unlink()
    elif how == "no tokenizer":
        (folder / "tokenizer.model").unlink()
    return folder


@pytest.mark.parametrize("how", ["truncated", "foreign", "no weights", "no tokenizer"])
def test_a_damaged_checkpoint_is_named(
    tiny_checkpoint: Path, tmp_path: Path, free_port: int, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = damaged(tiny_checkpoint, tmp_path / "broken", how)
    assert app.main(["--port", str(free_port), "--model", str(folder)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(folder) in said or "Attend config" in said
    assert "Traceback" not in said


def test_a_missing_checkpoint_is_named(free_port: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["--port", str(free_port), "--model", "no-such-model"]) == 2
    assert "no-such-model" in capsys.readouterr().err


def test_a_public_page_shows_only_its_own_models(
    tiny_checkpoint: Path, free_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(["--port", str(free_port), "--model", str(tiny_checkpoint), "--public"]) == 2
    assert "only models of the catalogue" in capsys.readouterr().err


def test_telemetry_is_off() -> None:
    assert os.environ["GRADIO_ANALYTICS_ENABLED"] == "False"


def test_the_fastest_number_of_threads_is_found_and_set(tiny: LoadedModel) -> None:
    before = torch.get_num_threads()
    try:
        chosen = fastest_threads(tiny.model, most=2)
        assert chosen in (1, 2)
        assert torch.get_num_threads() == chosen
        assert {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"} == {1}  # NumPy's
        assert fastest_threads(tiny.model, most=1) == 1
    finally:
        use_threads(before)


def test_a_gpu_is_borrowed_only_where_the_host_lends_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert app.gpu_lender()(len) is len
    host = types.ModuleType("spaces")
    host.GPU = lambda function: ("borrowed", function)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spaces", host)
    assert app.gpu_lender()(len) == ("borrowed", len)
