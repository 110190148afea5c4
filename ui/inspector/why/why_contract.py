"""Values sent to "Why?", the fold that asks for the causes of a token. Layers, heads and positions count from 0."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class WhyReply(TypedDict, total=False):
    """A reply to one question. The script's events: `ask {number, turn, question, …}`, which is replied to under its
    number, first with how far the answer is and last with the answer (without one where it was refused), and
    `leave {turn}`: the visitor has gone on, so that earlier turns need no answer any more."""

    number: int
    progress: tuple[int, int]  # done, total
    answer: Any  # of the type that belongs to the question


class LensRow(TypedDict):
    """One token, and what every column guessed in its place."""

    id: int
    top: list[int]
    top_probability: list[float]
    chosen: list[float]  # the probability of the token itself
    decided: int | None  # the first layer from which on it stays the likeliest; 0 is the embeddings


class LensAnswer(TypedDict):
    """To `lens {run, index, middle}`."""

    columns: list[str]  # "0" is the embeddings; "1 attention" stands before "1"
    first: int  # the number, among the explained tokens, of the first row
    rows: list[LensRow]
    labels: dict[str, str]


class LensCell(TypedDict):
    """To `lens_cell {run, index, middle, pinned}`: the best guesses of every column in the place of one token."""

    columns: list[str]
    top: list[list[int]]  # of each column
    probabilities: list[list[float]]
    ids: list[int]  # the token itself, and those that are pinned
    curves: list[list[float]]  # of each of these, a probability for each column
    labels: dict[str, str]
