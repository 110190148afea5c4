"""Values sent to the scripts of the page itself."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class SwitchValue(TypedDict):
    """The switch between the tabs.

    Its events: `show {tab, clicks}`, with its value after a click, and `bring`, to load the model that the tab needs.
    """

    entries: list[str]  # the tabs that are offered
    tab: str
    loading: str  # the model for which the tab waits; "" if there is none
    encoder: bool  # whether an encoder's page replaces all tabs
    clicks: int  # how many of the visitor's clicks the server has handled
    number: NotRequired[int]  # the number of the update: an older one that arrives late is ignored
