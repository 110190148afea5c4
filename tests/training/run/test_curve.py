"""The loss curve as a file and as a picture."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from training.run import curve


def test_a_curve_is_never_there_by_halves(tmp_path: Path) -> None:
    points = [curve.Point(step, step * 512, float(step), 5.0, None) for step in range(3000)]
    curve.write(points, tmp_path, measured="")
    with pytest.raises(TypeError):  # something goes wrong on the way, after more lines than a buffer holds
        curve.write([*points, replace(points[0], loss=[])], tmp_path, measured="")  # pyright: ignore[reportArgumentType]
    assert curve.read(tmp_path) == points


def test_the_picture_names_what_was_measured() -> None:
    points = [curve.Point(1, 512, 1.0, 5.0, None), curve.Point(2, 1024, 2.0, 4.0, 31.5)]
    loss, measured = curve.draw(points, "BLEU").axes
    assert loss.get_ylabel() == "nats per token" and measured.get_ylabel() == "BLEU"
    assert measured.lines[0].get_xydata().tolist() == [[1024 / 1e6, 31.5]]  # pyright: ignore[reportAttributeAccessIssue]
