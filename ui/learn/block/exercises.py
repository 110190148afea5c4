"""Exercises on the block by hand."""

from __future__ import annotations

import math
from typing import Any

import torch

from lesson.block import EMBEDDINGS, WORDS
from ui.learn.exercise import ChangeExercise, Compute, Exercise, NumberExercise, Result

_SHARP = 0.6


def _stage(result: Result, name: str) -> dict[str, Any]:
    return next(stage for stage in result["stages"] if stage["name"] == name)


def _divisor(compute: Compute) -> float:
    """What the scores of two heads are divided by, read from the largest of them."""
    result = compute({"heads": 2})
    before, after = (
        torch.tensor(_stage(result, f"encoder.self.{name}")["values"]).flatten() for name in ("scores", "scaled")
    )
    largest = before.abs().argmax()
    return float(before[largest] / after[largest])


def _is_sharp(result: Result) -> bool:
    weights = _stage(result, "encoder.self.weights")["values"]
    return max(max(row) for head in weights for row in head) > _SHARP


def _louder_you() -> list[list[float]]:
    """The embeddings, with a larger fourth number of “you”."""
    rows = [list(row) for row in EMBEDDINGS]
    rows[WORDS.index("you")][3] = 8.0
    return rows


EXERCISES: tuple[Exercise, ...] = (
    NumberExercise(
        "With two heads, by what are the scores divided, to two decimals?",
        "Each head has half of the six columns.",
        _divisor,
        "√3: D is the width of one head.",
        digits=2,
    ),
    NumberExercise(
        "What would the loss be if all ten words were equally probable, to two decimals?",
        "The loss is minus the natural logarithm of the probability of the right word.",
        lambda compute: math.log(len(compute({})["words"])),
        "−ln(1/10) = ln 10. A model that has learned nothing should be near it.",
        digits=2,
    ),
    ChangeExercise(
        f"Change one number of the encoder’s embeddings until a word gives one word more than {_SHARP:.0%} of its "
        "attention.",
        "The weights are under “Softmax and weighted sum”. Try a large number in the fourth column of “you”.",
        _is_sharp,
        {"embeddings": _louder_you()},
        "8 for the fourth number of “you”",
        "With small vectors all scores are nearly alike, and so are the weights. Sharp attention takes large "
        "differences between scores; training finds them.",
    ),
)
