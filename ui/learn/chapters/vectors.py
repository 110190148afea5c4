"""The chapter on word vectors: what `lesson/vectors.py` reads in a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from lesson import vectors
from lesson.vectors import Neighbour, Vectors, Word
from model.encoder import cosines
from model.errors import AttendError
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, NumberExercise, Result
from ui.learn.inputs import Given, choice, offered, own, text, whole
from ui.learn.text.slots import cases, field, presets, select
from ui.learn.wording import counted, decimals, rounded, rounded_rows
from ui.runs.models import Models

ANALOGIES = (
    ("going", "go", "come", "coming"),
    ("these", "this", "that", "those"),
    ("his", "he", "they", "their"),
    ("two", "first", "third", "three"),
    ("mother", "father", "brother", "sister"),
    ("bad", "good", "hot", "cold"),
)
LISTS = {
    "Four families": "Monday Tuesday Wednesday Sunday, mother father sister brother, red blue green yellow, "
    "football baseball hockey",
    "Present and past": "is was, are were, go went, have had, do did, say said, see saw, know knew, think thought",
    "Who": "he she his her him they them their, mother father sister brother, boy girl man woman",
    "How many": "one two three four five six ten, first second third, some many several few, once twice",
}
NEAREST, ANSWERS = 8, 5  # that are shown
MAX_LETTERS, MAX_LIST = 40, 500  # characters of a word and of the list
MIN, MAX = 3, 24  # words of the list
_FIELDS = ("a", "b", "c", "expected")
_FIRST = dict(zip(_FIELDS, ANALOGIES[0], strict=True))
_LOOK: Mapping[str, Any] = {"live": True, "size": 9, "bare": True}
INPUTS = {
    "model": own(slot=select("models")),
    "word": text("dog", MAX_LETTERS, live=True, size=14),  # whose neighbours are listed
    "a": text(_FIRST["a"], MAX_LETTERS, "The first word", **_LOOK),  # the analogy a - b + c
    "b": text(_FIRST["b"], MAX_LETTERS, "The field “Minus”", **_LOOK),
    "c": text(_FIRST["c"], MAX_LETTERS, "The field “Plus”", **_LOOK),
    "expected": own(_FIRST["expected"], field(**_LOOK)),  # may be empty
    "words": text(LISTS["Four families"], MAX_LIST, "The list", rows=2, live=True, bare=True),
    "around": whole(1, 0, 3),  # neighbours of each on the map
}


def compute(models: Models, given: Given) -> dict[str, Any]:
    readable = offered(models, *models.in_memory())  # whose vectors can be read without a download
    name = choice(readable[0], readable).read(given, "model")
    learned = Vectors.of(models.get(name))
    word, baseline = learned.word(given["word"].strip()), learned.baseline()
    result = {
        "model": name,
        "models": [(name, models.display_name(name)) for name in readable],
        "size": learned.size,
        "tokens": f"{learned.size[0]:,}",
        "numbers": f"{learned.size[1]}",
        "learned_from": [] if name != "attend-translate" else name,
        "chance": [] if baseline is None else "measured",
        "nearest": _neighbour_bars(learned.neighbours([word], NEAREST)[0]),
        "word_cut": _cut([word]),
        "word_pieces": _pieces([word]),
        **_analogy(learned, given),
        **_list(learned, given),
    }
    if baseline is not None:
        shares = {f"chance.{key}": decimals(value) for key, value in asdict(baseline).items() if key != "words"}
        result |= {"baseline": asdict(baseline), "chance.words": f"{baseline.words:,}", **shares}
    return result


def _analogy(learned: Vectors, given: Given) -> dict[str, Any]:
    words = a, b, c = [learned.word(given[name].strip()) for name in "abc"]
    typed = INPUTS["expected"].read(given, "expected")
    expected = None if typed == "" else learned.word(text(typed, MAX_LETTERS).read({}, "expected").strip())
    analogy = learned.analogy(a, b, c, ANSWERS, expected)
    return {
        "expected": typed,
        "analogy": {"words": [word.text for word in words], "rank": analogy.rank, "rank_without": analogy.rank_without},
        "sum": "{} − {} + {}".format(*(word.text for word in words)),
        "verdict": _verdict(expected, analogy.nearest, analogy.rank, analogy.rank_without),
        "analogy_first": {"token": analogy.nearest[0].text} if analogy.nearest else None,
        "third": words[2].text,
        "expected_word": expected.text if expected else None,
        "rank": f"{analogy.rank or 0:,}",
        "rank_alone": f"{analogy.rank_without or 0:,}",
        "analogy_cut": _cut(words),
        "analogy_pieces": _pieces(words),
        "analogy_nearest": _neighbour_bars(analogy.nearest),
    }


def _verdict(expected: Word | None, nearest: Sequence[Neighbour], rank: int | None, alone: int | None) -> list[str]:
    """Whether the analogy works, and whether it is the step that makes it work."""
    if not nearest:
        return ["nothing"]
    if expected is None:
        return ["nearest"]
    if rank == 1:
        return ["expected", "by itself" if alone == 1 else "by the step"]
    return ["elsewhere" if rank else "not a token" if len(expected.pieces) > 1 else "one of three", "seldom"]


def _list(learned: Vectors, given: Given) -> dict[str, Any]:
    """The words of the list: how alike they are, and where they lie on their plane, each with its neighbours."""
    words = [learned.word(word) for word in _words(given["words"])]
    plane = vectors.plane([word.vector for word in words])
    near = [(number, token) for number, few in enumerate(learned.neighbours(words, given["around"])) for token in few]
    word_tokens = {token for word in words if len(word.ids) == 1 for token in word.ids}
    near.reverse()  # so that a token which several words have near stays with the first of them
    beside = {token.id: (number, token) for number, token in near if token.id not in word_tokens}
    points = rounded_rows(plane.points([*(word.vector for word in words), *map(learned.of_token, beside)]))
    neighbours = zip(beside.values(), points[len(words) :], strict=True)
    return {
        "listed": [word.text for word in words],
        "words_cut": _cut(words),
        "words_pieces": _pieces(words),
        "cosines": rounded_rows(cosines([word.vector for word in words])),
        "points": points[: len(words)],
        "neighbours": [(token.text, number, *point) for (number, token), point in neighbours],
        "shares": [rounded(share) for share in plane.shares],
    }


def _words(listed: str) -> list[str]:
    words = list(dict.fromkeys(word for word in re.split(r"[\s,;]+", listed) if word))
    if not MIN <= len(words) <= MAX:
        raise AttendError(f"The list has {counted(len(words), 'different word')}: enter {MIN} to {MAX}.")
    if long := next((word for word in words if len(word) > MAX_LETTERS), None):
        raise AttendError(f"The list has a word of {len(long)} letters, but the limit is {MAX_LETTERS}: shorten it.")
    return words


def _cut(words: Sequence[Word]) -> list[str]:
    return ["averaged"] if any(len(word.pieces) > 1 for word in words) else []


def _pieces(words: Sequence[Word]) -> str:
    """The words that are more than one token."""
    cut = [word for word in words if len(word.pieces) > 1]
    return "; ".join(f"{word.text} = {' + '.join(piece.strip() or piece for piece in word.pieces)}" for word in cut)


def _neighbour_bars(neighbours: Sequence[Neighbour]) -> list[tuple[Any, ...]]:
    return [({"token": token.text}, rounded(token.cosine), decimals(token.cosine)) for token in neighbours]


def _needs_its_step(result: Result) -> bool:
    analogy = result["analogy"]
    is_new = analogy["words"][0] not in {words[0] for words in ANALOGIES}
    return is_new and analogy["rank"] == 1 and (analogy["rank_without"] or 1) > 1


CHAPTER = Chapter(
    compute,
    INPUTS,
    values="tokens numbers chance.words chance.mean chance.low chance.high nearest listed cosines "
    "sum analogy_first third rank_alone expected_word rank analogy_nearest word_pieces analogy_pieces words_pieces",
    slots={
        "learned_from": cases("attend-translate"),
        "chance": cases("measured"),
        "analogies": presets(
            {"{} − {} + {}".format(*words): dict(zip(_FIELDS, words, strict=True)) for words in ANALOGIES}
        ),
        "verdict": cases(
            *("nothing", "nearest", "expected", "by itself", "by the step"),
            *("elsewhere", "not a token", "one of three", "seldom"),
        ),
        "lists": presets({name: {"words": words} for name, words in LISTS.items()}),
        **{f"{name}_cut": cases("averaged") for name in ("word", "analogy", "words")},
    },
    exercises={
        "nearest_of_monday": NumberExercise(lambda compute: compute({"word": "Monday"})["nearest"][0][1], digits=2),
        "needs_its_step": ChangeExercise(
            _needs_its_step, {"a": "playing", "b": "play", "c": "eat", "expected": "eating"}
        ),
    },
)
