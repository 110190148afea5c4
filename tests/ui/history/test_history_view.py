"""What opening a document does, by the question of the page: as often as it asks, and whatever state came before."""

from __future__ import annotations

from typing import Any

import gradio as gr
import pytest

from model.errors import AttendError
from tests.ui.chat.test_chat import SAMPLE, last, texts_of
from tests.ui.runs.documents.test_documents import kept
from ui.chat import actions as chat
from ui.chat.actions import ChatScreen
from ui.history.view import History
from ui.runs.models import Models
from ui.runs.session import Session
from ui.screen import Screen
from ui.tabs import TABS


def ask(session: Session, models: Models, document: object, attempt: int, *, shown: bool = True) -> Screen:
    history = History([tab() for tab in TABS], models)
    data: dict[str, Any] = {"attempt": attempt, "document": document, "shown": shown, "bring": False, "number": 9}
    return list(history.open(session, gr.EventData(None, data)))[-1]


def test_a_document_that_another_tab_wrote_is_opened_as_it_was_kept(models: Models) -> None:
    session = Session(model=models.default)
    last(chat.send(session, models, models.default, "Hello", SAMPLE))
    document = kept(session, models)
    other = Session(model=models.default)
    assert ask(other, models, document, 1).history_reply == {"number": 9, "opened": True}
    last(chat.send(other, models, models.default, "And now?", SAMPLE))
    assert other.conversation.key == session.conversation.key  # both browser tabs show the same document
    ask(session, models, kept(other, models), 1)
    assert texts_of(session) == texts_of(other) and len(session.turns) == 4
    last(chat.send(session, models, models.default, "More", SAMPLE))
    screen = ask(session, models, document, 1)  # the first reply was lost: asked again, it takes nothing back
    assert screen.history_reply == {"number": 9, "opened": True} and len(session.turns) == 6
    assert isinstance(screen, ChatScreen) and screen.conversation and len(screen.conversation["turns"]) == 6
    ask(session, models, document, 2)
    assert len(session.turns) == 2
    late = ask(session, models, kept(other, models), 1)
    assert late.history_reply == {"number": 9, "opened": False} and len(session.turns) == 2


def test_what_is_brought_back_out_of_sight_leaves_the_inspector_alone(models: Models) -> None:
    session = Session(model=models.default)
    last(chat.send(session, models, models.default, "Hello", SAMPLE))
    other = Session(model=models.default, shown="write-3")
    screen = ask(other, models, kept(session, models), 1, shown=False)
    assert screen.inspector is None and screen.meter is None and other.shown == "write-3"
    assert texts_of(other) == texts_of(session)


def test_nothing_is_opened_while_the_model_writes(models: Models) -> None:
    session = Session(model=models.default)
    last(chat.send(session, models, models.default, "Hello", SAMPLE))
    document = kept(session, models)
    session.begin()
    with pytest.raises(AttendError, match="still writing"):
        ask(session, models, document, 1)
    session.cancel()
    ask(session, models, document, 1)
