"""Values sent to the scripts of the page itself."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class SwitchValue(TypedDict):
    """The switch between the tabs. Its event: `show {tab, clicks}`, its value after the click."""

    entries: list[str]  # the tabs that are offered
    tab: str
    encoder: bool  # whether an encoder's page replaces all tabs
    clicks: int  # the visitor's clicks that the server has handled
    number: NotRequired[int]  # of the update; an older one that arrives late is ignored
