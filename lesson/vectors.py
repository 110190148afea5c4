"""Word vectors: rows of a model's embedding matrix, their nearest neighbours, analogies, and a projection to a plane.

A model looks these vectors up before its first layer, so a word has the same one in every sentence. Similarity is the
cosine of the angle between two vectors, whatever their lengths. All vectors of a model share a direction, which makes
any two look alike; subtracting their mean first removes it (Mu and Viswanath, 2018, "All-but-the-Top").

Shapes: V vocabulary, W model width, N words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
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

_ROWS = 16_384  # rows of the matrix that are converted to float32 at a time
_SAMPLE, _SEED = 600, 0  # words whose cosines are the baseline


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
    rank: int | None  # of the expected token, from 1; None if none is given, or if the word has several tokens
    rank_without: int | None  # the same for c alone: the control of Linzen (2016)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The cosines of random words, which a cosine must exceed to mean anything."""

    words: int
    mean: float
    low: float  # the 5th percentile
    high: float  # the 95th
    cosines: Tensor  # of all pairs, lowest first: (N (N - 1) / 2,)

    def share_from(self, cosine: float) -> float:
        """The share of random pairs that are at least as similar."""
        below = int(torch.searchsorted(self.cosines, cosine))
        return 1 - below / len(self.cosines)


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
    """A model's word vectors. This refers to the model's matrix, so it keeps the model in memory."""

    def __init__(self, matrix: Tensor, tokenizer: TextTokenizer, *, centred: bool = False) -> None:
        """`matrix`: (V, W), of any dtype, on any device; never copied as a whole. `centred`: minus its mean vector."""
        self._matrix, self._tokenizer = matrix.detach(), tokenizer
        self._centre = self._mean() if centred else torch.zeros(self.size[1])  # (W,)

    @classmethod
    def of(cls, loaded: LoadedModel, *, centred: bool = False) -> Self:
        """The vectors of a model that runs as our own transformer; raises `AttendError` for any other."""
        if not isinstance(loaded.model, Transformer):
            raise AttendError(
                f"{loaded.name} runs through transformers, so Attend can't read its word vectors: choose a model that "
                "runs as our own transformer, such as attend-chat or a GPT-2."
            )
        return cls(loaded.model.embedding.weight, loaded.tokenizer, centred=centred)

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
        vector = self._matrix[ids].float().mean(0).cpu() - self._centre
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
        Word Representations"). If c alone has the same nearest token, the analogy shows nothing (Linzen, 2016,
        "Issues in evaluating semantic spaces using word analogies").
        """
        first, second, third = _normalized([a.vector, b.vector, c.vector])
        with_step, without = self._cosines([first - second + third, third])  # (V,) each
        but = {*a.ids, *b.ids, *c.ids}
        ranked = self._by_cosine(with_step, but=but)
        nearest = list(islice(ranked, most))
        if expected is None or len(expected.ids) != 1:
            return Analogy(nearest, None, None)
        token = expected.ids[0]
        rank, rank_without = _rank(token, chain(nearest, ranked)), _rank(token, self._by_cosine(without, but=but))
        return Analogy(nearest, rank, rank_without)

    def baseline(self) -> Baseline | None:
        """The cosines of all pairs of a seeded sample of words: tokens of letters alone that begin with a space. None
        where the vocabulary has fewer than two of them."""
        order = torch.randperm(self.size[0], generator=torch.Generator().manual_seed(_SEED)).tolist()
        words = list(islice(filter(self._is_word, order), _SAMPLE))
        if len(words) < 2:
            return None
        rows = _normalized([self.of_token(word) for word in words])  # (N, W)
        one, other = torch.triu_indices(len(words), len(words), offset=1)
        cosines = (rows @ rows.T)[one, other].sort().values  # (N (N - 1) / 2,)
        low, high = torch.quantile(cosines, torch.tensor((0.05, 0.95))).tolist()
        return Baseline(len(words), float(cosines.mean()), low, high, cosines)

    def quarters(self) -> list[float]:
        """The mean cosine of two words within each quarter of the vocabulary, in the order of ids."""
        words = list(filter(self._is_word, range(self.size[0])))
        count = len(words) // 4
        means = []
        for start in range(0, 4 * count, max(1, count)):
            rows = _normalized([self.of_token(word) for word in words[start : start + count]])  # (N, W)
            means.append(float((rows.sum(0).square().sum() - len(rows)) / (len(rows) * (len(rows) - 1))))
        return means

    def _mean(self) -> Tensor:
        sums = [part.float().sum(0) for part in self._matrix.split(_ROWS)]
        return (torch.stack(sums).sum(0) / self.size[0]).cpu()  # (W,)

    def _cosines(self, vectors: Sequence[Tensor]) -> Tensor:
        """Cosine similarities of vectors (W,) and all tokens: (N, V)."""
        rows, centre = (
            _normalized(vectors).to(self._matrix.device),
            self._centre.to(self._matrix.device),
        )  # (N, W), (W,)
        parts = (functional.normalize(part.float() - centre, dim=-1) for part in self._matrix.split(_ROWS))
        return torch.cat([rows @ part.T for part in parts], dim=-1).cpu()  # (N, V)

    def _by_cosine(self, cosines: Tensor, *, but: Collection[int]) -> Iterator[Neighbour]:
        """Yields tokens by cosines (V,), highest first, ties by id, without those of `but`, control tokens, white space
        and incomplete characters."""
        for token in cosines.argsort(descending=True, stable=True).tolist():
            if token not in but and self._is_text(token):
                yield Neighbour(token, self._tokenizer.label(token), float(cosines[token]))

    def of_token(self, token: int) -> Tensor:
        """The vector of one token, (W,), float32."""
        return self._matrix[token].float().cpu() - self._centre

    def _is_text(self, token: int) -> bool:
        text = self._tokenizer.decode([token])
        return bool(text.strip()) and "\ufffd" not in text and text.strip().isprintable()

    def _is_word(self, token: int) -> bool:
        text = self._tokenizer.label(token)
        return text.startswith(" ") and len(text) > 2 and text[1:].isalpha()


def _rank(token: int, neighbours: Iterable[Neighbour]) -> int | None:
    """The rank of a token, from 1 for the nearest; None if it is not among them."""
    return next((rank for rank, neighbour in enumerate(neighbours, start=1) if neighbour.id == token), None)


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
