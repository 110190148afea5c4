"""Answers about the causes of a text: frozen records of plain numbers, whose `document` is ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

Numbers = tuple[float, ...]
Grid = tuple[Numbers, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """An answer to one question."""

    def document(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Named:
    """A token."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Head:
    """One head: softmax(queries times keys times scale), over the keys that the mask allows, is `attention`."""

    queries: Grid  # of each token, rotated by its position where the model rotates
    keys: Grid
    scale: float
    attention: Grid  # of each token to each


@dataclass(frozen=True, slots=True)
class Inspected(Record):
    """What every layer would predict after every token, and what every head looks at."""

    tokens: tuple[Named, ...]
    source: tuple[Named, ...]  # what an encoder read
    columns: tuple[str, ...]  # "0" is the embeddings, "1" the first layer; "1 attention" stands before "1"
    guesses: tuple[tuple[Named, ...], ...]  # the likeliest token of each column after each token
    probabilities: Grid  # of these guesses
    following: Grid  # the probabilities of the token that follows; 0 after the last
    decided: tuple[int | None, ...]  # the first layer from which on the token that follows is the guess
    heads: Mapping[str, Grid]  # the share of attention that each head of each layer spends on a pattern
    head: Head | None = None  # the one that was asked for


@dataclass(frozen=True, slots=True)
class Word:
    """A word, and how much the choice's log-probability changes without it: negative if the word made it likelier."""

    text: str
    start: int  # its first token
    end: int  # the token after its last
    effect: float


@dataclass(frozen=True, slots=True)
class Parts:
    """A logit, or the difference of two, as the sum of embedding, sub-layers and constant, up to the gap."""

    embedding: float
    sublayers: Mapping[str, Numbers]  # of each layer, by the sub-layer's name
    heads: Grid | None  # of each layer; with `head_rest` they add up to attention; None where they can't be told
    head_rest: Numbers | None
    cross_heads: Grid | None
    cross_rest: Numbers | None
    constant: float
    total: float
    gap: float


@dataclass(frozen=True, slots=True)
class Inputs:
    """The same as a sum over the tokens' embeddings (those of the source if there is one), up to the gap."""

    scores: Numbers
    total: float  # compared with a text of mean embeddings or, for gradient times input, of zeros
    gap: float


@dataclass(frozen=True, slots=True)
class Attributed(Record):
    """Why the model would choose a token after a text, alone or rather than a rival."""

    tokens: tuple[Named, ...]
    source: tuple[Named, ...]
    chosen: Named
    rival: Named | None
    log_probability: float  # of the chosen token, minus the rival's
    words: tuple[Word, ...]  # of the source if there is one
    parts: Parts
    inputs: Inputs | None


@dataclass(frozen=True, slots=True)
class Patched(Record):
    """How far each part of a clean text, put into a corrupted one, restores the clean choice: 0 not at all, 1 fully."""

    clean: tuple[Named, ...]
    corrupted: tuple[Named, ...]
    answer: Named
    rival: Named
    clean_difference: float  # log-probability of the answer minus the rival's
    corrupted_difference: float
    positions: Grid  # of each layer, at each token: the stream after the layer
    heads: Grid  # of each layer: the head at all tokens
