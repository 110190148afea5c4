"""Values sent to the conversation, to the switch of its text view and to the exact prompt."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ui.runs.runs_contract import TurnsValue


class ConversationValue(TurnsValue):
    """What the conversation shows. Its events: `token {turn, index}` (the inspector shows another run, or none),
    `retry {turn}`, `proceed {turn}` (go on with an unfinished answer), `undo {turn}`, `edit {turn, text}`,
    `version {turn, version}` (show another version of a message), `without {run, changes}` (write an answer again with
    parts of the model switched off), `example {text}`, and `missing`."""

    sent: NotRequired[int]  # how many messages from the box were accepted; absent where there is no server


class MessageToken(TypedDict):
    """A part of a message."""

    text: str
    token: int | None  # the number of the prompt's token that it belongs to


class MessageTokensValue(TypedDict):
    """The reply to the question `messages {number, run}`: those in the prompt of the run, right before its answer."""

    number: int
    messages: NotRequired[list[list[MessageToken]]]  # absent where the question was refused


class PromptValue(TypedDict):
    """How conversations are written for the model."""

    manner: str  # "" for a model that knows none
    of: str  # whose prompt is shown
    parts: list[tuple[str, bool]]  # the prompt's texts, and whether each is a control token


FormattedTag = Literal[
    "text", "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "hr", "br",
    "table", "thead", "tbody", "tr", "th", "td", "strong", "em", "s", "code", "a",
]  # fmt: skip


class FormattedNode(TypedDict):
    """An element of formatted text, or a text; made by `ui.chat.formatted.markdown.formatted`."""

    tag: FormattedTag
    text: NotRequired[str]  # of a text and of code, which have no children
    children: NotRequired[list[FormattedNode]]
    language: NotRequired[str]  # of a block of code; "" where none is named
    href: NotRequired[str]  # of a link: to a web page or a mail address
    start: NotRequired[int]  # of a numbered list that does not begin with 1


class FormattedValue(TypedDict):
    """The reply to the question `format {number, texts}`."""

    number: int
    trees: NotRequired[list[list[FormattedNode]]]  # one for each text; absent where they were refused
