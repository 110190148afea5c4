"""Exercises on a training step."""

from __future__ import annotations

import math

from ui.learn.exercise import ChangeExercise, Compute, Exercise, NumberExercise, Result

_STEPS, _LOSS = 20, 0.2


def _probability_of_the_first_target(compute: Compute) -> float:
    first = compute({})["positions"][0]
    return 100 * first["probabilities"][first["target"]]


def _has_learned(result: Result) -> bool:
    return min(result["losses"][: _STEPS + 1]) < _LOSS


EXERCISES: tuple[Exercise, ...] = (
    NumberExercise(
        "Before the first step, how probable is the right first word, in percent, to one decimal?",
        "Press Reset: it stands in the list under “Teacher forcing”.",
        _probability_of_the_first_target,
        "The loss at this position is minus the logarithm of this probability.",
        digits=1,
    ),
    NumberExercise(
        "What is the perplexity of the model before its first step, to one decimal?",
        "e to the power of the first loss, which the curve begins with. The line above the curve does it for the loss "
        "after the step.",
        lambda compute: math.exp(compute({})["losses"][0]),
        "Worse than guessing among ten words: these random weights happen to favour wrong ones.",
        digits=1,
    ),
    ChangeExercise(
        "Find a learning rate at which the very first step makes the loss larger.",
        "Too large a step jumps over the valley.",
        lambda result: result["given"]["step"] == 1 and result["losses"][-1] > result["losses"][0],
        {"learning_rate": 1.0},
        "a learning rate of 1",
        "The gradient is the slope at one point. Far from it, it says nothing.",
    ),
    ChangeExercise(
        f"Bring the loss below {_LOSS} within {_STEPS} steps.",
        "A few times the learning rate that the chapter begins with; too much and the loss swings.",
        _has_learned,
        {"learning_rate": 0.05, "step": _STEPS},
        f"a learning rate of 0.05 and {_STEPS} steps",
        "One sentence can be learned by heart in a few steps. A language takes very many.",
    ),
)
