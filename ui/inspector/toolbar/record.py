"""A run as a file: a run document with its attention, like that of `generate.py --json`.

The browser creates the file, so none is left on the server. Knows nothing of gradio.
"""

from __future__ import annotations

import json
from dataclasses import replace

from decoding.run.run_document import RunDocument
from ui.runs.attention_rows import restore_attention
from ui.runs.documents.kept_document import first_words
from ui.runs.documents.runs import run_document
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session


def saved(session: Session, models: Models, run: str) -> tuple[list[str], str]:
    """What names the file, and its content; `AttendError` for a run that cannot be saved."""
    session.refuse_while_busy()
    document = whole_document(session.run(run), models)
    settings, seed = document["settings"] or {}, [] if document["seed"] is None else [str(document["seed"])]
    name = [document["model"], first_words(document["prompt"]["text"]), str(settings["strategy"]), *seed]
    return name, json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def whole_document(run: RunRecord, models: Models) -> RunDocument:
    """A run with its attention, which is computed again where it was dropped; `AttendError` where its steps are not
    stored."""
    run.require_trace()
    loaded = models.require_loaded(run.model)
    run = replace(run)  # what is computed for a file alone is not kept
    restore_attention(run, loaded.model, loaded.lock)
    return run_document(run, loaded.tokenizer)
