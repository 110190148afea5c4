"""Exercises on attention by hand."""

from __future__ import annotations

from ui.learn.exercise import ChangeExercise, ChoiceExercise, Compute, Exercise, NumberExercise

_PAIRS = ("1 and 0.25", "1 and 0", "1 and −1")


def _most_lopsided(compute: Compute) -> int:
    firsts = [compute({"similarities": [[1.0, other]]})["softmax"]["weights"][0][0] for other in (0.25, 0.0)]
    lead_of_two = compute({"similarities": [[2.0, 0.0]]})["softmax"]["weights"][0][0]  # as far apart as 1 and -1
    return [*firsts, lead_of_two].index(max(*firsts, lead_of_two))


EXERCISES: tuple[Exercise, ...] = (
    NumberExercise(
        "Apple attends to itself with similarity 1 and to fruit with 0.6. What is the weight of fruit by division, "
        "to two decimals?",
        "Type 0.6 into the first table, or divide it by the sum of both.",
        lambda compute: compute({"similarities": [[1.0, 0.6]]})["division"]["weights"][0][1],
        "0.6 / (1 + 0.6) = 0.375: each weight is a share of the sum.",
        digits=2,
    ),
    ChoiceExercise(
        "With which two similarities does softmax give the first word the most?",
        "Softmax depends on the difference of the two only.",
        _PAIRS,
        _most_lopsided,
        "The lead is 2 there, so one weight is e² = 7.4 times the other. Division couldn’t use a negative number at "
        "all.",
    ),
    ChangeExercise(
        "The dot products stay 112 and 96. Find a width at which the first key gets less than three quarters.",
        "The weight is e^(16/√d) / (e^(16/√d) + 1).",
        lambda result: result["dots"] == [[112.0, 96.0]] and result["weights"][0][0] < 0.75,
        {"width": 240},
        "a width of 240; any from 213 on",
        "The wider the vectors, the less a difference of 16 says, since dot products grow with √d.",
    ),
)
