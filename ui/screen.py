"""One update of the page, as plain values; which components they belong to, `ui/layout.py` and the parts of it know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ui.contract import (
    AlignmentValue,
    Answer,
    CompareValue,
    ConversationValue,
    InspectionValue,
    InspectorValue,
    MeterValue,
    ModelValue,
    MoveValue,
    PromptValue,
    TranslationValue,
)


@dataclass(frozen=True, slots=True)
class Screen:
    """What changes; None leaves a part as it stands."""

    conversation: ConversationValue | None = None
    inspector: InspectorValue | None = None
    meter: MeterValue | None = None
    running: bool | None = None  # whether Stop is shown
    message: str | None = None  # what stands in the message box
    text: str | None = None  # what stands in Write's box
    given: str | None = None  # what stands in Translate's box
    translation: TranslationValue | None = None
    alignment: AlignmentValue | Literal[False] | None = None  # False: there is none
    seed: int | None = None  # the one that the last run drew from; -1 if it drew nothing
    history: tuple[bool, bool] | None = None  # whether Write has anything to undo, and to redo
    comparison: CompareValue | Answer | None = None
    model: ModelValue | None = None
    prompt: PromptValue | None = None
    inspection: InspectionValue | None = None  # an encoder's, in the place of all else until there is a mode again
    no_system: str | None = None  # why the model takes no system prompt; "": it takes one
    mode: str | None = None  # which of the switch's entries is shown
    move: MoveValue | None = None  # where the switch is to go
    replaced: str | None = None  # what was done to the conversation and can be undone: Cleared; "": nothing
