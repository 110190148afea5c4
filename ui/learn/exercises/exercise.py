"""The exercises of a chapter: questions whose answers the chapter itself computes, none of them stored.

Their words stand in the chapter's text: the question, and what is said of a right answer, of each wrong option and of
typical mistakes. A prediction is an exercise that is asked within the chapter: what follows its slot stays hidden until
the reader has guessed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from model.errors import AttendError
from ui.learn.exercises.checks import Checks, fulfilled
from ui.learn.exercises.exercise_text import ExerciseText
from ui.learn.inputs import Inputs
from ui.learn.text.markdown import TextError

Result = Mapping[str, Any]  # of a chapter
Compute = Callable[[Inputs], Result]  # the chapter, with its models

WRONG = "Not yet. Try again, or take the hint."  # where nothing more can be said
_MAX = 1e12  # of a typed number; JSON has integers that no float can hold


@dataclass(frozen=True, slots=True)
class NumberExercise:
    """A number to type; right within half a unit of its last digit: if it is the solution, rounded or not.

    Where the solution follows from a number that the page shows rounded, so may the answer: 17.46 is e^2.86, though the
    loss is 2.855 and e^2.855 is 17.37.
    """

    kind: ClassVar = "number"
    solve: Callable[[Compute], float]
    digits: int = 0  # after the decimal point
    mistakes: Mapping[str, Callable[[Compute], float]] = field(default_factory=dict, hash=False)  # what they lead to
    from_shown: Callable[[Compute], Sequence[float]] = lambda _: ()  # solutions, of the numbers as the page shows them
    predicted: bool = False

    def feedback(self, compute: Compute, answer: Any, state: Inputs, text: ExerciseText) -> str | None:
        """What is wrong with an answer; None if it is right. Raises `AttendError` for anything but a number."""
        del state
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            raise AttendError("Type a number first.")
        if not abs(answer) <= _MAX:  # NaN, too
            return WRONG
        right = self.solve(compute)
        if any(self._is(answer, solution) for solution in (right, *self.from_shown(compute))):
            return None
        for name, mistake in self.mistakes.items():
            if self._is(answer, mistake(compute)):
                return text.mistakes[name]
        return self._slip(answer, right)

    def _is(self, answer: float, number: float) -> bool:
        return abs(answer - number) <= (0.5 * 10.0**-self.digits if self.digits else 0.0) + 1e-9

    def _slip(self, answer: float, right: float) -> str:
        """What is said of a mistake that can happen with any number."""
        if self._is(-answer, right):
            return "The size is right. Check the sign."
        if self.digits and right and any(abs(answer * factor / right - 1) < 0.02 for factor in (100, 0.01)):
            return "You are off by a factor of 100: 0.25 and 25 % are the same share, so see which one is asked for."
        if any(abs(answer - round(right, digits)) < 1e-9 for digits in range(1, self.digits)):
            return f"That is rounded too much. Give {self.digits} digits after the decimal point."
        if self.digits and abs(answer - right) < 10.0**-self.digits:
            return "Only the last digit is off: round the result, and only at the end."
        return WRONG

    def solution(self, compute: Compute, text: ExerciseText) -> str:
        del text
        return f"{self.solve(compute):.{self.digits}f}"


@dataclass(frozen=True, slots=True)
class ChoiceExercise:
    """One of several options, which the text lists; right is the one for which the chapter computes most."""

    kind: ClassVar = "choice"
    measure: Callable[[Compute], Sequence[float]]  # a number for each option
    count: int  # of the options
    predicted: bool = False

    def solve(self, compute: Compute) -> int:
        """The index of the right option."""
        numbers = self.measure(compute)
        return numbers.index(max(numbers))

    def feedback(self, compute: Compute, answer: Any, state: Inputs, text: ExerciseText) -> str | None:
        """What is wrong with an answer; None if it is right. Raises `AttendError` for anything but an index."""
        del state
        if isinstance(answer, bool) or not isinstance(answer, int) or not 0 <= answer < len(text.options):
            raise AttendError("Choose one of the answers first.")
        return None if answer == self.solve(compute) else text.options[answer].feedback or WRONG

    def solution(self, compute: Compute, text: ExerciseText) -> str:
        return text.options[self.solve(compute)].text.removesuffix(".")  # what shows it ends the sentence


@dataclass(frozen=True, slots=True)
class ChangeExercise:
    """The chapter is to be changed until its result fulfils a condition; the text has the example in words."""

    kind: ClassVar = "change"
    holds: Checks
    example: Mapping[str, Any] = field(hash=False)  # an input that fulfils it, as the page would send it
    mistakes: Mapping[str, Checks] = field(default_factory=dict, hash=False)  # by their conditions
    predicted: bool = field(default=False, init=False)

    def feedback(self, compute: Compute, answer: Any, state: Inputs, text: ExerciseText) -> str | None:
        """What is wrong with `state`, the input as it stands on the page; None if it fulfils the condition."""
        del answer
        result = compute(state)
        if fulfilled(self.holds, result):
            return None
        wrong = (text.mistakes[name] for name, mistake in self.mistakes.items() if fulfilled(mistake, result))
        return next(wrong, WRONG)

    def solution(self, compute: Compute, text: ExerciseText) -> str:
        del compute
        return text.answer


Exercise = NumberExercise | ChoiceExercise | ChangeExercise
Exercises = Mapping[str, tuple[Exercise, ExerciseText]]  # of a chapter, by their names


def declared(name: str, exercise: Exercise, text: ExerciseText) -> dict[str, Any]:
    """What the page is told of an exercise, without its answer."""
    return {
        "name": name,
        "kind": exercise.kind,
        "question": text.question,
        "hint": text.hint,
        "options": [option.text for option in text.options],
        "on_page": text.on_page,
        "predicted": exercise.predicted,
    }


def check_text(exercise: Exercise, text: ExerciseText, where: str) -> None:
    """`TextError` if the text lacks what such an exercise must have; `where` names it in the sentence."""
    options = exercise.count if isinstance(exercise, ChoiceExercise) else 0
    if len(text.options) != options:
        raise TextError(f"{where} has {len(text.options)} lines “Option”, but its chapter expects {options}.")
    if bool(text.answer) != isinstance(exercise, ChangeExercise):
        raise TextError(f"{where} must {'have a line “Answer”' if not text.answer else 'have no line “Answer”'}.")
    if isinstance(exercise, ChangeExercise) and not text.on_page:
        raise TextError(f"{where} must have a line “On the page”, since it is solved there.")
    if bool(text.hint) == exercise.predicted:
        raise TextError(f"{where} must {'have no line “Hint”' if text.hint else 'have a line “Hint”'}.")
    mistakes = () if isinstance(exercise, ChoiceExercise) else tuple(exercise.mistakes)
    if sorted(text.mistakes) != sorted(mistakes):
        listed = ", ".join(mistakes) or "none"
        raise TextError(f"{where} must have a line “Mistake NAME” for each of its chapter's mistakes: {listed}.")


def answer(exercises: Exercises, compute: Compute, inputs: Inputs) -> dict[str, Any]:
    """The result of an attempt at an exercise.

    Args:
        inputs: `exercise`, its name, and `state`, the chapter's input as it stands on the page, with either `answer`,
            to be checked, or `reveal`, to be shown the solution.

    Returns:
        `right`, None if the solution was asked for; `feedback` to a wrong answer; `explanation` and `solution`, as far
        as they may be told; `example`: an input that solves the exercise.

    Raises:
        AttendError: for an answer that isn't one, and for a state that the chapter refuses.
    """
    name, state = inputs.get("exercise"), inputs.get("state", {})
    if not isinstance(name, str) or name not in exercises or not isinstance(state, Mapping):
        raise AttendError("This page is out of date: reload it.")
    exercise, text = exercises[name]
    compute = once(_with_model(compute, state))
    reply: dict[str, Any] = {"right": None, "feedback": "", "explanation": "", "solution": ""}
    if inputs.get("reveal") is True:
        example = exercise.example if isinstance(exercise, ChangeExercise) else None
        return {**reply, **_solved(exercise, text, compute), "example": example}
    wrong = exercise.feedback(compute, inputs.get("answer"), state, text)
    reply |= {"right": wrong is None, "feedback": wrong or ""}
    if exercise.predicted:
        return {**reply, **_solved(exercise, text, compute), "feedback": "" if wrong == WRONG else reply["feedback"]}
    return {**reply, "explanation": text.explanation if wrong is None else ""}


def sheet(exercises: Exercises, compute: Compute, *, solved: bool) -> list[dict[str, Any]]:
    """The exercises of a chapter as they are printed, with their solutions or without."""
    compute = once(compute)
    return [
        {
            "question": text.question,
            "options": [option.text for option in text.options],
            "on_page": text.on_page,
            "predicted": exercise.predicted,
            **(_printed(exercise, text, compute) if solved else {}),
        }
        for exercise, text in exercises.values()
    ]


def _printed(exercise: Exercise, text: ExerciseText, compute: Compute) -> dict[str, str]:
    """The solution, or why this page has none."""
    try:
        return _solved(exercise, text, compute)
    except AttendError as error:
        return {"solution": "not available here", "explanation": str(error)}


def _solved(exercise: Exercise, text: ExerciseText, compute: Compute) -> dict[str, str]:
    return {"solution": exercise.solution(compute, text), "explanation": text.explanation}


def value_of(inputs: Inputs, *path: str | int) -> Callable[[Compute], Any]:
    """What the chapter computes from these inputs, at this place in its result."""

    def value(compute: Compute) -> Any:
        result: Any = compute(inputs)
        for one in path:
            result = result[one]
        return result

    return value


def nearest(options: Sequence[float], number: Callable[[Compute], float], *, predicted: bool = False) -> ChoiceExercise:
    """A choice between numbers, of which the nearest to one is right."""

    def measure(compute: Compute) -> list[float]:
        right = number(compute)
        return [-abs(one - right) for one in options]

    return ChoiceExercise(measure, len(options), predicted)


def once(compute: Compute) -> Compute:
    """The chapter, which computes the same input only once: the solution and each mistake of an exercise ask for it."""
    results: dict[str, Result] = {}

    def remembered(inputs: Inputs) -> Result:
        key = json.dumps(inputs, sort_keys=True)
        if key not in results:
            results[key] = compute(inputs)
        return results[key]

    return remembered


def _with_model(compute: Compute, state: Inputs) -> Compute:
    """The chapter with the model that is chosen in it, if it has a choice."""
    if "model" not in state:
        return compute
    return lambda inputs: compute({"model": state["model"], **inputs})
