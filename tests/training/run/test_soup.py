"""The mean of several runs: each weight is the mean of theirs, and runs that don't belong together are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model.transformer import checkpoint
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from training.run import soup

CONFIG = TransformerConfig(40, width=16, layers=1, heads=2, key_value_heads=2, context_length=8)


def run_folder(folder: Path, seed: int, config: TransformerConfig = CONFIG, vocabulary: bytes = b"one") -> str:
    """A run's checkpoint, with random weights; its vocabulary isn't read."""
    torch.manual_seed(seed)
    checkpoint.save(Transformer(config), folder, dtype=torch.float32)
    (folder / checkpoint.TOKENIZER).write_bytes(vocabulary)
    return str(folder)


def test_each_weight_is_the_mean_of_the_runs(tmp_path: Path) -> None:
    folders = [run_folder(tmp_path / str(seed), seed) for seed in range(3)]
    assert soup.main([*folders, "--output", str(tmp_path / "mean")]) == 0
    mean, *models = (checkpoint.load(tmp_path / name) for name in ("mean", "0", "1", "2"))
    for name, weight in mean.named_parameters():
        expected = torch.stack([model.get_parameter(name) for model in models]).mean(dim=0)
        assert torch.allclose(weight, expected, atol=2e-3, rtol=1e-3), name  # written in half precision
    assert (tmp_path / "mean" / checkpoint.TOKENIZER).read_bytes() == b"one"


def test_runs_that_do_not_belong_together_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run_folder(tmp_path / "first", 1)
    others = [
        (run_folder(tmp_path / "wide", 1, replace(CONFIG, width=32)), "another shape or vocabulary"),
        (run_folder(tmp_path / "words", 1, vocabulary=b"two"), "another shape or vocabulary"),
        (str(tmp_path / "missing"), "missing"),
    ]
    for other, sentence in others:
        assert soup.main([first, other, "--output", str(tmp_path / "mean")]) == 2
        assert sentence in capsys.readouterr().err
    assert soup.main([first, "--output", str(tmp_path / "mean")]) == 2
    assert "give the folders of two runs or more" in capsys.readouterr().err
    assert not (tmp_path / "mean").exists()
