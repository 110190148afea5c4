"""Values sent to the history's script, which keeps documents in the visitor's browser."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class DocumentValue(TypedDict):
    """What is kept of one tab; made by `ui.runs.documents.document.Document.value`."""

    schema: str
    kind: str  # the kind of the tab, as in `HistoryForm`
    key: str  # its permanent name
    title: str  # its first words
    model: str
    content: dict[str, Any]  # in the form of the tab
    names: list[str]  # of the runs that the content names
    runs: dict[str, str]  # by their names, packed; those that the page already has are left out


class HistoryForm(TypedDict):
    """What the script must know; it never changes."""

    tabs: dict[str, str]  # kind → the tab's entry in the switch


class HistoryReply(TypedDict):
    """The reply to the question of this number. The events:

    `keep {number, kind, known, key}`: asks for the document of a tab, without the runs whose names the page knows;
    `key` renames it, "" doesn't.
    `open {number, attempt, document, shown, bring}`: put a document in place of what is in view, once for each
    `attempt`, which counts up; `shown` where its tab is in sight, `bring` where its model is to be loaded first.
    """

    number: int
    document: NotRequired[DocumentValue]  # missing if there is nothing to keep
    busy: NotRequired[bool]  # whether something is being written, so that there will be more
    opened: NotRequired[bool]
