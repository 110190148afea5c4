"""Values sent to "Why?", the fold that asks for the causes of a token. Layers, heads and positions count from 0."""

from __future__ import annotations

from typing import Any, TypedDict


class WhyReply(TypedDict, total=False):
    """A reply to one question. The script triggers `ask {number, turn, question, fields}`, whose replies carry its
    number: first they say how far the answer is, and the last one has the answer, unless it was refused. `leave {turn}`
    says that the visitor has gone on, so that earlier turns need no answer."""

    number: int
    progress: tuple[int, int]  # done, total
    answer: Any  # of the type that belongs to the question


class AnsweredQuestion(TypedDict):
    """A question about a token and its answer, as a shared file keeps them."""

    question: str
    index: int  # number of the token among the explained ones
    detail: dict[str, Any]
    answer: Any  # of the type that belongs to the question


class LensRow(TypedDict):
    """One token, and what every column guessed in its place."""

    id: int
    top: list[int]
    top_probability: list[float]
    chosen: list[float]  # the probability of the token itself
    decided: int | None  # the first layer from which on it stays the likeliest; 0 is the embeddings


class LensAnswer(TypedDict):
    """Answers `lens {run, index, middle}`."""

    columns: list[str]  # "0" is the embeddings; "1 attention" stands before "1"
    first: int  # the number, among the explained tokens, of the first row
    total: int  # rows that the whole text would have
    rows: list[LensRow]
    labels: dict[str, str]


class LensCell(TypedDict):
    """Answers `lens_cell {run, index, middle, pinned}`: the best guesses of every column in the place of one token."""

    columns: list[str]
    top: list[list[int]]  # of each column
    probabilities: list[list[float]]
    ids: list[int]  # the token itself, and those that are pinned
    curves: list[list[float]]  # of each of these, a probability for each column
    labels: dict[str, str]


class Word(TypedDict):
    """A word before the token, or of the source, and what its absence changes."""

    text: str
    change: float | None  # of log p(chosen) - log p(rival); None for what was not left out


class WordsAnswer(TypedDict):
    """Answers `words {run, index, chosen, rival}`."""

    words: list[Word]


class PartsAnswer(TypedDict):
    """Answers `parts {run, index, chosen, rival}`: `DirectAttribution` of model/inspection/attribution.py."""

    embedding: float
    names: list[str]  # of the sub-layers
    sublayers: list[list[float]]  # of each layer, a number for each name
    heads: list[list[float]] | None  # of each layer
    rest: list[float] | None  # of each layer, what its output projection adds of its own
    cross_heads: list[list[float]] | None
    cross_rest: list[float] | None
    constant: float
    total: float
    gap: float


class InputsAnswer(TypedDict):
    """Answers `inputs {run, index, chosen, rival, steps}`: the share of every token's embedding."""

    ids: list[int]
    scores: list[float]
    total: float
    gap: float
    labels: dict[str, str]


class HeadsAnswer(TypedDict):
    """Answers `heads {run, index, kind}`: thumbnails, and the pattern that each head attends to most."""

    layers: int
    heads: int
    rows: int  # of a thumbnail
    columns: int
    block: int  # tokens that a cell stands for, in each direction
    cells: str  # base64 of four bits a cell, head by head; of self-attention, row i has the cells 0 to i
    patterns: list[str]
    scores: dict[str, list[list[float]]]  # of each pattern, by layer and head; induction in random tokens, if no source
    strongest: list[list[int]] | None  # the pattern with the largest share in this text: its number in `patterns`
    strongest_share: list[list[float]] | None  # and that share
    has_source: bool  # whether there is cross-attention, too


class HeadAnswer(TypedDict):
    """Answers `open_head {run, index, kind, layer, head}`: rows as ui/runs/attention_rows.py writes them."""

    rows: list[str]
    rows_from: int  # the decoder's position of the first
    ids: list[int]  # of the decoder's text
    source: list[int]  # the keys of cross-attention; empty for self-attention
    offset: int  # the number, among the explained tokens, of the decoder's first one: 0 or less
    labels: dict[str, str]


class SwitchedOff(TypedDict):
    """Answers `switch_off {run, index, changes}`: the table before and after; `Intervention.of` reads a change."""

    ids: list[int]
    before: list[float]
    after: list[float]
    labels: dict[str, str]


class Rewritten(TypedDict):
    """Answers `write_without {run, changes}`: the same draws, with parts of the model changed."""

    ids: list[int]
    again: list[int]
    first_difference: int | None
    labels: dict[str, str]


class EffectsAnswer(TypedDict):
    """Answers `rank_heads {run, index, kind, rival}`: how the log-probability changes without each head."""

    effects: list[list[float]]


class PatchForm(TypedDict):
    """Two texts and their answers."""

    clean: str
    corrupted: str
    beginning: str  # of both answers
    answer: str
    rival: str


class PatchBeginning(TypedDict):
    """Answers `patch_form {run}`."""

    mode: str  # "chat": the texts are messages; "write": they are continued; "translate": they are translated
    example: PatchForm | None


class PatchAnswer(TypedDict):
    """Answers `patch_texts {run, …PatchForm}`: shares of the difference that a patch of the second text restores."""

    clean: list[str]  # the tokens, those of the source first
    corrupted: list[str]
    first: int  # the number of the decoder's first token
    answer: str
    rival: str
    positions: list[list[float]] | None  # by layer and position; None for texts of unequal lengths
    heads: list[list[float]] | None  # by layer and head
    differences: list[float]  # log p(answer) - log p(rival) of both texts
