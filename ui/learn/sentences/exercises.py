"""Exercises on attention in real sentences."""

from __future__ import annotations

from ui.learn.exercise import ChangeExercise, ChoiceExercise, Compute, Exercise, Result

_GROUPS = {
    "itself": "“it” itself",
    "first": "the first token",
    "previous": "the token just before it",
    "elsewhere": "other words",
}


def _most_heads(compute: Compute) -> int:
    targets = compute({})["attention"]["targets"]
    return list(_GROUPS).index(max(_GROUPS, key=targets.__getitem__))


def _rests_on_the_first_token(result: Result) -> bool:
    attention = result["attention"]
    behind = attention["word"][0] > 1  # where there is more to attend to than the word and the first token
    return behind and attention["targets"]["first"] > attention["layers"] * attention["heads"] / 2


EXERCISES: tuple[Exercise, ...] = (
    ChoiceExercise(
        "In the first example, count each head by the token that gets most of its attention from “it”. Which group has "
        "the most heads?",
        "The counts stand below the table of heads.",
        tuple(_GROUPS.values()),
        _most_heads,
        "Few heads do one thing only, and what they do depends on the word: count them at another one.",
    ),
    ChangeExercise(
        "Find a word that doesn’t begin its sentence and from which more than half of the heads attend most to the "
        "first token.",
        "Change the field “Word”; the count stands below the table of heads. Try a word with little to look up.",
        _rests_on_the_first_token,
        {"model": "attend-chat", "sentence": "My name is Anna. What is my name?", "word": "name"},
        "“name” in “My name is Anna. What is my name?”",
        "A head that finds nothing of its kind leaves its attention at the beginning, where it does no harm.",
    ),
)
