"""Values sent to the toolbar under the inspector: saved runs, and answers to "What if?"."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from ui.kit.kit_contract import SettingField


class WhatIfForm(TypedDict):
    """What of the settings can be varied; it never changes."""

    settings: list[SettingField]
    quick: list[float]  # temperatures that are one press away


class WhatIfToken(TypedDict):
    """A token of the run, and what other settings would have chosen in its place."""

    text: str
    instead: str | None  # None where it stays the same
    probability: float  # of what is chosen


class WhatIfValue(TypedDict):
    """What other settings would have made of a run."""

    run: str
    sentence: str  # continues with the first token that differs, if any
    settings: dict[str, Any]  # those applied; empty if the run does not allow any, and the sentence says why
    first: int  # the number, among the inspector's explained tokens, of the first one here
    tokens: list[WhatIfToken]
    first_difference: int | None


class RecordReply(TypedDict):
    """A reply to the toolbar. Its events: `save {number, run}` and `change_settings {number, run, changes}`, which
    are replied to under their number (with nothing more where they were refused), and `open_file {number, text, file}`,
    whose number names the run."""

    number: int
    file: NotRequired[tuple[list[str], str]]  # what names it, and its content
    whatif: NotRequired[WhatIfValue]
