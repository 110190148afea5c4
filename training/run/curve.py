"""The loss curve of a run, as CSV for programs and as a picture for people."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Point:
    """One training step."""

    step: int
    tokens: int  # fed so far, padding included
    seconds: float  # spent so far, over all sittings
    loss: float  # nats per token, in the batch of the step
    figure: float | None  # the metric on unseen text, if it was measured at this step


def write(points: Sequence[Point], folder: Path, *, measured: str) -> None:
    """Write `curve.png` and `curve.csv`, the second as a whole, since a resumed run reads it.

    Args:
        measured: the metric behind the points' figures, in words.
    """
    with (folder / "curve.tmp").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([field.name for field in fields(Point)])
        rows.writerows(["" if value is None else round(value, 5) for value in astuple(point)] for point in points)
    os.replace(folder / "curve.tmp", folder / "curve.csv")
    draw(points, measured).savefig(folder / "curve.png", dpi=110)


def read(folder: Path) -> list[Point]:
    """The points that `write` has written."""
    with (folder / "curve.csv").open(newline="") as file:
        return [
            Point(
                int(row["step"]),
                int(row["tokens"]),
                float(row["seconds"]),
                float(row["loss"]),
                float(row["figure"]) if row["figure"] else None,
            )
            for row in csv.DictReader(file)
        ]


def draw(points: Sequence[Point], measured: str) -> Figure:
    """Draw the loss and, on a second axis, the metric on validation data."""
    from matplotlib.figure import Figure  # a slow import, so only runs that save do it

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    millions = [point.tokens / 1e6 for point in points]
    axes.plot(millions, [point.loss for point in points], color="#9db7cf", linewidth=0.7, label="loss of each step")
    axes.set(xlabel="million tokens", ylabel="nats per token")
    validation = [(point.tokens / 1e6, point.figure) for point in points if point.figure is not None]
    right = axes.twinx()
    right.plot(*zip(*validation, strict=True), color="#c2571a", marker="o", markersize=3, label="validation")
    right.set_ylabel(measured)
    figure.legend(loc="upper right", bbox_to_anchor=(0.9, 0.96))
    return figure
