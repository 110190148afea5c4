"""Exercises on attention in real sentences."""

from __future__ import annotations

from itertools import combinations

from ui.learn.exercise import ChangeExercise, ChoiceExercise, Compute, Exercise, Result
from ui.learn.sentences.chapter import SENTENCES

_PAIRS = tuple(combinations(range(len(SENTENCES)), 2))


def _closest(compute: Compute) -> int:
    cosines = compute({})["cosines"]
    alike = [cosines[one][other] for one, other in _PAIRS]
    return alike.index(max(alike))


def _rests_on_the_first_token(result: Result) -> bool:
    attention = result["attention"]
    return attention["targets"]["first"] > attention["layers"] * attention["heads"] / 2


EXERCISES: tuple[Exercise, ...] = (
    ChoiceExercise(
        "Which two of the four sentences use “watch” most alike, as far as the model can tell?",
        "Read the table of similarities, away from its diagonal.",
        tuple(f"{one + 1} and {other + 1}" for one, other in _PAIRS),
        _closest,
        "The model tells the verb from the noun, since different words follow them.",
    ),
    ChangeExercise(
        "Find a word from which more than half of the heads attend most to the first token.",
        "The count stands below the table of heads. Try a word for which there is little to look up.",
        _rests_on_the_first_token,
        {"model": "attend-chat", "sentence": "My name is Anna. What is my name?", "word": "name"},
        "“name” in “My name is Anna. What is my name?”",
        "A head that finds nothing of its kind leaves its attention at the beginning, where it does no harm.",
    ),
)
