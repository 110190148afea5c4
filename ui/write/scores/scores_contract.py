"""Values sent to the scored text in Write: how surprising each token is to one model, and the text as a whole."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Ended = Literal["", "stopped", "late"]


class TokenScore(TypedDict):
    """One token of the text."""

    id: int
    text: str  # as its label; a part of a character is written as `<0xF0>`
    bytes: int  # of the text that it adds
    surprise: float  # bits
    rank: int  # from 1
    entropy: float  # bits, of the distribution that it comes from


class SkippedToken(TypedDict):
    """A token that isn't scored."""

    text: str
    bytes: int


class ScoreWindow(TypedDict):
    """How a text that is longer than the context was read."""

    context: int  # tokens that the model reads at once
    before: int  # each token, except the first ones, has at least this many tokens before it


class OtherModel(TypedDict):
    """A model that can score the same text without a download."""

    name: str
    title: str


class ScoredText(TypedDict):
    """A text as one model scores it."""

    model: str
    title: str
    bytes: int  # of the whole text in UTF-8
    skipped: SkippedToken | None  # the first token, which isn't scored if the model predicts none without one before it
    tokens: list[TokenScore]
    total: int  # tokens of the whole text that would be scored
    ended: Ended  # why there are more than in `tokens`: Stop, or the time limit
    bits: float
    perplexity: float
    bits_per_byte: float
    window: ScoreWindow | None  # None where the whole text fits into the context
    others: list[OtherModel]


class ScoreLimits(TypedDict):
    """What the script refuses by itself, since longer texts may be too long to be sent."""

    characters: int


class ScoresReply(TypedDict):
    """A reply to `score {number, turn, text, model}`; `number` alone after an error of ours. `stop {turn,
    closed}` has no reply."""

    number: NotRequired[int]
    progress: NotRequired[tuple[int, int]]  # tokens that are scored, of so many
    loading: NotRequired[str]  # the model that is being loaded first
    answer: NotRequired[ScoredText]
    refused: NotRequired[str]  # why there is none
