"""Exercises on several heads."""

from __future__ import annotations

from math import prod

from ui.learn.exercise import ChangeExercise, Compute, Exercise, NumberExercise, Result


def _weights(compute: Compute) -> float:
    arrays = compute({"time": 100, "width": 512, "heads": 8, "head_width": 64})["computed"]
    return prod(next(array["shape"] for array in arrays if array["name"].startswith("Scores")))


def _rests_on_the_first_token(result: Result) -> bool:
    return result["maps"] is not None and result["maps"]["of"][0][-1][0] > 0.5


EXERCISES: tuple[Exercise, ...] = (
    NumberExercise(
        "An attention layer of width 512 has 8 heads of width 64. How many numbers does it learn, biases included?",
        "Four matrices of 512 × 512, and a bias of 512 for each. Or set the sizes above the tables of shapes.",
        lambda compute: compute({"width": 512, "heads": 8, "head_width": 64})["parameters"],
        "4 · (512² + 512). More heads of the same total width would cost no more.",
    ),
    NumberExercise(
        "How many attention weights does that layer compute for one text of 100 tokens?",
        "Each head has one weight for each pair of tokens.",
        _weights,
        "8 heads · 100 · 100. The number grows with the square of the length, which makes long texts expensive.",
    ),
    ChangeExercise(
        "Find a head of attend-chat in which the last token gives more than half of its attention to the first, and "
        "choose it as the first of the two heads.",
        "Try the third or fourth layer, and read the last row.",
        _rests_on_the_first_token,
        {"one": [4, 4]},
        "layer 4, head 4",
        "Perhaps it has found nothing to do here: its weights must go somewhere, since they add up to 1 (Xiao et al., "
        "2024).",
    ),
)
