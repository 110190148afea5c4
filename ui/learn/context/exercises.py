"""Exercises on a word in its context."""

from __future__ import annotations

from itertools import combinations

from ui.learn.context.chapter import FIRST, RECORDED
from ui.learn.exercise import ChangeExercise, ChoiceExercise, Compute, Exercise, NumberExercise, Result

_LINES = range(len(FIRST["lines"].splitlines()))
_PAIRS = tuple(combinations(_LINES, 2))
_WORDS = tuple(RECORDED["words"])


def _last(compute: Compute, word: str) -> Result:
    return compute({"word": word})["layers"][-1]


def _furthest_apart(compute: Compute) -> int:
    gaps = [last["same"] - last["different"] for last in (_last(compute, word) for word in _WORDS)]
    return gaps.index(max(gaps))


def _closest(compute: Compute) -> int:
    cosines = compute({})["cosines"]
    alike = [cosines[one][other] for one, other in _PAIRS]
    return alike.index(max(alike))


def _points_elsewhere(result: Result) -> bool:
    return result["alike"] < 0.9


EXERCISES: tuple[Exercise, ...] = (
    ChangeExercise(
        "Let “phone” tell more about the word: change numbers in the table “apple, phone” until the cosine of the two "
        "vectors of “apple” is below 0.90.",
        "Give “apple” less weight and “phone” more; together they should still make 1.",
        _points_elsewhere,
        {"with_phone": [[0.5, 5, 7], [0.5, 6, 0]]},
        "weights of 0.5 and 0.5",
        "The more a word takes from its neighbours, the further its vectors move apart.",
    ),
    NumberExercise(
        "After the last layer, what is the average cosine of “apple” in sentences with different meanings?",
        "Move the slider to the last layer and read the line below the map.",
        lambda compute: _last(compute, "apple")["different"],
        "Still far above the cosine of other words: both are the same word, after all.",
        digits=2,
    ),
    ChoiceExercise(
        "For which word are the two meanings furthest apart after the last layer: the average cosine within a meaning "
        "minus that between the two?",
        "Subtract the two numbers for each of the four words.",
        _WORDS,
        _furthest_apart,
        "The season and the coil. With other sentences, or after another layer, the order may change.",
    ),
    ChoiceExercise(
        "Which two of the four texts use “watch” most alike, as far as attend-chat can tell?",
        "Read its table of cosines, away from the diagonal.",
        tuple(f"{one + 1} and {other + 1}" for one, other in _PAIRS),
        _closest,
        "The model tells the verb from the noun, since different words follow them.",
    ),
)
