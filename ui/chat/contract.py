"""Values sent to the conversation and to the exact prompt."""

from __future__ import annotations

from typing import TypedDict

from ui.runs.contract import TurnsValue


class ConversationValue(TurnsValue):
    """What the conversation shows. Its events: `token {turn, index}` (the inspector shows another run, or none),
    `retry {turn}`, `undo {turn}`, `edit {turn, text}`, `example {text}`, `adopt {messages}`, and `missing`."""


class PromptValue(TypedDict):
    """How conversations are written for the model."""

    manner: str  # "" for a model that knows none
    of: str  # whose prompt is shown
    parts: list[tuple[str, bool]]  # the prompt's texts, and whether each is a control token
