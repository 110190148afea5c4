"""What the visitor's browser keeps of Write: the text in its box, with the tokens behind it."""

from __future__ import annotations

from typing_extensions import TypedDict

from decoding.run.document import InvalidDocument, Label
from decoding.run.reader import checked
from ui.runs.documents.document import Document, OpenedDocument, first_words, refused, runs_so_far
from ui.runs.documents.runs import run_name
from ui.runs.documents.turns import ShortText
from ui.runs.run import name_kept
from ui.runs.session import Session


class KeptText(TypedDict):
    text: ShortText
    run: Label


def write_document(session: Session, key: str = "") -> Document | None:
    """None while the box is empty. See `name_kept` for the key."""
    draft = session.draft
    run = runs_so_far(session).get(draft.run or "")
    if run is None:
        return None
    content = {"text": draft.text, "run": run_name(run)}
    return Document("write", name_kept(draft, key), first_words(draft.text), run.model, content, [run])


def open_text(session: Session, document: OpenedDocument) -> None:
    """Put a text that was kept in place of the one in the box, which Undo brings back; `AttendError` for what is none.

    A text whose run is missing has to be tokenized again.
    """
    try:
        content = checked(KeptText, document.content)
        run = document.runs.get(content["run"])
        if run is not None and run.source:
            raise InvalidDocument("its run is a translation's")
    except InvalidDocument as error:
        raise refused(error) from error
    # nothing is refused from here on
    if not session.draft.is_empty:
        session.remember_draft()
    draft = session.draft
    draft.key, draft.text, draft.run, draft.overtaken = document.key, content["text"], None, None
    if run is not None:
        session.runs[run.id] = run
        draft.run = run.id
    session.drop_unused_runs()
