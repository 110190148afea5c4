"""Words as vectors: the rows of a model's embedding matrix, how alike they are, and what their differences say.

These are the vectors that a model looks up before its first layer, so a word has the same one in every sentence. How
alike two are is the cosine of the angle between them; length does not count.

Shapes: V vocabulary, W model width, N words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.tokenizer import TextTokenizer
from model.transformer.decoder import Transformer

_ROWS = 16_384  # of the matrix that are made single precision at a time


@dataclass(frozen=True, slots=True)
class Word:
    """A word as a model's vocabulary has it."""

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    vector: Tensor  # (W,), float32: of its token, or the mean of its tokens'


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A token near a vector."""

    id: int
    text: str
    cosine: float


@dataclass(frozen=True, slots=True)
class Analogy:
    """What is to one word as another is to a third."""

    nearest: list[Neighbour]
    rank: int | None  # of the token that was expected, 1 being the nearest; None where no single one was


@dataclass(frozen=True, slots=True)
class Plane:
    """Where words lie on the plane that keeps most of what sets them apart."""

    centre: Tensor  # (W,)
    axes: Tensor  # (2, W), of length 1 and at right angles
    shares: tuple[float, float]  # of all variance of the words, which each axis keeps

    def points(self, vectors: Sequence[Tensor]) -> Tensor:
        """Vectors (W,) on the plane, (N, 2)."""
        return (_directions(vectors) - self.centre) @ self.axes.T  # (N, 2)


class Vectors:
    """What a model has learned of its tokens. It keeps the model's matrix, and so the model, in memory."""

    def __init__(self, matrix: Tensor, tokenizer: TextTokenizer) -> None:
        """`matrix`: (V, W), in any precision and place; it is read, never copied as a whole."""
        self._matrix, self._tokenizer = matrix.detach(), tokenizer

    @classmethod
    def of(cls, loaded: LoadedModel) -> Self:
        """Those of a model that runs as our own transformer; `AttendError` for any other."""
        if not isinstance(loaded.model, Transformer):
            raise AttendError(
                f"{loaded.name} runs through transformers, so Attend can't read its word vectors: choose a model that "
                "runs as our own transformer, such as attend-chat or a GPT-2."
            )
        return cls(loaded.model.embedding.weight, loaded.tokenizer)

    @property
    def size(self) -> tuple[int, int]:
        """How many tokens have a vector, and how many numbers each is."""
        return self._matrix.shape[0], self._matrix.shape[1]

    def word(self, text: str) -> Word:
        """A word as it stands inside a text, behind a space, or as it begins one where that takes fewer tokens.

        Raises `AttendError` for what the vocabulary cannot say.
        """
        encodings = (self._tokenizer.encode(f" {text}"), self._tokenizer.encode(text))
        ids = min(filter(None, encodings), key=len, default=None)  # of equally long ones the first
        if ids is None:
            raise AttendError(f"This model's vocabulary has no token for {text!r}: write another word.")
        vector = self._matrix[ids].float().mean(0).cpu()
        return Word(text, tuple(ids), tuple(map(self._tokenizer.label, ids)), vector)

    def neighbours(self, words: Sequence[Word], most: int) -> list[list[Neighbour]]:
        """Of each word the tokens nearest to it, its own left out."""
        cosines = self._cosines([word.vector for word in words])  # (N, V)
        return [
            list(islice(self._by_cosine(row, but=word.ids), most)) for row, word in zip(cosines, words, strict=True)
        ]

    def analogy(self, a: Word, b: Word, c: Word, most: int, expected: Word | None = None) -> Analogy:
        """The tokens nearest to a - b + c, those of the three left out: what is to c as a is to b.

        Each vector has length 1 first (Mikolov et al., 2013, "Linguistic Regularities in Continuous Space Word
        Representations").
        """
        first, second, third = _directions([a.vector, b.vector, c.vector])
        cosines = self._cosines([first - second + third])[0]
        found = self._by_cosine(cosines, but={*a.ids, *b.ids, *c.ids})
        nearest, rank = list(islice(found, most)), None
        if expected is not None and len(expected.ids) == 1:
            numbered = enumerate((neighbour.id for neighbour in chain(nearest, found)), start=1)
            rank = next((position for position, token in numbered if token == expected.ids[0]), None)
        return Analogy(nearest, rank)

    def _cosines(self, vectors: Sequence[Tensor]) -> Tensor:
        """Of each vector (W,) with the vectors of all tokens, (N, V)."""
        rows = _directions(vectors).to(self._matrix.device)  # (N, W)
        parts = (functional.normalize(part.float(), dim=-1) for part in self._matrix.split(_ROWS))
        return torch.cat([rows @ part.T for part in parts], dim=-1).cpu()  # (N, V)

    def _by_cosine(self, cosines: Tensor, *, but: Collection[int]) -> Iterator[Neighbour]:
        """Tokens by their cosines (V,), highest first, ties by id; without the ids of `but`, control tokens, and those
        that are white space or no whole character."""
        for token in cosines.argsort(descending=True, stable=True).tolist():
            if token not in but and self._is_text(token):
                yield Neighbour(token, self._tokenizer.label(token), float(cosines[token]))

    def of_token(self, token: int) -> Tensor:
        """The vector of one token, (W,), float32."""
        return self._matrix[token].float().cpu()

    def _is_text(self, token: int) -> bool:
        text = self._tokenizer.decode([token])
        return bool(text.strip()) and "\ufffd" not in text and text.strip().isprintable()


def plane(vectors: Sequence[Tensor]) -> Plane:
    """The first two principal components of the directions of vectors (W,), three or more.

    Each axis points to where its largest number is positive, since a component's sign is nobody's choice.
    """
    rows = _directions(vectors)  # (N, W)
    centre = rows.mean(0)
    _, sizes, axes = torch.linalg.svd(rows - centre, full_matrices=False)
    first, second = axes[:2]
    variance = sizes.square()
    shares = (variance[:2] / variance.sum().clamp(min=torch.finfo(variance.dtype).tiny)).tolist()
    return Plane(centre, torch.stack([_pointed(first), _pointed(second)]), (shares[0], shares[1]))


def _pointed(axis: Tensor) -> Tensor:
    return axis * axis[axis.abs().argmax()].sign()


def _directions(vectors: Sequence[Tensor]) -> Tensor:
    return functional.normalize(torch.stack(list(vectors)), dim=-1)  # (N, W)
