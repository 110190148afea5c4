"""The chapter on vocabularies: what `lesson/vocabulary.py` learns from typed sentences, as the page shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lesson import vocabulary
from lesson.tokens import words_of
from lesson.vocabulary import Merge
from ui.learn.validation import Given, brief, integer, text
from ui.runs.models import Models

FIRST: Mapping[str, Any] = {  # the words of the paper, as often as it counts them, and a new one
    "text": " ".join(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3),
    "new": "lowest",
    "merges": 5,
}
MAX, MAX_NEW = 2_000, 200  # characters
MAX_MERGES = 200
PAIRS, WORDS = 12, 150  # that are shown


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: `text`, the sentences; `merges`, how many of the merges are made; and `new`, a text to cut with them.
    """
    sentences = text(given, "text", FIRST["text"], MAX)
    new = text(given, "new", FIRST["new"], MAX_NEW, "The new text")
    words = words_of(sentences)
    learned = vocabulary.learn(words, MAX_MERGES)
    made = learned[: integer(given, "merges", FIRST["merges"], 0, MAX_MERGES)]
    now = vocabulary.apply_merges(Counter(map(vocabulary.spell, words)), made)
    pairs = vocabulary.pair_counts(now)
    symbols = set(vocabulary.symbols_of(words, made))
    times = Counter(words)
    return {
        "text": sentences,
        "new": new,
        "merges": len(made),
        "learned": [(*map(brief, merge.pair), brief(merge.symbol), merge.count) for merge in learned],
        "pairs": [(*map(brief, pair), count) for pair, count in pairs.most_common(PAIRS)],  # of equal ones the first
        "pair_count": len(pairs),
        "words": [
            (tuple(map(brief, vocabulary.segment(word, made))), count) for word, count in list(times.items())[:WORDS]
        ],
        "word_count": len(words),
        "different": len(times),
        "characters": len({character for word in words for character in word}),
        "letters": sum(map(len, words)),
        "symbols": len(symbols),
        "tokens": sum(len(spelling) * count for spelling, count in now.items()),
        "cut": [_cut(word, made, symbols, known=word in times) for word in words_of(new)],
    }


def _cut(word: str, merges: tuple[Merge, ...], symbols: set[str], *, known: bool) -> dict[str, Any]:
    """A word of the new text: what each of the three vocabularies makes of it."""
    pieces = vocabulary.segment(word, merges)
    return {
        "word": brief(word),
        "known": known,
        "characters": [(character, character in symbols) for character in word],
        "pieces": [(brief(piece), piece in symbols) for piece in pieces],
    }
