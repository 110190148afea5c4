"""A comparison for a file that needs no server: the runs of its cards, of which the page makes the file.

Knows nothing of gradio.
"""

from __future__ import annotations

import json

from decoding.run.run_document import RunDocument
from model.errors import AttendError
from ui.inspector.toolbar.record import whole_document
from ui.runs.comparison import Comparison
from ui.runs.documents.kept_document import first_words
from ui.runs.models import Models
from ui.runs.session import Session

MAX_ATTENTION = 12_000_000  # characters of one comparison: six texts of 200 tokens by attend-chat have 9 million


def shared(session: Session, models: Models) -> tuple[list[str], str]:
    """What names the file, and the runs of the cards by their names, as JSON."""
    session.refuse_while_busy()
    comparison = session.comparison
    if comparison is None:
        raise AttendError("There is nothing to share yet: press Compare first.")
    text = json.dumps(_runs(comparison, models), ensure_ascii=False, separators=(",", ":"))
    return file_name(comparison), text


def file_name(comparison: Comparison) -> list[str]:
    """What names a file of the comparison."""
    return [comparison.model, "compare", first_words(comparison.prompt.text)]


def _runs(comparison: Comparison, models: Models) -> dict[str, RunDocument]:
    """The runs with their attention, but for those that there is no room for."""
    documents, room = dict[str, RunDocument](), MAX_ATTENTION
    for card in comparison.cards:
        document = documents[card.run.id] = whole_document(card.run, models)
        if "attention" in document:
            room -= sum(map(len, document["attention"]["rows"]))
            if room < 0:
                del document["attention"]
    return documents
