"""Exercises on why attention was needed."""

from __future__ import annotations

from ui.learn.exercise import ChangeExercise, ChoiceExercise, Compute, Exercise, NumberExercise

_COUNTS = ("4", "8", "32")


def _numbers_passed_on(compute: Compute) -> int:
    result = compute({"source": "les deux petites filles ont mangé une pomme"})
    last_state = result["steps"][result["read"] - 1][-1]
    return _COUNTS.index(str(len(last_state)))


EXERCISES: tuple[Exercise, ...] = (
    ChoiceExercise(
        "In the first picture, the encoder reads eight words instead of three. How many numbers does the decoder get?",
        "Type eight words and look at the box in the middle.",
        _COUNTS,
        _numbers_passed_on,
        "The state has 4 numbers, however many words it has read. With attention, the decoder would see all 8 states, "
        "32 numbers.",
    ),
    NumberExercise(
        "The decoder’s state is (0.5, 0.4) and one of the encoder’s is (0.6, 0.9). What is their dot product?",
        "Multiply first by first and second by second, then add.",
        lambda compute: compute({"pair": [[0.5, 0.4], [0.6, 0.9]]})["score"],
        "0.5 · 0.6 + 0.4 · 0.9: a score is one number, however wide the states are.",
        digits=2,
    ),
    ChangeExercise(
        "Change the six scores until word 1 gets more than half of the weight.",
        "Its e^score must be more than the other five together.",
        lambda result: result["weights"][0][0] > 0.5,
        {"scores": [[3.0, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]]},
        "3 as the score of word 1, and the others as they were",
        "Scores count exponentially: from 0.9544 to 3, e^score becomes 7.7 times as large. The weight, a share of the "
        "sum, becomes four times as large: from 0.14 to 0.55.",
    ),
)
