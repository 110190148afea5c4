"""Undo, Redo and Clear in Write. Knows nothing of gradio."""

from __future__ import annotations

from dataclasses import replace

from model.errors import AttendError
from ui.kit.validation import MAX_CHARACTERS
from ui.runs.models import Models
from ui.runs.session import Session, Version
from ui.write.draft import empty_draft, restored_run, update_draft
from ui.write.write_actions import overview
from ui.write.write_update import WriteUpdate, empty_update, update_of


def undo(session: Session, models: Models, name: str, text: object) -> WriteUpdate:
    """Take back the last change: typing, a continuation, an exchanged token, or Clear.

    Typing is taken back even if the model can't read what was typed, as when it is too long; Redo brings that back, up
    to the longest text that the page takes.
    """
    session.refuse_while_busy()
    if _is_typed(session, text):
        loaded = models.get(name)
        try:
            update_draft(session, loaded, text)
        except AttendError:
            if not isinstance(text, str):
                raise
            if text != session.draft.text:
                session.remember_draft(typed=True)
                session.draft.text, session.draft.run = text[:MAX_CHARACTERS], None
    return _restore(session, models, name, "undo", session.draft.undo, session.draft.redo)


def redo(session: Session, models: Models, name: str, text: object) -> WriteUpdate:
    """Bring back what Undo took back last, unless something else has changed since."""
    session.refuse_while_busy()
    if _is_typed(session, text) and text != session.draft.text:
        update_draft(session, models.get(name), text)
    return _restore(session, models, name, "redo", session.draft.redo, session.draft.undo)


def clear(session: Session, models: Models, name: str) -> WriteUpdate:
    """Empty the draft; Undo brings the text back. The page has emptied the box, and the visitor may be typing again."""
    session.cancel()
    if not session.draft.is_empty:
        session.remember_draft()
    empty_draft(session)
    return replace(empty_update(session, models.get(name)), text=None)


def _is_typed(session: Session, text: object) -> bool:
    """Whether the text of the box has no tokens yet: what was typed since the last preview, or can't be read."""
    return session.draft.run is None or text != session.draft.text


def _restore(
    session: Session, models: Models, name: str, verb: str, source: list[Version], target: list[Version]
) -> WriteUpdate:
    """Show the last version of `source`; the one shown so far becomes the last of `target`."""
    if not source:
        raise AttendError(f"There is nothing to {verb}.")
    if source[-1].tokens:
        models.require_loaded(source[-1].model)  # refused before anything changes
    target.append(session.draft_version)
    version = source.pop()
    session.draft.typed = False
    if not version.tokens:
        empty_draft(session)
        session.draft.text, session.draft.key = version.text, version.key
        return replace(overview(session, models, name), text=version.text)
    run = restored_run(session, models.require_loaded(version.model), version)
    return update_of(session, models, run)
