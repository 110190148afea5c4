"""Exercises on how a text is generated."""

from __future__ import annotations

from lesson.generation.tree import WEIGHTS
from ui.learn.exercise import ChangeExercise, ChoiceExercise, Compute, Exercise, NumberExercise, Result
from ui.learn.generation.chapter import FIRST

_SETTINGS = {"temperature": 5, "top_k": 3, "top_p": 0.9, "frequency_penalty": 1}  # of the choice, in its order


def _reorders(compute: Compute) -> int:
    """The setting that puts another word on top."""

    def best(given: dict[str, float]) -> str:
        return max(compute(given)["filters"]["bars"], key=lambda bar: bar["after"])["word"]

    others = [best({name: value}) != best({}) for name, value in _SETTINGS.items()]
    return others.index(True)


def _keeps_five(result: Result) -> bool:
    filters = result["filters"]
    left = sum(not bar["cut"] for bar in filters["bars"])
    return (filters["top_p"], filters["top_k"], filters["logits"]) == (0.9, 0, [list(FIRST["logits"][0])]) and left == 5


def _greedy_wins(result: Result) -> bool:
    search, weights = result["search"], [list(row) for row in WEIGHTS]
    others = [row for index, row in enumerate(map(list, search["tree"])) if index != 2]
    unchanged = others == [*weights[:2], weights[3]] and search["beams"] == 2
    return unchanged and search["found"]["path"] == search["greedy"]["path"]


EXERCISES: tuple[Exercise, ...] = (
    NumberExercise(
        "With top-k 2 and nothing else, how probable is “forward”, in percent, to one decimal?",
        "Only “forward” and “toward” are left, and their probabilities are divided by their sum.",
        lambda compute: 100 * compute({"top_k": 2})["filters"]["bars"][0]["after"],
        "57.21 / (57.21 + 35.76): what the others had is shared out in proportion.",
        digits=1,
    ),
    ChoiceExercise(
        "Which of these settings puts another word on top?",
        "Try each with the examples above the sliders.",
        ("temperature 5", "top-k 3", "top-p 0.9", "frequency penalty 1"),
        _reorders,
        "“forward” was used twice, so it loses 2 and “toward” only 1. Temperature, top-k and top-p never change the "
        "order of the words they leave.",
    ),
    ChangeExercise(
        "Set top-p to 0.9 and find a temperature at which five words are left.",
        "The flatter the distribution, the more words it takes to reach 0.9.",
        _keeps_five,
        {"top_p": 0.9, "temperature": 2.5},
        "a temperature of 2.5",
        "Top-p adapts: it keeps few words where the model is sure and many where it isn’t. Top-k would keep the same "
        "number in both.",
    ),
    ChangeExercise(
        "Change only the numbers after “dog”, so that two beams find the same text as greedy decoding.",
        "“nice woman” has 0.5 × 0.4 = 0.2. Nothing after “dog” may beat that.",
        _greedy_wins,
        {"tree": [*WEIGHTS[:2], (0.4, 0.3, 0.3), WEIGHTS[3]]},
        "0.4, 0.3 and 0.3 after “dog”",
        "Now “dog has” has 0.4 × 0.4 = 0.16. Greedy decoding goes wrong only where a less probable word goes on "
        "better.",
    ),
)
