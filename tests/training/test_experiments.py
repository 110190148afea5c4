"""The small trainings side by side: six translators are taught and compared, and two of them published."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from experiments import alignment, gru_translate, one_budget, translators
from model.loaded import LoadedModel
from model.recurrent import checkpoint
from model.recurrent.network import RecurrentConfig
from tests.helpers.trainings import write_pairs


def test_six_models_are_taught_once_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = write_pairs(tmp_path) / "run"
    settings = replace(translators.SETTINGS, vocabulary_size=340, width=16, layers=1, encoder_layers=1, precision="no")
    recurrent = replace(translators.RECURRENT, vocabulary_size=340, width=16)
    kinds = [recurrent if isinstance(kind, RecurrentConfig) else kind for kind in translators.MODELS.values()]
    kinds[-1] = replace(recurrent, attention=False)
    monkeypatch.setattr(translators, "SETTINGS", settings)
    monkeypatch.setattr(translators, "MODELS", dict(zip(translators.MODELS, kinds, strict=True)))
    monkeypatch.setattr(translators, "BUDGET", 100)
    monkeypatch.setattr(translators, "LONGEST_ANSWER", 6)
    monkeypatch.setattr(translators, "ROUNDS", 2)
    monkeypatch.setattr(translators, "EXAMPLE", "Le chat.")
    translators.run(tmp_path, output)
    first = json.loads(capsys.readouterr().out.splitlines()[-1])["models"]
    assert list(first) == list(translators.MODELS)
    assert all(list(one["bleu"]) == ["all", "5-8"] for one in first.values())  # there are no other lengths
    assert first["GRU with attention"]["parameters"] > first["GRU without attention"]["parameters"]
    assert (output / "alignment.png").stat().st_size > 1000
    written = {path: path.stat().st_mtime_ns for path in output.glob("*.safetensors")}
    assert len(written) == 6
    translators.run(tmp_path, output)
    again = json.loads(capsys.readouterr().out.splitlines()[-1])["models"]
    for one in (*first.values(), *again.values()):
        assert one.pop("target_tokens_per_second") > 0  # which is measured anew
    assert again == first
    assert {path: path.stat().st_mtime_ns for path in output.glob("*.safetensors")} == written


def test_the_recurrent_ones_are_published_with_their_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As half-precision checkpoints on attend-translate's vocabulary; those already there are kept."""
    output = write_pairs(tmp_path) / "published"
    small = {name: replace(translators.MODELS[name], width=16) for name in translators.PUBLISHED.values()}
    # all tests have one precision, since accelerate takes only one in a process
    monkeypatch.setattr(translators, "SETTINGS", replace(translators.SETTINGS, precision="no"))
    monkeypatch.setattr(translators, "MODELS", small)
    monkeypatch.setattr(translators, "BUDGET", 100)
    monkeypatch.setattr(translators, "LONGEST_ANSWER", 6)
    assert gru_translate.main([str(tmp_path), str(output)]) == 0
    first = json.loads((output / "bleu.json").read_text())
    assert list(first["bleu"]) == ["gru", "gru-attention", "attend-translate"]
    assert first["bleu"]["attend-translate"]["all"] > first["bleu"]["gru"]["all"]
    assert list(first["sentences"]) == ["all", "5-8"]  # there are no other lengths
    written = {path: path.stat().st_mtime_ns for path in output.glob("*/model.safetensors")}
    assert {path.parent.name: checkpoint.load(path.parent).config.attention for path in written} == {
        "gru": False,
        "gru-attention": True,
    }
    assert gru_translate.main([str(tmp_path), str(output)]) == 0
    assert json.loads((output / "bleu.json").read_text()) == first
    assert {path: path.stat().st_mtime_ns for path in output.glob("*/model.safetensors")} == written


def test_the_alignment_of_a_translator_is_drawn(
    tiny_translator: LoadedModel, tiny_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = str(tmp_path / "picture.png")
    assert alignment.main(["Le chat", "--models", tiny_translator.address, "--output", picture]) == 0
    assert capsys.readouterr().out == f"Wrote {picture}.\n"
    assert (tmp_path / "picture.png").stat().st_size > 1000
    assert alignment.main(["Le chat", "--models", str(tiny_checkpoint)]) == 2
    assert "is no translator" in capsys.readouterr().err
    assert alignment.main(["Le chat", "--models", tiny_translator.address, "--output", str(tmp_path / "x.zzz")]) == 2
    lines_printed = capsys.readouterr().err
    assert lines_printed.startswith(f"{tmp_path / 'x.zzz'} can't be written (") and lines_printed.count("\n") == 1


def test_too_little_text_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert one_budget.main([str(write_pairs(tmp_path)), str(tmp_path / "run")]) == 2
    lines_printed = capsys.readouterr().err
    assert lines_printed.startswith("This text has only enough variety for ") and lines_printed.count("\n") == 1
