"""A run opened from a file, an untrusted run document, shown without a model; questions need the one that wrote it.

Knows nothing of gradio.
"""

from __future__ import annotations

from typing import TypeGuard

from decoding.run.reader import parse, read_choice, read_run_document
from decoding.run.run_document import InvalidDocument
from model.errors import AttendError
from ui.inspector.inspector_contract import OpenedRun
from ui.inspector.inspector_value import step_value
from ui.kit.validation import checked_text
from ui.runs.documents.runs import run_of
from ui.runs.memory import limit_memory
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session

_NAME = "replay-"


def is_replay(identifier: object) -> TypeGuard[str]:
    """Whether a run that the inspector shows came from a file."""
    return isinstance(identifier, str) and identifier.startswith(_NAME)


def opened(session: Session, text: str, number: int, name: str = "") -> OpenedRun:
    """The run of a file, with the numbers that a screen shows; `AttendError` if the file has no run.

    Args:
        number: which the page gave the run.
        name: of the file.
    """
    session.refuse_while_busy()
    try:
        document = read_run_document(parse(text))
        if not document["steps"]:
            raise InvalidDocument("it has no steps")
        checked_text(document["prompt"]["text"], "The file’s prompt")
        document["steps"] = [step_value(read_choice(step), step["origin"]) for step in document["steps"]]
    except InvalidDocument as error:
        raise AttendError(f"Not a valid run file ({error}). Choose one saved here or by generate.py --json.") from error
    identifier = f"{_NAME}{number}"
    session.inspected_run = None
    session.file = identifier, text
    limit_memory(session)
    return {"run": identifier, "document": document, "file": name}


def reopened(session: Session, models: Models, identifier: str) -> RunRecord:
    """The run of the file that was opened last, with the model that it names, which must be in memory; `AttendError`
    if it isn't, or if it can't have written the run."""
    if session.file is None or session.file[0] != identifier:
        raise AttendError("This file is no longer open: open it again.")
    document = read_run_document(parse(session.file[1]))
    loaded = models.require_loaded(document["model"])
    try:
        return run_of(document, identifier, "write", loaded)
    except InvalidDocument as error:
        raise AttendError(f"{loaded.name} can't have written the run of this file ({error}).") from error
