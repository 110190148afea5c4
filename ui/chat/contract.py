"""Values sent to the conversation and to the exact prompt."""

from __future__ import annotations

from typing import TypedDict

from ui.runs.contract import TurnsValue


class ConversationValue(TurnsValue):
    """What the conversation shows. Its events: `token {turn, index}` (the inspector shows another run, or none),
    `retry {turn}`, `proceed {turn}` (go on with an unfinished answer), `undo {turn}`, `edit {turn, text}`,
    `version {turn, version}` (show another version of a message), `example {text}`, `adopt {messages}` (continue the
    recorded dialogue), and `missing`."""


class PromptValue(TypedDict):
    """How conversations are written for the model."""

    manner: str  # "" for a model that knows none
    of: str  # whose prompt is shown
    parts: list[tuple[str, bool]]  # the prompt's texts, and whether each is a control token
