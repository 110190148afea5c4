"""A language model of a few lines for the tests of decoding: any function from a text to logits.

Its cache holds each row's whole text and its logits depend on all of it, so a strategy or a loop that does not obey
`parents` gets other numbers at once. Its attention names the text it belongs to: key i weighs as much as token i + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from decoding.strategy import Request
from model.interface import Attention, Forward, Inspection, Want

Text = tuple[int, ...]


@dataclass(frozen=True)
class TinyCache:
    """The texts themselves."""

    texts: tuple[Text, ...]

    @property
    def rows(self) -> int:
        return len(self.texts)

    def select(self, rows: Sequence[int]) -> Self:
        return type(self)(tuple(self.texts[row] for row in rows))

    def join(self, other: Self) -> Self:
        return type(self)(self.texts + other.texts)


class TinyModel:
    """`LanguageModel` over a function from a whole text to the logits of its next token."""

    joinable = True
    layer_count = 0

    def __init__(self, logits_of: Callable[[Text], Sequence[float]], context_length: int = 1000) -> None:
        self._logits_of = logits_of
        self.context_length = context_length
        self.vocabulary_size = len(logits_of((0,)))
        self.passes = 0
        self.rows_fed = 0

    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[TinyCache]:
        return self._forward(TinyCache((tuple(prompt),)), want)

    def step(self, tokens: Sequence[int], cache: TinyCache, *, want: Want = Want()) -> Forward[TinyCache]:
        assert len(tokens) == cache.rows, "one token a row"
        grown = tuple((*text, token) for text, token in zip(cache.texts, tokens, strict=True))
        return self._forward(TinyCache(grown), want)

    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        return torch.tensor([self._logits_of((*prompt, *tokens[:i])) for i in range(len(tokens))])

    def inspect(self, tokens: Sequence[int]) -> Inspection:
        raise NotImplementedError("decoding never asks for it")

    def _forward(self, cache: TinyCache, want: Want) -> Forward[TinyCache]:
        assert all(len(text) <= self.context_length for text in cache.texts), "longer than the context"
        self.passes += 1
        self.rows_fed += cache.rows
        logits = torch.tensor([self._logits_of(text) for text in cache.texts], dtype=torch.float32)
        attention = None
        if want.attention:
            weights = torch.tensor(cache.texts, dtype=torch.float32) + 1  # (rows, keys)
            attention = Attention((weights / weights.sum(-1, keepdim=True))[:, None, None, None, :])
        return Forward(logits, cache, attention)


def random_model(vocabulary: int, seed: int, *, scale: float = 1.0, context_length: int = 1000) -> TinyModel:
    """Normal logits that are another row for every text, and the same for the same text."""

    def logits_of(text: Text) -> list[float]:
        generator = torch.Generator().manual_seed(
            hash((seed, *text)) % 2**31
        )  # tuples of ints hash the same everywhere
        return (torch.randn(vocabulary, generator=generator) * scale).tolist()

    return TinyModel(logits_of, context_length)


def table_model(table: Mapping[Text, Mapping[int, float]], vocabulary: int) -> TinyModel:
    """Given probabilities after given texts (the rest of the vocabulary has almost none); elsewhere all are equal."""

    def logits_of(text: Text) -> list[float]:
        given = table.get(text)
        probabilities = (
            [1.0] * vocabulary if given is None else [given.get(token, 1e-12) for token in range(vocabulary)]
        )
        return torch.tensor(probabilities, dtype=torch.float64).log().tolist()

    return TinyModel(logits_of)


def request(
    prompt: Sequence[int] = (0,),
    end_tokens: Sequence[int] = (),
    *,
    context_length: int = 1000,
    attention: bool = False,
    drawn: int = 0,
) -> Request:
    """A request whose text is its ids, written out."""
    return Request(
        prompt=tuple(prompt),
        end_tokens=frozenset(end_tokens),
        text_of=lambda ids: " ".join(map(str, ids)),
        context_length=context_length,
        attention=attention,
        drawn=drawn,
        ids_of=lambda text: [int(part) for part in text.split()],
    )
