"""A run as a file: a run document with its attention, like that of `generate.py --json`.

The browser creates the file, so none is left on the server. Knows nothing of gradio.
"""

from __future__ import annotations

import json

from model.errors import AttendError
from ui.runs.attention import restore_attention
from ui.runs.documents.document import first_words
from ui.runs.documents.runs import run_document
from ui.runs.models import Models
from ui.runs.session import Session


def saved(session: Session, models: Models, identifier: object) -> tuple[list[str], str]:
    """What names the file, and its content; `AttendError` for a run that cannot be saved."""
    session.refuse_while_busy()
    run = session.run(identifier if isinstance(identifier, str) else None)
    trace = run.trace
    if trace is None or not trace.steps:
        raise AttendError(
            "The steps behind this text are not stored: continue it or retry the answer, then save the run."
        )
    loaded = models.require_loaded(run.model)
    restore_attention(run, loaded.model, loaded.lock)
    document = run_document(run, loaded.tokenizer)
    seed = [] if document["seed"] is None else [str(document["seed"])]
    name = [trace.model, first_words(trace.prompt), trace.settings.strategy, *seed]
    return name, json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
