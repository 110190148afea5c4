"""What the visitor's browser keeps of Translate: the text and its translation, whose run names model and languages."""

from __future__ import annotations

from typing_extensions import TypedDict

from decoding.run.reader import checked
from decoding.run.run_document import InvalidDocument
from model.text.languages import unmarked
from ui.runs.documents.kept_document import Document, OpenedDocument, first_words, restore_languages, runs_so_far
from ui.runs.documents.turns import KeptTurn, ShortText, read_turn, turn_document
from ui.runs.run import name_kept
from ui.runs.session import Session, Translation


class KeptTranslation(TypedDict):
    text: ShortText
    answer: KeptTurn


def translate_document(session: Session, key: str = "") -> Document | None:
    """None while there is no translation. If it was cleared just before the page asked, the cleared one is returned,
    since the page asked about it. See `name_kept` for the key."""
    translation = session.translation or session.cleared_translation
    if translation is None:
        return None
    runs = runs_so_far(session, cleared=session.translation is None)
    run = runs.get(translation.answer.run or "")
    named = run or translation.answer.kept_run
    model = session.model.name if run is None else unmarked(run.model)[0]
    content = {"text": translation.text, "answer": turn_document(translation.answer, runs)}
    title = first_words(translation.text)
    return Document("translate", name_kept(translation, key), title, model, content, [named] if named else [])


def open_translation(session: Session, document: OpenedDocument) -> None:
    """Put a translation that was kept in place of the one in view, and the model between its languages."""
    content = checked(KeptTranslation, document.content)
    answer = read_turn(content["answer"], document.runs)
    if answer.role != "assistant":
        raise InvalidDocument("its translation is not an answer")
    # nothing is refused from here on
    session.translation, session.cleared_translation = Translation(content["text"], answer, document.key), None
    session.runs |= {run.id: run for run in document.runs.values()}
    session.drop_unused_runs()
    for run in document.runs.values():
        restore_languages(session, run)


def discard_translation(session: Session) -> None:
    """Remove the translation in view, and the one that was cleared last."""
    session.translation = session.cleared_translation = None
