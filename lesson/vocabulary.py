"""A byte-pair vocabulary from a few sentences, merge after merge (Sennrich et al., 2016, "Neural Machine Translation of
Rare Words with Subword Units"), beside the vocabularies of their words and of their characters.

Each word is spelled in characters, with an end mark after the last one. Then, again and again, the most frequent pair
of adjacent symbols becomes one symbol everywhere; of equally frequent pairs, the one seen first. Each word counts as
often as it occurs. A new word is spelled and merged in the same order. The code is written to be read: every merge
counts all pairs anew. The vocabularies of Attend's models are made by SentencePiece (training/vocabulary.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

END = "</w>"  # the end mark; typed text cannot become it, since its symbols are single characters at first
LEAST = 2  # how often a pair must occur to be merged

Spelling = tuple[str, ...]  # a word as symbols
SymbolPair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Merge:
    """Two symbols that became one."""

    pair: SymbolPair
    count: int  # how often they stood side by side then

    @property
    def symbol(self) -> str:
        return "".join(self.pair)


def spell(word: str) -> Spelling:
    return (*word, END)


def pair_counts(spellings: Counter[Spelling]) -> Counter[SymbolPair]:
    """How often each pair of adjacent symbols occurs, in the order in which pairs are first seen."""
    counts: Counter[SymbolPair] = Counter()
    for spelling, times in spellings.items():
        for pair in pairwise(spelling):
            counts[pair] += times
    return counts


def apply_merge(spelling: Spelling, pair: SymbolPair) -> Spelling:
    """The word with every occurrence of this pair merged into one symbol, from left to right."""
    symbols: list[str] = []
    index = 0
    while index < len(spelling):
        taken = 2 if spelling[index : index + 2] == pair else 1
        symbols.append("".join(spelling[index : index + taken]))
        index += taken
    return tuple(symbols)


def learn(words: Iterable[str], most: int) -> tuple[Merge, ...]:
    """The merges learned from these words, in order; fewer than `most` if no pair is left that occurs twice."""
    spellings = Counter(map(spell, words))
    merges: list[Merge] = []
    while len(merges) < most:
        counts = pair_counts(spellings)
        pair = max(counts, key=counts.__getitem__, default=None)  # the first of equal ones
        if pair is None or counts[pair] < LEAST:
            break
        merges.append(Merge(pair, counts[pair]))
        spellings = apply_merges(spellings, merges[-1:])
    return tuple(merges)


def segment(word: str, merges: Sequence[Merge]) -> Spelling:
    """A word, known or new, as symbols: spelled, then merged in the order in which the merges were learned."""
    spelling = spell(word)
    for merge in merges:
        spelling = apply_merge(spelling, merge.pair)
    return spelling


def apply_merges(spellings: Counter[Spelling], merges: Sequence[Merge]) -> Counter[Spelling]:
    """The same words after these merges, in the same order."""
    for merge in merges:
        spellings = Counter({apply_merge(spelling, merge.pair): times for spelling, times in spellings.items()})
    return spellings


def symbols_of(words: Iterable[str], merges: Sequence[Merge]) -> tuple[str, ...]:
    """The byte-pair vocabulary: the end mark and every character in the order seen, then the merged symbols."""
    characters = (character for word in words for character in word)
    return tuple(dict.fromkeys([END, *characters, *(merge.symbol for merge in merges)]))
