"""What the rest may know of an encoder alone (BERT and its like): a text read whole, and one word's vectors in it.

An encoder reads every token with all others, those behind it included, and predicts no next one; so it has nothing of
`model.interface.LanguageModel`, and nothing here decodes.

Shapes: T tokens of a text, W model width, N texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from model.errors import AttendError


@dataclass(frozen=True, slots=True)
class Piece:
    """One token as shown."""

    label: str  # as the vocabulary writes it, so a piece that goes on with a word begins with ## in WordPiece
    first: int  # where its characters begin in the text
    end: int
    special: bool  # put there by the tokenizer, such as [CLS]


@dataclass(frozen=True, slots=True)
class Reading:
    """One text, read whole."""

    text: str
    pieces: tuple[Piece, ...]
    hidden: Tensor  # (layers + 1, T, W), float32: of the embeddings, then of every layer
    attention: Tensor  # (layers, heads, T, T), float32: of every query over all keys, summing to 1

    def span(self, word: str) -> tuple[int, int]:
        """Where a word stands first, as a word of its own, in capitals or not; `AttendError` where it does not."""
        found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.text, re.IGNORECASE)
        if found is None:
            raise AttendError(f'The word "{word}" is not in "{self.text}": add it there or choose another word.')
        return found.span()

    def pieces_of(self, word: str) -> tuple[int, ...]:
        """The numbers of the tokens that a word is made of."""
        first, end = self.span(word)
        numbers = enumerate(self.pieces)
        return tuple(i for i, piece in numbers if not piece.special and piece.first < end and piece.end > first)

    def vector(self, word: str, layer: int) -> Tensor:
        """What a layer makes of a word, (W,): the mean over its tokens; layer 0 is the embeddings."""
        if not (numbers := self.pieces_of(word)):
            raise AttendError(f'This model\'s tokenizer finds no tokens in "{word}": choose another word.')
        return self.hidden[layer, list(numbers)].mean(0)


class Encoder(Protocol):
    """A loaded encoder with its tokenizer."""

    @property
    def name(self) -> str: ...

    @property
    def address(self) -> str:
        """What `model.catalog.load_encoder` was given, and so would load it again."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a person should read about how it was loaded."""
        ...

    @property
    def layer_count(self) -> int: ...

    @property
    def head_count(self) -> int: ...

    def pieces(self, text: str) -> tuple[Piece, ...]:
        """The tokens of a text, which costs no pass; `AttendError` for more than the model reads."""
        ...

    def read(self, text: str) -> Reading: ...


def cosines(vectors: Sequence[Tensor]) -> Tensor:
    """The cosine similarity of each vector (W,) to each, (N, N)."""
    rows = torch.stack(list(vectors))  # (N, W)
    return functional.cosine_similarity(rows[:, None], rows[None], dim=-1)  # (N, N)
