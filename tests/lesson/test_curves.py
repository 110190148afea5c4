"""The recorded training curves: equal parts of what the models' folders keep."""

from __future__ import annotations

import csv

import pytest

from lesson.curves import POINTS, recorded
from model.names import EMBEDDED, embedded


@pytest.mark.skipif("attend-translate" not in embedded(), reason="the embedded models are not there")
def test_a_curve_is_the_mean_of_each_part_of_its_file() -> None:
    """Summed over its parts, as many steps and as much loss as the file has."""
    curve = next(curve for curve in recorded() if curve.name.startswith("attend-translate"))
    with (EMBEDDED / "attend-translate" / "curve.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert curve.steps == len(rows) and len(curve.losses) == len(curve.tokens) <= POINTS
    size = -(-len(rows) // POINTS)
    sizes = [min(size, len(rows) - size * part) for part in range(len(curve.losses))]
    total = sum(count * loss for count, loss in zip(sizes, curve.losses, strict=True))
    assert total == pytest.approx(sum(float(row["loss"]) for row in rows))
    assert curve.tokens[-1] == int(rows[-1]["tokens"]) and curve.losses[0] > 2 * curve.losses[-1]


@pytest.mark.skipif("attend-chat" not in embedded(), reason="the embedded models are not there")
def test_both_trainings_of_the_chat_model_are_there() -> None:
    names = [curve.name for curve in recorded() if curve.name.startswith("attend-chat")]
    assert len(names) == 2
