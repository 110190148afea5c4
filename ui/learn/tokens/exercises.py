"""Exercises on tokens."""

from __future__ import annotations

from typing import Any

from ui.learn.exercise import ChangeExercise, ChoiceExercise, Compute, Exercise, NumberExercise, Result

_SCRIPTS = ("hello", "été", "привет", "日本")


def _cut(result: Result, name: str) -> dict[str, Any]:
    return next(cut for cut in result["cuts"] if cut["rule"] and cut["name"] == name)


def _bytes_of(compute: Compute, text: str) -> float:
    return _cut(compute({"text": text}), "bytes")["count"]


def _most_bytes(compute: Compute) -> int:
    each = [_bytes_of(compute, text) / len(text) for text in _SCRIPTS]
    return each.index(max(each))


def _is_lost(result: Result) -> bool:
    cut = _cut(result, "words")
    return cut["count"] == 3 and bool(cut["lost"])


EXERCISES: tuple[Exercise, ...] = (
    NumberExercise(
        "How many tokens is “naïve café” as bytes?",
        "ï and é take two bytes each.",
        lambda compute: _bytes_of(compute, "naïve café"),
        "Ten characters, the space included, and two of them take two bytes in UTF-8.",
    ),
    ChoiceExercise(
        "Which of these texts takes the most bytes per character?",
        "Try them in the field above: UTF-8 spends fewest on the letters of English.",
        _SCRIPTS,
        _most_bytes,
        "Three bytes for each of the two characters: a tokenizer that knows few of them needs many tokens for such a "
        "text.",
    ),
    ChangeExercise(
        "Type a text that Words splits into exactly three tokens and can’t turn back into the same text.",
        "Words are joined by single spaces.",
        _is_lost,
        {"text": "one  two three"},
        "one  two three, with two spaces after “one”",
        "Such tokens don’t say where spaces stood, or how many. Tokenizers of language models keep spaces inside "
        "their tokens, so nothing is lost.",
    ),
)
