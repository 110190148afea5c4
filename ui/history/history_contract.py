"""Values sent to the history's script, which keeps documents in the visitor's browser."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class DocumentValue(TypedDict):
    """The document of one tab; made by `ui.runs.documents.kept_document.Document.value`."""

    schema: str
    kind: str  # of the tab, such as "chat"
    key: str  # its permanent name
    title: str  # its first words
    model: str
    content: dict[str, Any]  # in the tab's own form
    names: list[str]  # of the runs in the content
    runs: dict[str, str]  # packed, by their names, without those that the page already has


class HistoryReply(TypedDict):
    """The reply to the question of this number. The script's events:

    `keep {number, kind, known, key}` asks for the document of a tab, without the runs whose names the page knows. `key`
    is a new name for it, or "".
    `open {number, attempt, document, shown, bring}` opens a document in its tab, once for each `attempt`, a number that
    increases. `shown` tells whether the tab is in view, `bring` whether to load the document's model first.
    `forget {kind, shown}` has no reply: what the tab shows was deleted.
    """

    number: int
    document: NotRequired[DocumentValue]  # missing if there is nothing to keep
    busy: NotRequired[bool]  # whether a text is being written, so that the document will change
    opened: NotRequired[bool]
