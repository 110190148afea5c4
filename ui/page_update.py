"""One update of the page, as plain values; the frame and the tabs know which components they belong to.

`PageUpdate` holds what any tab may change; each tab's subclass adds its own parts.
"""

from __future__ import annotations

from dataclasses import dataclass

from ui.history.history_contract import HistoryReply
from ui.inspector.inspector_contract import InspectorValue
from ui.page.page_contract import SwitchValue
from ui.runs.runs_contract import MeterValue


@dataclass(frozen=True, slots=True, kw_only=True)
class PageUpdate:
    """What changes; None leaves a part as it is."""

    number: int = 0  # of the update, counted per visitor in the order in which they began
    inspector: InspectorValue | None = None
    meter: MeterValue | None = None
    seed: int | None = None  # the one that the last run drew from; -1 if it drew nothing
    no_system: str | None = None  # why the model takes no system prompt; "" if it takes one
    system: str | None = None  # the text in the system prompt's box
    history_reply: HistoryReply | None = None
    tab: str | None = None  # the tab that is shown
    switch: SwitchValue | None = None
