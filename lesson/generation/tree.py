"""A tree of words as a language model: small enough to draw, and searched by the strategies of `decoding`.

A word's token is its number in the tree, level by level: the root is 0, and the continuations of token t are 3t + 1,
3t + 2 and 3t + 3. So the same word may occur several times. A text ends after the second word.

Shapes: R is the rows of a pass, V the vocabulary.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import torch
from torch import Tensor

from model.errors import AttendError
from model.interface import Forward, Inspection, Want
from model.text.tokenizer import check_whole

TokenPath = tuple[int, ...]  # tokens after the root
BranchWeights = tuple[tuple[float, ...], ...]

BRANCHES, DEPTH = 3, 2
WORDS = ("The", "nice", "dog", "car", "woman", "house", "guy", "has", "runs", "and", "drives", "is", "turns")
ROOT, END = 0, len(WORDS)
LONGEST_WORD = 20  # characters, as many as fit into the picture
# After "The", "nice", "dog" and "car", as in von Platen, "How to generate text" (Hugging Face, 2020).
WEIGHTS: BranchWeights = ((0.5, 0.4, 0.1), (0.4, 0.3, 0.3), (0.9, 0.05, 0.05), (0.5, 0.3, 0.2))


def children(token: int) -> range:
    """The continuations of a word."""
    return range(BRANCHES * token + 1, BRANCHES * token + BRANCHES + 1)


@dataclass(frozen=True, slots=True)
class WordTree:
    """How probable each continuation is; `AttendError` for numbers that no probabilities can be made of, and for words
    that can't be drawn."""

    weights: BranchWeights = WEIGHTS  # a row for each word that is continued, to be divided by its sum
    words: tuple[str, ...] = WORDS  # by their tokens

    def __post_init__(self) -> None:
        for word in self.words:
            _check_word(word)
        for word, row in zip(self.words, self.weights, strict=False):
            wrong = next((weight for weight in row if not 0 <= weight <= 1), None)
            if wrong is not None:
                raise AttendError(f"A number after “{word}” is {wrong:g}, but must be from 0 to 1.")
            if not sum(row):
                raise AttendError(f"All numbers after “{word}” are 0, so nothing can follow: raise one of them.")

    def shares(self, token: int) -> tuple[float, ...]:
        """The probabilities of a word's continuations, which add up to 1."""
        row = self.weights[token]
        return tuple(weight / sum(row) for weight in row)

    def factors(self, path: TokenPath) -> list[float]:
        """The probability of each word of a text, after the words before it."""
        return [self.shares(parent)[children(parent).index(token)] for parent, token in pairwise((ROOT, *path))]

    def probability(self, path: TokenPath) -> float:
        """The probability of a text."""
        return math.prod(self.factors(path))

    def paths(self) -> Iterator[TokenPath]:
        """Every text, of one word and of two."""
        for first in children(ROOT):
            yield (first,)
            for second in children(first):
                yield (first, second)

    def most_probable(self) -> TokenPath:
        """The most probable whole text, found by looking at all of them."""
        return max((path for path in self.paths() if len(path) == DEPTH), key=self.probability)


_INVISIBLE = ("Cf", "Mn", "Zs")  # format characters, marks on others, spaces
_DIRECTIONS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")  # Unicode Standard Annex 9, table 4


def _check_word(word: str) -> None:
    if not any(unicodedata.category(character) not in _INVISIBLE for character in word):
        raise AttendError(f"A word of the tree is empty, but must have 1 to {LONGEST_WORD} characters: type something.")
    check_whole(word)
    control = next(filter(_is_control, word), None)
    if control is not None:
        raise AttendError(
            f"A word of the tree contains U+{ord(control):04X}, a control character, but may have none: delete it."
        )
    if len(word) > LONGEST_WORD:
        raise AttendError(
            f"“{word[:LONGEST_WORD]}…” has {len(word):,} characters, but a word of the tree may have at most "
            f"{LONGEST_WORD}: shorten it."
        )


def _is_control(character: str) -> bool:
    """Whether it controls devices, lines or the text's direction. Joiners don't: emojis and some scripts need them."""
    return unicodedata.category(character) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(character) in _DIRECTIONS


@dataclass(frozen=True, slots=True)
class TreeCache:
    """The newest token of each row, which is all that the next one depends on."""

    newest: tuple[int, ...]

    @property
    def rows(self) -> int:
        return len(self.newest)

    def select(self, rows: Sequence[int]) -> Self:
        return type(self)(tuple(self.newest[row] for row in rows))

    def join(self, other: Self) -> Self:
        return type(self)(self.newest + other.newest)


@dataclass(frozen=True, slots=True)
class TreeModel:
    """A `LanguageModel` whose distribution after each word is the tree's; after a whole text comes the end token."""

    tree: WordTree
    vocabulary_size: int = len(WORDS) + 1
    context_length: int = 1 + DEPTH + 1  # the root, the words and the end token
    decoder_start: tuple[int, ...] = ()
    joinable: bool = True
    layer_count: int = 0

    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[TreeCache]:
        return self._forward(TreeCache((prompt[-1],)))

    def step(self, tokens: Sequence[int], cache: TreeCache, *, want: Want = Want()) -> Forward[TreeCache]:
        return self._forward(TreeCache(tuple(tokens)))

    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        return self._logits((prompt[-1], *tokens[:-1]))

    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        raise AttendError("A tree of words has no attention: choose a trained model.")

    def _forward(self, cache: TreeCache) -> Forward[TreeCache]:
        return Forward(self._logits(cache.newest), cache)

    def _logits(self, newest: Sequence[int]) -> Tensor:
        """(R, V): the logarithms of the probabilities, -inf for what cannot follow."""
        probabilities = torch.zeros(len(newest), self.vocabulary_size)
        for row, token in enumerate(newest):
            if token < len(self.tree.weights):
                probabilities[row, list(children(token))] = torch.tensor(self.tree.shares(token))
            else:
                probabilities[row, END] = 1
        return probabilities.log()
