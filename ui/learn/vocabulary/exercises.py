"""Exercises on byte-pair encoding."""

from __future__ import annotations

from itertools import count

from ui.learn.exercise import ChangeExercise, Compute, Exercise, NumberExercise, Result


def _pieces_of(result: Result, word: str) -> int:
    return next(len(pieces) for pieces, _ in result["words"] if "".join(pieces).startswith(word))


def _merges_until_whole(compute: Compute) -> float:
    return next(merges for merges in count() if _pieces_of(compute({"merges": merges}), "newest") == 1)


EXERCISES: tuple[Exercise, ...] = (
    NumberExercise(
        "In the paper’s example, after how many merges is “newest” a single token?",
        "Move the slider and watch the words below it.",
        _merges_until_whole,
        "Its ending comes first, since “widest” shares it; the rest of the word follows, merge by merge.",
    ),
    ChangeExercise(
        "Type sentences in which the very first merge joins q and u.",
        "The most frequent pair of neighbours wins, and the first one seen if several are equally frequent.",
        lambda result: bool(result["learned"]) and tuple(result["learned"][0][:2]) == ("q", "u"),
        {"text": "quick quiet queen", "merges": 1, "new": "quiz"},
        "quick quiet queen",
        "No rule says that u follows q. The counts of your sentences do.",
    ),
)
