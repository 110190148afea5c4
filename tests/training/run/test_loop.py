"""Runs that learn, that go on to the very same weights, and that are refused."""

from __future__ import annotations

import gzip
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model.errors import AttendError
from model.transformer import checkpoint
from tests.helpers.trainings import CHAT, TRANSLATOR, losses
from training.run import loop
from training.run.loop import train
from training.settings import TrainingSettings


def test_a_run_that_was_killed_goes_on_to_the_same_weights(
    talk_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(CHAT, passes=0.5, validate_steps=3)  # 8 steps
    train(settings, talk_folder, tmp_path / "whole")

    really_save = loop._save

    def save_then_die(output: Path, running: TrainingSettings, step: int, *rest: Any) -> None:
        really_save(output, running, step, *rest)
        if step == 4:
            raise KeyboardInterrupt  # after the third step's validation and before the sixth's

    monkeypatch.setattr(loop, "_save", save_then_die)
    with pytest.raises(KeyboardInterrupt):
        train(replace(settings, save_minutes=0), talk_folder, tmp_path / "killed")
    monkeypatch.setattr(loop, "_save", really_save)
    train(settings, talk_folder, tmp_path / "killed")
    first, second = (checkpoint.load(tmp_path / name).state_dict() for name in ("whole", "killed"))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert len(losses(tmp_path / "whole")) == 8 and losses(tmp_path / "whole") == losses(tmp_path / "killed")
    assert (tmp_path / "whole" / "curve.png").stat().st_size > 1000


def test_training_learns(talk_folder: Path, tmp_path: Path) -> None:
    train(replace(CHAT, passes=2.0), talk_folder, tmp_path / "run")
    first, *_, last = losses(tmp_path / "run")
    assert first == pytest.approx(math.log(320), abs=0.3)  # an untrained model guesses evenly
    assert last < first - 1.0


def test_a_run_with_other_settings_or_data_is_not_resumed(talk_folder: Path, tmp_path: Path) -> None:
    short, run, other = replace(CHAT, passes=0.2), tmp_path / "run", tmp_path / "other"
    train(short, talk_folder, run)
    with pytest.raises(AttendError, match="with seed 1, not 2"):
        train(replace(short, seed=2), talk_folder, run)
    shutil.copytree(talk_folder / "chat", other / "chat")
    for path in other.rglob("*.gz"):
        lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        path.write_bytes(gzip.compress(b"".join(reversed(lines))))
    with pytest.raises(AttendError, match="with other data or another recipe"):
        train(short, other, run)
    state = torch.load(run / "resume.pt")
    del state["settings"]["task"]  # as of a run from before there was this setting
    torch.save(state, run / "resume.pt")
    with pytest.raises(AttendError, match="with task None, not chat"):
        train(short, talk_folder, run)


@pytest.mark.parametrize(
    ("settings", "changes", "words"),
    [
        (CHAT, {"optimizer": "mu0n"}, "'mu0n', but must be one of muon, adamw"),
        (CHAT, {"precision": "fp8"}, "one of auto, bf16, no"),
        (CHAT, {"batch_tokens": 60}, "batch_tokens is 60, but one text may have 64"),
        (CHAT, {"decay": 1.5}, "decay is 1.5"),
        (CHAT, {"passes": 0.0}, "passes is 0.0, but must be above 0"),
        (CHAT, {"learning_rate": math.nan}, "learning_rate is nan"),
        (CHAT, {"skills": 1.0}, "skills is 1.0, but must be at least 0 and below 1"),  # it leaves no real text
        (TRANSLATOR, {"encoder_layers": 0}, "encoder"),
        (TRANSLATOR, {"task": "chat"}, "encoder"),
        (TRANSLATOR, {"label_smoothing": 1.5}, "label_smoothing is 1.5"),
    ],
    ids=str,
)
def test_settings_that_no_run_could_use_are_refused(
    settings: TrainingSettings, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(AttendError, match=words):
        replace(settings, **changes)
