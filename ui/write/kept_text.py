"""What the visitor's browser keeps of Write: the text in its box, with the tokens behind it."""

from __future__ import annotations

from dataclasses import replace

from typing_extensions import TypedDict

from decoding.run.reader import checked
from decoding.run.run_document import InvalidDocument, Label
from ui.runs.documents.kept_document import Document, OpenedDocument, first_words, runs_so_far
from ui.runs.documents.runs import run_name
from ui.runs.documents.turns import ShortText
from ui.runs.live_run import run_so_far
from ui.runs.run import RunRecord, name_kept, new_key
from ui.runs.session import Draft, Session


class KeptText(TypedDict):
    text: ShortText
    run: Label


def write_document(session: Session, key: str = "") -> Document | None:
    """None while the box is empty. If it was cleared just before the page asked, the cleared text is returned, since
    the page asked about it. See `name_kept` for the key."""
    draft = session.draft
    run = runs_so_far(session).get(draft.run or "")
    if run is not None:
        return _document(run, draft.text, name_kept(draft, key))
    if draft.text or draft.typed or not draft.undo or not draft.undo[-1].tokens:
        return None
    cleared = replace(draft.undo[-1], key=key or draft.undo[-1].key or new_key())
    draft.undo[-1] = cleared  # Undo brings the text back under this key
    run = RunRecord("", "write", cleared.model, [*cleared.tokens], cleared.shape, trace=cleared.trace)
    run.kept_interventions = cleared.interventions
    return _document(run_so_far(run), cleared.text, cleared.key)


def _document(run: RunRecord, text: str, key: str) -> Document:
    return Document("write", key, first_words(text), run.model, {"text": text, "run": run_name(run)}, [run])


def open_text(session: Session, document: OpenedDocument) -> None:
    """Put a text that was kept in place of the one in the box, which Undo brings back.

    A text whose run is missing has to be tokenized again.
    """
    content = checked(KeptText, document.content)
    run = document.runs.get(content["run"])
    if run is not None and run.source:
        raise InvalidDocument("its run is a translation's")
    # nothing is refused from here on
    if not session.draft.is_empty:
        session.remember_draft()
    draft = session.draft
    draft.key, draft.text, draft.run, draft.overtaken = document.key, content["text"], None, None
    if run is not None:
        session.runs[run.id] = run
        draft.run = run.id
    session.drop_unused_runs()


def discard_text(session: Session) -> None:
    """Remove the text in the box, with all that Undo would bring back."""
    session.draft = Draft()
