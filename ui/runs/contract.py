"""Values that describe runs and messages wherever they are shown: numbers and plain text."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

AnswerState = Literal["done", "streaming", "stopped"]
TokenKind = Literal["control", "prompt", "generated"]
# How a token came about: by its probability, in a person's text, by hand, by a search of texts.
TokenOrigin = Literal["chosen", "given", "taken", "search"]


class TurnValue(TypedDict):
    """One message. `tokens` concatenate to `text`; a piece of a character held back has the text ""."""

    role: Literal["user", "assistant"]
    text: str
    tokens: list[tuple[str, float]] | None  # text and the model's probability, of an answer; None shows plain text
    run: str | None  # the run that the inspector shows when a token is clicked
    state: AnswerState
    dropped: bool  # no longer in the context
    note: str | None  # such as "reached the length limit"
    version: int  # of an answer: how often it has been brought up to date


class TurnsValue(TypedDict):
    """Messages, of which the last may be growing: while it does, an `AnswerUpdate` takes the place of this value."""

    turns: list[TurnValue]
    examples: list[str]  # offered while there are no turns
    busy: bool  # a run is going on: nothing can be retried, undone or edited
    number: NotRequired[int]  # of the update of the page; an older one that comes late changes nothing


class AnswerUpdate(TypedDict):
    """What is new of an answer that is being written.

    A page that shows this run's answer in version `base` or a later one keeps its tokens before number `since`; any
    other has lost too many updates: it triggers `missing`, and is answered with the whole `TurnsValue`.
    """

    run: str
    base: int
    version: int  # what it leads to; an older one that comes late changes nothing
    since: int
    tokens: list[tuple[str, float]]  # from number `since` to the end
    state: AnswerState
    note: str | None
    busy: bool


class MeterValue(TypedDict):
    """How full the context is."""

    text: str
    share: float  # 0 to 1
