"""The exercises of a chapter: questions whose answers the chapter itself computes, none of them stored.

Their words stand in the chapter's text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from model.errors import AttendError
from ui.learn.exercises.exercise_text import ExerciseText
from ui.learn.inputs import Given, whole
from ui.learn.text.markdown import TextError

Result = Mapping[str, Any]  # of a chapter
Compute = Callable[[Given], Result]  # the chapter, with its models

_MAX = 1e12  # of a typed number; JSON has integers that no float can hold


@dataclass(frozen=True, slots=True)
class NumberExercise:
    """A number to type; right within one unit of its last digit, since some round and some cut."""

    solve: Callable[[Compute], float]
    digits: int = 0  # behind the point

    def check(self, compute: Compute, answer: Any, state: Given, text: ExerciseText) -> bool:
        """Raises `AttendError` for anything but a number."""
        del state, text
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            raise AttendError("Type a number first.")
        if not abs(answer) <= _MAX:  # NaN, too
            return False
        unit = 10.0**-self.digits if self.digits else 0.0
        return abs(answer - self.solve(compute)) <= unit + 1e-9

    def solution(self, compute: Compute, text: ExerciseText) -> str:
        del text
        return f"{self.solve(compute):.{self.digits}f}"


@dataclass(frozen=True, slots=True)
class ChoiceExercise:
    """One of several options, which the text lists; right is the one for which the chapter computes most."""

    measure: Callable[[Compute], Sequence[float]]  # a number for each option
    count: int  # of the options

    def solve(self, compute: Compute) -> int:
        """The index of the right option."""
        numbers = self.measure(compute)
        return numbers.index(max(numbers))

    def check(self, compute: Compute, answer: Any, state: Given, text: ExerciseText) -> bool:
        """Raises `AttendError` for anything but an option's index."""
        del state
        if isinstance(answer, bool) or not isinstance(answer, int) or not 0 <= answer < len(text.options):
            raise AttendError("Choose one of the answers first.")
        return answer == self.solve(compute)

    def solution(self, compute: Compute, text: ExerciseText) -> str:
        return text.options[self.solve(compute)]


@dataclass(frozen=True, slots=True)
class ChangeExercise:
    """The chapter is to be changed until its result fulfils a condition; the text has the example in words."""

    holds: Callable[[Result], bool]
    example: Mapping[str, Any] = field(hash=False)  # an input that fulfils it, as the page would send it

    def check(self, compute: Compute, answer: Any, state: Given, text: ExerciseText) -> bool:
        """`state`: the chapter's input as it stands on the page."""
        del answer, text
        return self.holds(compute(state))

    def solution(self, compute: Compute, text: ExerciseText) -> str:
        del compute
        return text.answer


Exercise = NumberExercise | ChoiceExercise | ChangeExercise
_KINDS: Mapping[type[Exercise], str] = MappingProxyType(
    {NumberExercise: "number", ChoiceExercise: "choice", ChangeExercise: "change"}
)


def declared(exercise: Exercise, text: ExerciseText) -> dict[str, Any]:
    """What the page is told of an exercise, without its answer."""
    return {"kind": _KINDS[type(exercise)], "question": text.question, "hint": text.hint, "options": text.options}


def check_text(exercise: Exercise, text: ExerciseText, where: str) -> None:
    """`TextError` if the text lacks what such an exercise must have; `where` names it in the sentence."""
    options = exercise.count if isinstance(exercise, ChoiceExercise) else 0
    if len(text.options) != options:
        raise TextError(f"{where} has {len(text.options)} lines “Option”, but its chapter expects {options}.")
    if bool(text.answer) != isinstance(exercise, ChangeExercise):
        raise TextError(f"{where} must {'have a line “Answer”' if not text.answer else 'have no line “Answer”'}.")


def answer(exercises: Sequence[tuple[Exercise, ExerciseText]], compute: Compute, given: Given) -> dict[str, Any]:
    """The result of an attempt at an exercise.

    Args:
        given: `exercise`, its index, and `state`, the chapter's input as it stands on the page, with either `answer`,
            to be checked, or `reveal`, to be shown the solution.

    Raises:
        AttendError: for an answer that isn't one, and for a state that the chapter refuses.
    """
    index = whole(0, 0, len(exercises) - 1).read(given, "exercise")
    exercise, text = exercises[index]
    state = given.get("state", {})
    if not isinstance(state, Mapping):
        raise AttendError("This page is out of date: reload it.")
    compute = _with_model(compute, state)
    if given.get("reveal") is True:
        example = exercise.example if isinstance(exercise, ChangeExercise) else None
        solved = {"solution": exercise.solution(compute, text), "explanation": text.explanation, "example": example}
        return {"exercise": index, "right": None, **solved}
    right = exercise.check(compute, given.get("answer"), state, text)
    return {"exercise": index, "right": right, "explanation": text.explanation if right else ""}


def _with_model(compute: Compute, state: Given) -> Compute:
    """The chapter with the model that is chosen in it, if it has a choice."""
    if "model" not in state:
        return compute
    return lambda given: compute({"model": state["model"], **given})
