"""What the visitor's browser keeps of Translate: the text and its translation, whose run names model and languages."""

from __future__ import annotations

from model.text.languages import unmarked
from ui.kit.validation import MAX_CHARACTERS
from ui.runs.documents.document import (
    Document,
    OpenedDocument,
    first_words,
    refused,
    restore_languages,
    runs_so_far,
)
from ui.runs.documents.reader import InvalidDocument, as_text, wrong
from ui.runs.documents.turns import read_turn, turn_document
from ui.runs.run import name_kept
from ui.runs.session import Session, Translation


def translate_document(session: Session, key: str = "") -> Document | None:
    """None while there is no translation. See `name_kept` for the key."""
    translation = session.translation
    if translation is None:
        return None
    runs = runs_so_far(session)
    run = runs.get(translation.answer.run or "")
    named = run or translation.answer.kept_run
    model = session.model if run is None else unmarked(run.model)[0]
    content = {"text": translation.text, "answer": turn_document(translation.answer, runs)}
    title = first_words(translation.text)
    return Document("translate", name_kept(translation, key), title, model, content, [named] if named else [])


def open_translation(session: Session, document: OpenedDocument) -> None:
    """Put a translation that was kept in place of the one in view, and the model between its languages; `AttendError`
    for what is none."""
    try:
        text = as_text("its text", document.content.get("text"), MAX_CHARACTERS)
        answer = read_turn(document.content.get("answer"), document.runs)
        if answer.role != "assistant":
            raise wrong("the role of its translation", answer.role)
    except InvalidDocument as error:
        raise refused(error) from error
    # nothing is refused from here on
    session.translation = Translation(text, answer, document.key)
    session.runs |= {run.id: run for run in document.runs.values()}
    session.drop_unused_runs()
    for run in document.runs.values():
        restore_languages(session, run)
