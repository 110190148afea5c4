"""Values that describe runs and messages wherever they are shown: numbers and plain text."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict  # see decoding.run.run_document

from decoding.run.run_document import Name, Share, Text

AnswerState = Literal["done", "streaming", "stopped"]
RunMode = Literal["chat", "write", "translate", "compare", "file"]  # where a run comes from, or is awaited
TokenKind = Literal["control", "prompt", "generated"]


class AnswerToken(TypedDict):
    """A token of a text that a model wrote."""

    text: Text  # "" for a piece of a character that is not complete
    probability: Share  # the model's own
    label: NotRequired[Name]  # what a token without a text is called, once the text has ended


class TurnValue(TypedDict):
    """One message. The texts of its tokens together are its text."""

    role: Literal["user", "assistant"]
    text: str
    tokens: list[AnswerToken] | None  # of an answer; None shows plain text
    run: str | None  # the run that the inspector shows when a token is clicked
    state: AnswerState
    dropped: bool  # no longer in the context
    note: str | None  # such as "reached the length limit"
    model: str  # the display name of the one that wrote it; "" for a message of the visitor's
    unfinished: bool  # of an answer: whether the model could continue it
    version: int  # of an answer: number of its updates
    versions: tuple[int, int]  # which version of the message this is, from 0, and how many there are
    without: NotRequired[str]  # of an answer: what was switched off or scaled inside the model, such as "6.5"


class TurnsValue(TypedDict):
    """Messages. While the last one grows, an `AnswerUpdate` is sent instead of this value."""

    turns: list[TurnValue]
    examples: list[str]  # offered while there are no turns
    busy: bool  # during a run nothing can be retried, undone or edited
    number: NotRequired[int]  # of the page's update; an older one that arrives late is ignored


class AnswerUpdate(TypedDict):
    """What is new in an answer that is being written.

    A page that shows version `base` of this answer or a later one keeps its tokens before number `since`. Otherwise it
    has missed too many updates: it triggers `missing` and gets the whole `TurnsValue`.
    """

    run: str
    base: int
    version: int  # after this update; an older one that arrives late is ignored
    since: int
    tokens: list[AnswerToken]  # from number `since` to the end
    state: AnswerState
    note: str | None
    unfinished: bool
    busy: bool


class MeterValue(TypedDict):
    """Context usage, in tokens."""

    used: int
    limit: int  # that the context holds
    answered: int  # of those used, how many an answer in Chat has while it is written
    note: str  # such as "reached the length limit"; "" for none
    tab: NotRequired[str]  # the only one that shows it; without it, whichever is in sight does
