"""The chapter on word vectors: what `lesson/vectors.py` reads in a model, as the page shows it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lesson import vectors
from lesson.vectors import Neighbour, Vectors, Word
from model import names
from model.encoder import cosines
from model.errors import AttendError
from ui.learn.validation import Given, choice, counted, integer, rounded, rounded_rows, text
from ui.runs.models import Models

FIRST: Mapping[str, Any] = {
    "word": "dog",
    "a": "going",
    "b": "go",
    "c": "come",
    "expected": "coming",
    "words": "Monday Tuesday Wednesday Sunday, mother father sister brother, red blue green yellow, "
    "football baseball hockey",
    "around": 1,
}
CALLED = {"a": "The first word", "b": "The field “Minus”", "c": "The field “Plus”"}  # as the page labels them
NEAREST, ANSWERS = 8, 5  # that are shown
MAX_LETTERS, MAX_LIST = 40, 500  # characters of a word and of the list
MIN, MAX = 3, 24  # words of the list
MAX_AROUND = 3  # neighbours of each on the map


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: `model`; `word`, whose neighbours are shown; the analogy `a` - `b` + `c` with what is `expected`, maybe
            nothing; `words`, a list; and `around`, how many neighbours of each stand on the map.
    """
    readable = _readable(models)
    name = choice(given, "model", readable[0], readable)
    learned = Vectors.of(models.get(name))
    word, baseline = learned.word(_word(given, "word")), learned.baseline()
    return {
        "model": name,
        "models": [(name, models.display_name(name)) for name in readable],
        "size": learned.size,
        "baseline": None if baseline is None else {name: rounded(one, 4) for name, one in asdict(baseline).items()},
        "word": _spelled(word),
        "nearest": _neighbour_values(learned.neighbours([word], NEAREST)[0]),
        "analogy": _analogy(learned, given),
        **_list(learned, given),
    }


def _readable(models: Models) -> list[str]:
    """Models whose vectors can be read without a download: ours, then those in memory."""
    ours = (name for name in names.embedded() if name in models.names)
    return list(dict.fromkeys((*ours, *models.in_memory())))


def _analogy(learned: Vectors, given: Given) -> dict[str, Any]:
    a, b, c = (learned.word(_word(given, name)) for name in "abc")
    typed = given.get("expected", FIRST["expected"])
    expected = None if typed == "" else learned.word(_word(given, "expected"))
    found = learned.analogy(a, b, c, ANSWERS, expected)
    return {
        "words": [_spelled(word) for word in (a, b, c)],
        "nearest": _neighbour_values(found.nearest),
        "expected": None if expected is None else _spelled(expected),
        "rank": found.rank,
        "rank_without": found.rank_without,
    }


def _list(learned: Vectors, given: Given) -> dict[str, Any]:
    """The words of the list: how alike they are, and where they lie on their plane, each with its neighbours."""
    words = [learned.word(word) for word in _words(given)]
    around = integer(given, "around", FIRST["around"], 0, MAX_AROUND)
    plane = vectors.plane([word.vector for word in words])
    near = [(number, token) for number, few in enumerate(learned.neighbours(words, around)) for token in few]
    word_tokens = {token for word in words if len(word.ids) == 1 for token in word.ids}
    near.reverse()  # so that a token which several words have near stays with the first of them
    beside = {token.id: (number, token) for number, token in near if token.id not in word_tokens}
    points = rounded_rows(plane.points([*(word.vector for word in words), *map(learned.of_token, beside)]))
    neighbours = zip(beside.values(), points[len(words) :], strict=True)
    return {
        "words": [_spelled(word) for word in words],
        "around": around,
        "cosines": rounded_rows(cosines([word.vector for word in words])),
        "points": points[: len(words)],
        "neighbours": [(token.text, number, *point) for (number, token), point in neighbours],
        "shares": [rounded(share) for share in plane.shares],
    }


def _word(given: Given, name: str) -> str:
    return text(given, name, FIRST[name], MAX_LETTERS, CALLED.get(name)).strip()


def _words(given: Given) -> list[str]:
    listed = text(given, "words", FIRST["words"], MAX_LIST, "The list")
    words = list(dict.fromkeys(word for word in re.split(r"[\s,;]+", listed) if word))
    if not MIN <= len(words) <= MAX:
        raise AttendError(f"The list has {counted(len(words), 'different word')}: enter {MIN} to {MAX}.")
    if long := next((word for word in words if len(word) > MAX_LETTERS), None):
        raise AttendError(f"The list has a word of {len(long)} letters, but the limit is {MAX_LETTERS}: shorten it.")
    return words


def _spelled(word: Word) -> dict[str, Any]:
    return {"text": word.text, "pieces": word.pieces}


def _neighbour_values(neighbours: list[Neighbour]) -> list[tuple[str, float | None]]:
    return [(token.text, rounded(token.cosine)) for token in neighbours]
