"""The interface of an encoder alone (BERT and the like): it reads a whole text and gives the vectors of a word in it.

Every token of an encoder attends to all others, including later ones, and no next token is predicted. So an encoder is
no `model.interface.LanguageModel`, and nothing here decodes.

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
    """One token, for display."""

    label: str  # as written in the vocabulary: in WordPiece, a piece inside a word begins with ##
    first: int  # its characters are text[first:end]
    end: int
    special: bool  # added by the tokenizer, such as [CLS]


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of an encoder for one text."""

    text: str
    pieces: tuple[Piece, ...]
    hidden: Tensor  # (layers + 1, T, W), float32: the embeddings, then the output of every layer
    attention: Tensor  # (layers, heads, T, T), float32: every query's weights over all keys, summing to 1

    def span(self, word: str) -> tuple[int, int]:
        """The characters (first, end) of a whole word's first occurrence, ignoring case; `AttendError` if none."""
        match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.text, re.IGNORECASE)
        if match is None:
            raise AttendError(f'The word "{word}" is not in "{self.text}": add it there or choose another word.')
        return match.span()

    def pieces_of(self, word: str) -> tuple[int, ...]:
        """The indices of the tokens of a word's first occurrence; `AttendError` if there is none."""
        first, end = self.span(word)
        pieces = enumerate(self.pieces)
        return tuple(i for i, piece in pieces if not piece.special and piece.first < end and piece.end > first)

    def vector(self, word: str, layer: int) -> Tensor:
        """A word's vector after a layer, (W,): the mean over its tokens; layer 0 is the embeddings.

        Raises `AttendError` if the text does not contain the word, or the tokenizer drops it.
        """
        if not (indices := self.pieces_of(word)):
            raise AttendError(f'This model\'s tokenizer finds no tokens in "{word}": choose another word.')
        return self.hidden[layer, list(indices)].mean(0)


class Encoder(Protocol):
    """A loaded encoder with its tokenizer."""

    @property
    def name(self) -> str: ...

    @property
    def address(self) -> str:
        """The name or folder that `model.catalog.load_encoder` loads it by."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the user about how it was loaded."""
        ...

    @property
    def layer_count(self) -> int: ...

    @property
    def head_count(self) -> int: ...

    def pieces(self, text: str) -> tuple[Piece, ...]:
        """The tokens of a text, without running the model; `AttendError` if they don't fit into its context."""
        ...

    def read(self, text: str) -> Reading: ...


def cosines(vectors: Sequence[Tensor]) -> Tensor:
    """The cosine similarities of N vectors (W,) with each other, (N, N)."""
    rows = torch.stack(list(vectors))  # (N, W)
    return functional.cosine_similarity(rows[:, None], rows[None], dim=-1)  # (N, N)
