"""A run as a file, the same document that `generate.py --json` writes.

The browser creates the file, so none is left on the server. Knows nothing of gradio.
"""

from __future__ import annotations

import json

from model.errors import AttendError
from ui.runs.documents.document import first_words
from ui.runs.session import Session


def saved(session: Session, identifier: object) -> tuple[list[str], str]:
    """What names the file, and its content; `AttendError` for a run that cannot be saved."""
    session.refuse_while_busy()
    trace = session.run(identifier if isinstance(identifier, str) else None).trace
    if trace is None or not trace.steps:
        raise AttendError(
            "The steps behind this text are not stored: continue it or retry the answer, then save the run."
        )
    document = trace.document()
    seed = [] if document["seed"] is None else [str(document["seed"])]
    name = [trace.model, first_words(trace.prompt), trace.settings.strategy, *seed]
    return name, json.dumps(document, ensure_ascii=False) + "\n"
