"""What an attempt at an exercise is answered, with exercises of the tests' own."""

from __future__ import annotations

import math
from typing import Any

import pytest

from model.errors import AttendError
from ui.learn.exercises.exercise import WRONG, ChangeExercise, ChoiceExercise, Compute, NumberExercise
from ui.learn.exercises.exercise import answer as answer_exercise
from ui.learn.exercises.exercise_text import ExerciseText, Option
from ui.learn.inputs import Inputs


@pytest.mark.parametrize(
    ("solution", "right", "wrong"),
    [
        (0.8415, (0.84, 0.8415), (0.83, 0.85)),  # sin 1: 0.84 is 0.0015 away, 0.85 is 0.0085
        (0.378, (0.38,), (0.37, 0.39)),  # 0.37 is cut, not rounded
        (0.375, (0.38, 0.375), (0.36, 0.39)),  # half a unit, rounded up
        (-1.3863, (-1.39,), (-1.38, -1.4)),
    ],
)
def test_a_number_is_right_if_it_is_the_solution_rounded_or_not(
    solution: float, right: tuple[float, ...], wrong: tuple[float, ...]
) -> None:
    exercise = NumberExercise(lambda _: solution, digits=2)
    assert all(exercise.feedback(lambda _: {}, answer, {}, BY_HAND) is None for answer in right)
    assert all(exercise.feedback(lambda _: {}, answer, {}, BY_HAND) for answer in wrong)
    with pytest.raises(AttendError):
        exercise.feedback(lambda _: {}, str(right[0]), {}, BY_HAND)


def test_a_number_may_follow_from_what_the_page_shows_rounded() -> None:
    """e^2.855 is 17.37, but the page says 2.86, and e^2.86 is 17.46."""
    exercise = NumberExercise(lambda _: math.exp(2.855), digits=1, from_shown=lambda _: [math.exp(2.86)])
    answers = (17.37, 17.4, 17.46, 17.5, 17.3, 17.6)
    right = [exercise.feedback(lambda _: {}, answer, {}, BY_HAND) is None for answer in answers]
    assert right == [True, True, True, True, False, False]


BY_HAND = ExerciseText(
    "?",
    "Since 1 / 4 + 1 / 8.",
    "Add.",
    (Option("a"), Option("b", "Not b."), Option("c")),
    {"product": "You multiplied."},
)


@pytest.mark.parametrize(
    ("answer", "feedback"),
    [
        (0.375, None),
        (0.0312, "You multiplied."),  # 1/4 · 1/8
        (-0.375, "The size is right. Check the sign."),
        (37.5, "You are off by a factor of 100: 0.25 and 25 % are the same share, so see which one is asked for."),
        (0.38, "That is rounded too much. Give 3 digits after the decimal point."),
        (0.3756, "Only the last digit is off: round the result, and only at the end."),
        (0.5, WRONG),
    ],
)
def test_a_typical_mistake_is_answered_as_such(answer: float, feedback: str | None) -> None:
    exercise = NumberExercise(lambda _: 1 / 4 + 1 / 8, digits=3, mistakes={"product": lambda _: 1 / 4 * 1 / 8})
    assert exercise.feedback(lambda _: {}, answer, {}, BY_HAND) == feedback


def test_a_wrong_option_and_a_wrong_change_are_answered_for_themselves() -> None:
    choice = ChoiceExercise(lambda _: [3, 1, 2], 3)
    assert [choice.feedback(lambda _: {}, option, {}, BY_HAND) for option in range(3)] == [None, "Not b.", WRONG]
    change = ChangeExercise([("x", "==", 2)], {"x": 2}, {"product": [("x", "==", 4)]})
    assert [change.feedback(lambda inputs: inputs, None, {"x": x}, BY_HAND) for x in (2, 3, 4)] == [
        *(None, WRONG, "You multiplied.")
    ]


def test_a_prediction_tells_the_result_after_any_guess() -> None:
    exercises = {"one": (ChoiceExercise(lambda _: [3, 1, 2], 3, predicted=True), BY_HAND)}
    replies = [answer_exercise(exercises, lambda _: {}, {"exercise": "one", "answer": option}) for option in range(3)]
    assert [(reply["right"], reply["feedback"]) for reply in replies] == [(True, ""), (False, "Not b."), (False, "")]
    assert all((reply["solution"], reply["explanation"]) == ("a", BY_HAND.explanation) for reply in replies)


def test_an_attempt_computes_the_same_input_once() -> None:
    """The solution and the mistake ask for one input, each time the attempt is made."""
    inputs_seen: list[Inputs] = []

    def compute(inputs: Inputs) -> dict[str, Any]:
        inputs_seen.append(inputs)
        return {"x": 2.0}

    def solve(chapter: Compute) -> float:
        return chapter({"x": [1, 2]})["x"]

    mistakes = {"product": lambda chapter: solve(chapter) * 2}
    exercises = {"one": (NumberExercise(solve, digits=1, mistakes=mistakes), BY_HAND)}
    replies = [answer_exercise(exercises, compute, {"exercise": "one", "answer": number}) for number in (3.0, 4.0)]
    assert [reply["feedback"] for reply in replies] == [WRONG, "You multiplied."]
    assert inputs_seen == [{"x": [1, 2]}] * 2
