"""The chapter on vocabularies: what `lesson/vocabulary.py` learns from typed sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import Any

from lesson import vocabulary
from lesson.tokens import words_of
from lesson.vocabulary import Merge
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, Result
from ui.learn.inputs import Inputs, text, whole
from ui.learn.text.slots import cases, presets
from ui.learn.wording import brief, counted
from ui.runs.models import Models

FIRST: Mapping[str, Any] = {  # the words of the paper, as often as it counts them, and a new one
    "text": " ".join(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3),
    "new": "lowest",
    "merges": 5,
}
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "The paper’s example": FIRST,
    "She sells": {
        "text": "She sells seashells by the seashore. The shells she sells are surely seashells. So if she sells "
        "shells on the seashore, I am sure she sells seashore shells.",
        "new": "She sells a shell on the shore.",
        "merges": FIRST["merges"],
    },
    "French": {
        "text": "Les chats dorment. Les chiens dormaient. Nous dormons, vous dormez, ils dormiront. Le chat et le "
        "chien mangent; nous mangeons, vous mangez.",
        "new": "Les oiseaux dorment et mangent.",
        "merges": FIRST["merges"],
    },
}
MAX, MAX_NEW = 2_000, 200  # characters
MAX_MERGES = 200
PAIRS, WORDS = 12, 150  # that are shown
INPUTS = {
    "text": text(FIRST["text"], MAX, rows=4, live=True, bare=True),  # the sentences
    "merges": whole(FIRST["merges"], 0, MAX_MERGES),  # how many of them are made
    "new": text(FIRST["new"], MAX_NEW, "The new text", live=True),  # what is cut with them
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    words = words_of(inputs["text"])
    learned = vocabulary.learn(words, MAX_MERGES)
    merges = learned[: inputs["merges"]]
    now = vocabulary.apply_merges(Counter(map(vocabulary.spell, words)), merges)
    pairs = vocabulary.pair_counts(now)
    symbols = set(vocabulary.symbols_of(words, merges))
    times = Counter(words)
    tokens = sum(len(spelling) * count for spelling, count in now.items())
    others = len(pairs) - PAIRS
    return {
        "merges": len(merges),
        "limits": {"merges": (0, max(1, len(learned)))},
        "merges_made": len(merges),
        "merges_possible": len(learned),
        "learned": [_merge(merge, number, later=number > len(merges)) for number, merge in enumerate(learned, start=1)],
        "no_merges": [] if learned else "none",
        "pairs": _pairs(pairs),
        "no_pairs": "none" if not pairs else "more" if others > 0 else [],
        "other_pairs": counted(others, "other"),
        "words": [
            (tuple(map(brief, vocabulary.segment(word, merges))), count) for word, count in list(times.items())[:WORDS]
        ],
        "words_and_tokens": f"{counted(len(words), 'word')} in {counted(tokens, 'token')}.",
        "different": len(times),
        "cut": [_cut(word, merges, symbols, known=word in times) for word in words_of(inputs["new"])],
        "symbols": len(symbols),
        "sizes": [
            ("Words", f"{len(times):,}", f"{len(words):,}"),
            ("Characters", f"{len(set(''.join(words))):,}", f"{sum(map(len, words)):,}"),
            ("Byte pairs", f"{len(symbols):,}", f"{tokens:,}"),
        ],
    }


def _merge(merge: Merge, number: int, *, later: bool) -> dict[str, Any]:
    pair = [brief(symbol) for symbol in merge.pair]
    return {"cells": (number, {"pieces": pair}, {"pieces": [brief(merge.symbol)]}, f"{merge.count:,}"), "later": later}


def _pairs(pairs: Counter[tuple[str, str]]) -> list[tuple[Any, ...]]:
    """The most frequent pairs, of equal ones the first."""
    most = max(pairs.values(), default=0)
    return [
        (
            {"pieces": [brief(symbol) for symbol in pair]},
            f"{count:,}",
            {"bar": count / most},
            "" if index or most < 2 else "next",
        )
        for index, (pair, count) in enumerate(pairs.most_common(PAIRS))
    ]


def _cut(word: str, merges: tuple[Merge, ...], symbols: set[str], *, known: bool) -> dict[str, Any]:
    """A word of the new text: what each of the three vocabularies makes of it."""
    pieces = vocabulary.segment(word, merges)
    return {
        "word": brief(word),
        "known": known,
        "characters": [(character, character in symbols) for character in word],
        "pieces": [(brief(piece), piece in symbols) for piece in pieces],
    }


def _pieces_of(result: Result, word: str) -> int:
    return next(len(pieces) for pieces, _ in result["words"] if "".join(pieces).startswith(word))


def _merges_until_whole(compute: Compute) -> float:
    return next(merges for merges in count() if _pieces_of(compute({"merges": merges}), "newest") == 1)


_SPLITS = (None, ["low", f"est{vocabulary.END}"], ["lo", "w", f"est{vocabulary.END}"], [f"lowest{vocabulary.END}"])


def _splits(compute: Compute) -> list[float]:
    """1 for the option that the first example's new word is split into."""
    ((pieces, _),) = [zip(*cut["pieces"], strict=True) for cut in compute({})["cut"]]
    return [float(list(pieces) == split) for split in _SPLITS]


def _times_of_first(compute: Compute, text: str) -> float:
    """How often e and s stand side by side."""
    pairs = {tuple(pair["pieces"]): int(times) for pair, times, *_ in compute({"text": text, "merges": 0})["pairs"]}
    return pairs["e", "s"]


def _symbols(compute: Compute, merges: int) -> float:
    return compute({"merges": merges})["symbols"]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values="merges_made merges_possible learned pairs other_pairs words_and_tokens sizes",
    slots={"examples": presets(EXAMPLES), "no_merges": cases("none"), "no_pairs": cases("none", "more")},
    exercises={
        "split_of_lowest": ChoiceExercise(_splits, len(_SPLITS), predicted=True),
        "times_of_e_and_s": NumberExercise(
            lambda compute: _times_of_first(compute, FIRST["text"]),
            mistakes={"different": lambda compute: _times_of_first(compute, "low lower newest widest")},
        ),
        "size_after_five": NumberExercise(
            lambda compute: _symbols(compute, 5),
            mistakes={
                "no_end": lambda compute: _symbols(compute, 5) - 1,
                "no_merges": lambda compute: _symbols(compute, 0),
                "merges_only": lambda compute: _symbols(compute, 5) - _symbols(compute, 0),
            },
        ),
        "merges_until_whole": NumberExercise(
            _merges_until_whole, mistakes={"one_early": lambda compute: _merges_until_whole(compute) - 1}
        ),
        "q_and_u": ChangeExercise(
            [("learned", "!=", []), ("learned.0.cells.1.pieces", "==", ["q", "u"])],
            {"text": "quick quiet queen", "merges": 1, "new": "quiz"},
            {"nothing_merged": [("learned", "==", [])], "another_pair": [("learned", "!=", [])]},
        ),
    },
)
