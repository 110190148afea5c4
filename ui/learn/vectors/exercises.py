"""Exercises on word vectors."""

from __future__ import annotations

from ui.learn.exercise import ChangeExercise, Exercise, NumberExercise, Result

_SHOWN = {"going", "these", "his", "two", "mother", "bad"}  # the first words of the analogies on buttons


def _needs_its_step(result: Result) -> bool:
    analogy = result["analogy"]
    is_new = analogy["words"][0]["text"] not in _SHOWN
    return is_new and analogy["rank"] == 1 and (analogy["rank_without"] or 1) > 1


EXERCISES: tuple[Exercise, ...] = (
    NumberExercise(
        "What is the cosine of “Monday” and its nearest neighbour in the model chosen above, to two decimals?",
        "Type the word under “Nearest neighbours”.",
        lambda compute: compute({"word": "Monday"})["nearest"][0][1],
        "Far above what two words have by chance: days are used alike.",
        digits=2,
    ),
    ChangeExercise(
        "Find an analogy that isn’t among the buttons, that works, and whose third word alone would not have led to "
        "its answer.",
        "Try forms of verbs, or pronouns.",
        _needs_its_step,
        {"a": "playing", "b": "play", "c": "eat", "expected": "eating"},
        "playing − play + eat ≈ eating",
        "Only such an analogy shows that a difference of two vectors has a meaning of its own.",
    ),
)
