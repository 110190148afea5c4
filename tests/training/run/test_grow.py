"""A grown model computes what the smaller one does; then its new parts learn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model.errors import AttendError
from model.transformer import checkpoint
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from tests.helpers.trainings import CHAT
from training.run import grow
from training.run.loop import train


def test_the_grown_model_computes_the_same_until_only_its_new_layers_are_trained(
    talk_folder: Path, tmp_path: Path
) -> None:
    train(replace(CHAT, passes=0.2), talk_folder, tmp_path / "small")
    assert grow.main([str(tmp_path / "small"), "--after", "1", "--output", str(tmp_path / "grown")]) == 0
    small, before = checkpoint.load(tmp_path / "small"), checkpoint.load(tmp_path / "grown")
    assert before.config.layers == small.config.layers + 1
    tokens = torch.arange(20).view(2, 10)  # (R, T)
    assert torch.equal(before(tokens), small(tokens))

    settings = replace(CHAT, passes=0.2, init_from=str(tmp_path / "grown"), layers=before.config.layers)
    train(replace(settings, only_layers="2"), talk_folder, tmp_path / "trained")
    after = checkpoint.load(tmp_path / "trained")
    assert not torch.equal(after(tokens), small(tokens))
    changed = {name for name, weight in after.named_parameters() if not torch.equal(weight, before.get_parameter(name))}
    assert changed and all(name.startswith("blocks.1.") for name in changed)


def test_a_wider_model_computes_the_same_and_learns_with_its_new_units(talk_folder: Path, tmp_path: Path) -> None:
    train(replace(CHAT, passes=0.2), talk_folder, tmp_path / "small")
    small = checkpoint.load(tmp_path / "small")
    before, width = small.config.feed_forward_width, small.config.feed_forward_width + 24
    command = [str(tmp_path / "small"), "--feed-forward-width", str(width), "--output", str(tmp_path / "wide")]
    assert grow.main(command) == 0
    wide = checkpoint.load(tmp_path / "wide")
    assert wide.config.feed_forward_width == width
    tokens = torch.arange(20).view(2, 10)  # (R, T)
    torch.testing.assert_close(wide(tokens), small(tokens))  # longer sums round differently

    settings = replace(CHAT, passes=0.2, init_from=str(tmp_path / "wide"), feed_forward_width=width)
    train(settings, talk_folder, tmp_path / "trained")
    learned = checkpoint.load(tmp_path / "trained").get_parameter("blocks.0.feed_forward.down_proj.weight")
    assert (learned[:, before:] != 0).all()


@pytest.mark.parametrize("options", [{"activation": "gelu"}, {"biases": "qkv"}, {"norm_place": "after"}], ids=str)
def test_networks_of_other_kinds_are_widened_alike_at_every_call(options: dict[str, Any]) -> None:
    config = TransformerConfig(40, width=16, layers=2, heads=2, key_value_heads=2, context_length=8, **options)
    model = Transformer(config)
    once, twice = (grow.widened(model, 2 * config.feed_forward_width) for _ in range(2))
    tokens = torch.arange(8).view(1, 8)  # (R, T)
    torch.testing.assert_close(once(tokens), model(tokens))
    assert torch.equal(once(tokens), twice(tokens))
    assert all(torch.equal(weight, twice.get_parameter(name)) for name, weight in once.named_parameters())


def test_a_model_grows_in_both_ways_at_once_or_says_how(
    tmp_path: Path, tiny_checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = checkpoint.load(tiny_checkpoint)
    width = small.config.feed_forward_width + 8
    command = [str(tiny_checkpoint), "--output", str(tmp_path / "large")]
    assert grow.main(command) != 0
    assert "Nothing to grow: pass --after N" in capsys.readouterr().err
    assert grow.main([*command, "--after", "1", "--feed-forward-width", str(width)]) == 0
    large = checkpoint.load(tmp_path / "large")
    assert (large.config.layers, large.config.feed_forward_width) == (small.config.layers + 1, width)
    tokens = torch.arange(10).view(1, 10)  # (R, T)
    torch.testing.assert_close(large(tokens), small(tokens))


def test_a_layer_that_is_missing_and_another_kind_of_model_are_refused(tmp_path: Path) -> None:
    config = TransformerConfig(40, width=16, layers=2, heads=2, key_value_heads=2, context_length=8)
    with pytest.raises(AttendError, match="no layer 3"):
        grow.deepened(Transformer(config), [3])
    with pytest.raises(AttendError, match="norm before each sub-layer"):
        grow.deepened(Transformer(replace(config, norm_place="after")), [1])
    with pytest.raises(AttendError, match="is not wider"):
        grow.widened(Transformer(config), config.feed_forward_width)
    with pytest.raises(AttendError, match="have no biases"):
        grow.widened(Transformer(replace(config, biases="all")), 2 * config.feed_forward_width)
    with pytest.raises(AttendError, match="names layer 7"):
        replace(CHAT, only_layers="7", init_from="runs/grown")
    with pytest.raises(AttendError, match="must name layers"):
        replace(CHAT, only_layers="last", init_from="runs/grown")
    with pytest.raises(AttendError, match="needs init_from"):
        replace(CHAT, only_layers="1")
