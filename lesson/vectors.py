"""Word vectors: rows of a model's embedding matrix, their nearest neighbours, analogies, and a projection to a plane.

A model looks these vectors up before its first layer, so a word has the same one in every sentence. Similarity is the
cosine of the angle between two vectors, whatever their lengths.

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

_ROWS = 16_384  # of the matrix, converted to float32 at a time


@dataclass(frozen=True, slots=True)
class Word:
    """A word in a model's vocabulary: its tokens and its vector."""

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    vector: Tensor  # (W,), float32: its token's vector, or the mean over its tokens


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A token near a vector."""

    id: int
    text: str
    cosine: float


@dataclass(frozen=True, slots=True)
class Analogy:
    """The answer to an analogy."""

    nearest: list[Neighbour]
    rank: int | None  # of the expected token, 1 being the nearest; None if none was given, or a word of several tokens


@dataclass(frozen=True, slots=True)
class Plane:
    """The plane of the first two principal components."""

    centre: Tensor  # (W,)
    axes: Tensor  # (2, W), orthonormal
    shares: tuple[float, float]  # explained variance ratio of each axis

    def points(self, vectors: Sequence[Tensor]) -> Tensor:
        """Projects vectors (W,) onto the plane: (N, 2)."""
        return (_normalized(vectors) - self.centre) @ self.axes.T  # (N, 2)


class Vectors:
    """A model's word vectors. Refers to the model's matrix, and so keeps the model in memory."""

    def __init__(self, matrix: Tensor, tokenizer: TextTokenizer) -> None:
        """`matrix`: (V, W), of any dtype, on any device; never copied as a whole."""
        self._matrix, self._tokenizer = matrix.detach(), tokenizer

    @classmethod
    def of(cls, loaded: LoadedModel) -> Self:
        """The vectors of a model that runs as our own transformer; raises `AttendError` for any other."""
        if not isinstance(loaded.model, Transformer):
            raise AttendError(
                f"{loaded.name} runs through transformers, so Attend can't read its word vectors: choose a model that "
                "runs as our own transformer, such as attend-chat or a GPT-2."
            )
        return cls(loaded.model.embedding.weight, loaded.tokenizer)

    @property
    def size(self) -> tuple[int, int]:
        """(V, W)."""
        return self._matrix.shape[0], self._matrix.shape[1]

    def word(self, text: str) -> Word:
        """Looks up a word with a leading space, as inside a text, or without one if that takes fewer tokens.

        Raises `AttendError` if the vocabulary has no tokens for it.
        """
        encodings = (self._tokenizer.encode(f" {text}"), self._tokenizer.encode(text))
        ids = min(filter(None, encodings), key=len, default=None)  # with the space if both are as long
        if ids is None:
            raise AttendError(f"This model's vocabulary has no token for {text!r}: enter another word.")
        vector = self._matrix[ids].float().mean(0).cpu()
        return Word(text, tuple(ids), tuple(map(self._tokenizer.label, ids)), vector)

    def neighbours(self, words: Sequence[Word], most: int) -> list[list[Neighbour]]:
        """The `most` tokens nearest to each word, without its own."""
        cosines = self._cosines([word.vector for word in words])  # (N, V)
        return [
            list(islice(self._by_cosine(row, but=word.ids), most)) for row, word in zip(cosines, words, strict=True)
        ]

    def analogy(self, a: Word, b: Word, c: Word, most: int, expected: Word | None = None) -> Analogy:
        """The tokens nearest to a - b + c, without those of a, b and c: what is to c as a is to b.

        The vectors are normalized to length 1 first (Mikolov et al., 2013, "Linguistic Regularities in Continuous Space
        Word Representations").
        """
        first, second, third = _normalized([a.vector, b.vector, c.vector])
        cosines = self._cosines([first - second + third])[0]
        found = self._by_cosine(cosines, but={*a.ids, *b.ids, *c.ids})
        nearest, rank = list(islice(found, most)), None
        if expected is not None and len(expected.ids) == 1:
            numbered = enumerate((neighbour.id for neighbour in chain(nearest, found)), start=1)
            rank = next((position for position, token in numbered if token == expected.ids[0]), None)
        return Analogy(nearest, rank)

    def _cosines(self, vectors: Sequence[Tensor]) -> Tensor:
        """Cosine similarities of vectors (W,) and all tokens: (N, V)."""
        rows = _normalized(vectors).to(self._matrix.device)  # (N, W)
        parts = (functional.normalize(part.float(), dim=-1) for part in self._matrix.split(_ROWS))
        return torch.cat([rows @ part.T for part in parts], dim=-1).cpu()  # (N, V)

    def _by_cosine(self, cosines: Tensor, *, but: Collection[int]) -> Iterator[Neighbour]:
        """Yields tokens by cosines (V,), highest first, ties by id, without those of `but`, control tokens, white space
        and incomplete characters."""
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
    """Principal component analysis of at least three vectors (W,), normalized to length 1.

    The sign of a component is arbitrary; here its largest number is positive.
    """
    rows = _normalized(vectors)  # (N, W)
    centre = rows.mean(0)
    _, sizes, axes = torch.linalg.svd(rows - centre, full_matrices=False)
    first, second = axes[:2]
    variance = sizes.square()
    shares = (variance[:2] / variance.sum().clamp(min=torch.finfo(variance.dtype).tiny)).tolist()
    return Plane(centre, torch.stack([_with_sign(first), _with_sign(second)]), (shares[0], shares[1]))


def _with_sign(axis: Tensor) -> Tensor:
    return axis * axis[axis.abs().argmax()].sign()


def _normalized(vectors: Sequence[Tensor]) -> Tensor:
    return functional.normalize(torch.stack(list(vectors)), dim=-1)  # (N, W)
