"""A byte-pair vocabulary from a few sentences, merge after merge (Sennrich et al., 2016, "Neural Machine Translation of
Rare Words with Subword Units"), beside the vocabularies of their words and of their characters.

Each word is spelled in characters, with a mark of its own behind the last. Then, again and again, the pair of symbols
that stands side by side most often, each word counted as often as it occurs, becomes one symbol everywhere; of pairs
that are equally frequent the one seen first. A new word is spelled and merged in the same order. Written to be read:
every merge counts all pairs anew. What Attend's models use is made by SentencePiece (training/vocabulary.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

END = "</w>"  # of a word; typed text cannot become it, since all of its symbols are single characters at first
LEAST = 2  # how often a pair must occur to be merged: one that occurs once is no rule

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
    """The merges that these words teach, in order; fewer than `most` where no pair is left that occurs twice."""
    spellings = Counter(map(spell, words))
    merges: list[Merge] = []
    while len(merges) < most:
        counts = pair_counts(spellings)
        pair = max(counts, key=counts.__getitem__, default=None)  # of equal ones the first
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
    """The byte-pair vocabulary: the end mark and every character, as first seen, then what the merges made."""
    characters = (character for word in words for character in word)
    return tuple(dict.fromkeys([END, *characters, *(merge.symbol for merge in merges)]))
