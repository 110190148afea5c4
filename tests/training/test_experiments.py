"""The small trainings side by side: the recurrent translators run every way alike, and six are taught and compared."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from experiments import alignment, one_budget, translators
from experiments.recurrent import Recurrent, RecurrentConfig
from model.interface import Want
from model.loaded import LoadedModel
from tests.helpers.trainings import write_pairs

PADDING = 29
LONG, SHORT = [1, 2, 3, 4, 5, 6], [7, 8, 9]
TEXT = [3, 5, 7, 2]
SAME = 1e-5


@pytest.mark.parametrize("attention", [True, False], ids=["attention", "no attention"])
def test_however_it_is_run_the_logits_are_the_same(attention: bool) -> None:
    """Step by step, in one pass, in training with padding on both sides, and with others in the batch."""
    torch.manual_seed(0)
    model = Recurrent(RecurrentConfig(PADDING + 1, 16, attention=attention)).eval()
    alone = {}
    for name, source in (("long", LONG), ("short", SHORT)):
        passes = [model.prefill(source)]
        for token in TEXT:
            passes.append(model.step([token], passes[-1].cache))
        alone[name] = torch.cat([one.logits for one in passes])  # (T, V)
        torch.testing.assert_close(model.logits(source, [*TEXT, 0]), alone[name], atol=SAME, rtol=0)
    sources = torch.tensor([LONG, [*SHORT, *[PADDING] * 3]])
    taught = model(sources, torch.tensor([[PADDING, *TEXT], [PADDING, *TEXT[:2], PADDING, PADDING]]))
    torch.testing.assert_close(taught[0], alone["long"][:, :-1], atol=SAME, rtol=0)
    torch.testing.assert_close(taught[1, :3], alone["short"][:3, :-1], atol=SAME, rtol=0)
    together = model.prefill(LONG).cache.join(model.prefill(SHORT).cache).select([1, 0, 1])
    for index, token in enumerate(TEXT, start=1):
        forward = model.step([token] * 3, together, want=Want(attention=attention))
        together = forward.cache
        for row, name in enumerate(("short", "long", "short")):
            torch.testing.assert_close(forward.logits[row], alone[name][index], atol=SAME, rtol=0)
        if forward.attention is not None:
            assert forward.attention.cross is not None
            assert forward.attention.cross.shape == (3, 1, 1, 1, len(LONG))
            assert not forward.attention.cross[0, ..., len(SHORT) :].any()


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
