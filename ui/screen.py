"""One update of the page, as plain values; which components they belong to, the frame and each tab know.

What every tab may change is here; what belongs to one alone, each says in a `Screen` of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from ui.contract import SwitchValue
from ui.inspector.contract import InspectorValue
from ui.runs.contract import MeterValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What changes; None leaves a part as it is."""

    number: int = 0  # of the visitor's updates, in the order in which they were begun
    inspector: InspectorValue | None = None
    meter: MeterValue | None = None
    seed: int | None = None  # the one that the last run drew from; -1 if it drew nothing
    no_system: str | None = None  # why the model takes no system prompt; "": it takes one
    tab: str | None = None  # which of the switch's entries is shown
    switch: SwitchValue | None = None  # where the switch is to stand
