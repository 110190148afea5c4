"""The recorded training curves: equal parts of what the models' folders keep."""

from __future__ import annotations

import csv

import pytest

from lesson.curves import POINTS, recorded
from model.names import EMBEDDED, embedded
from ui.learn.chapter import TEXTS


@pytest.mark.skipif("attend-translate" not in embedded(), reason="the embedded models are not there")
def test_a_curve_is_the_mean_of_each_part_of_its_file() -> None:
    """Summed over its parts, as many steps and as much loss as the file has."""
    curve = next(curve for curve in recorded() if curve.name.startswith("attend-translate"))
    with (EMBEDDED / "attend-translate" / "curve-first.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert curve.steps == len(rows) and len(curve.losses) == len(curve.tokens) <= POINTS
    size = -(-len(rows) // POINTS)
    sizes = [min(size, len(rows) - size * part) for part in range(len(curve.losses))]
    total = sum(count * loss for count, loss in zip(sizes, curve.losses, strict=True))
    assert total == pytest.approx(sum(float(row["loss"]) for row in rows))
    assert curve.tokens[-1] == int(rows[-1]["tokens"]) and curve.losses[0] > 2 * curve.losses[-1]


@pytest.mark.skipif("attend-chat" not in embedded(), reason="the embedded models are not there")
def test_the_three_trainings_of_the_chat_model_are_there() -> None:
    first, second, third = (curve for curve in recorded() if curve.name.startswith("attend-chat"))
    assert [tokens / first.tokens[-1] for tokens in first.changes] == pytest.approx([0.6, 0.8, 0.9], abs=1e-3)
    # The card's sittings: 161 steps, 366 and so on, of 4,096 tokens each, the last 441 of 2,497 without a change.
    card = (EMBEDDED / "attend-chat" / "README.md").read_text()
    sittings = [161, 366, 283, 582, 301, 303, 60, 441]
    assert all(f"{steps}" in card for steps in sittings) and sum(sittings) == second.steps
    assert second.changes == tuple(4096 * sum(sittings[:count]) for count in range(1, 8))
    assert third.steps == 2984 + 1499 + 439 and len(third.changes) == 2
    assert "2,984, 1,499 and 439 steps" in " ".join(card.split())


@pytest.mark.skipif("attend-chat" not in embedded(), reason="the embedded models are not there")
def test_the_history_in_the_chapter_is_that_of_the_card() -> None:
    card = (EMBEDDED / "attend-chat" / "README.md").read_text()
    chapter = (TEXTS / "training.md").read_text()
    for number, of in (
        ("17.3 million tokens", "17.3 million tokens"),
        ("92 minutes", "92 minutes"),
        ("10.2 million tokens", "10.2 million tokens"),
        ("40.3 million tokens", "40.3 million tokens"),
        ("317 of 420", "| 317 of 420 | 252 of 420 |"),
        ("67 of 105", "| 67 of 105 | 57 of 105 |"),
        ("from 0.578 to 0.618", "the model needed 0.578 bits"),
        ("brought it to 0.610", "| 0.610 | 0.618 |"),
    ):
        assert number in chapter and of in card, number
