"""Values sent to the scripts of the page itself."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class SwitchValue(TypedDict):
    """Where the switch between the tabs is to stand. Its event: `show {tab, clicks}`, which is its value by then."""

    entries: list[str]  # the tabs that are offered
    tab: str
    encoder: bool  # whether an encoder has taken the place of all tabs
    clicks: int  # of the visitor that the server had heard of
    number: NotRequired[int]  # of the update; an older one that comes late is not followed
