"""What opening a document does, by the question of the page: as often as it asks, and whatever state came before."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.served import models_of
from tests.helpers.waiting import Gate
from tests.ui.chat.test_chat import SAMPLE, last, texts_of
from tests.ui.runs.documents.test_documents import kept
from ui.chat import chat_actions as chat
from ui.chat.chat_update import ChatUpdate
from ui.chat.chat_update import overview as chat_overview
from ui.chat.kept_chat import chat_document
from ui.compare import compare_actions as comparing
from ui.history.history_view import History
from ui.inspector.inspector_value import empty_inspector
from ui.page_update import PageUpdate
from ui.runs.models import Models
from ui.runs.session import Session
from ui.tabs import TABS
from ui.write import write_actions as write
from ui.write.draft import update_draft
from ui.write.kept_text import write_document
from ui.write.write_actions import overview as write_overview


def ask(session: Session, models: Models, document: object, attempt: int, *, shown: bool = True) -> PageUpdate:
    history = History([tab() for tab in TABS], models)
    data: dict[str, Any] = {"attempt": attempt, "document": document, "shown": shown, "bring": False, "number": 9}
    return list(history.open(session, **data))[-1]


def test_a_document_that_another_tab_wrote_is_opened_as_it_was_kept(models: Models) -> None:
    session = Session.using(models.default)
    last(chat.send(session, models, models.default, "Hello", SAMPLE))
    document = kept(session, models)
    other = Session.using(models.default)
    assert ask(other, models, document, 1).history_reply == {"number": 9, "opened": True}
    last(chat.send(other, models, models.default, "And now?", SAMPLE))
    assert other.conversation.key == session.conversation.key  # both browser tabs show the same document
    ask(session, models, kept(other, models), 1)
    assert texts_of(session) == texts_of(other) and len(session.turns) == 4
    last(chat.send(session, models, models.default, "More", SAMPLE))
    update = ask(session, models, document, 1)  # the first reply was lost: asked again, it takes nothing back
    assert update.history_reply == {"number": 9, "opened": True} and len(session.turns) == 6
    assert isinstance(update, ChatUpdate) and update.conversation and len(update.conversation["turns"]) == 6
    ask(session, models, document, 2)
    assert len(session.turns) == 2
    late = ask(session, models, kept(other, models), 1)
    assert late.history_reply == {"number": 9, "opened": False} and len(session.turns) == 2
    assert ask(Session.using(models.default), models, document, 0).history_reply == {"number": 9, "opened": False}


def test_what_is_brought_back_out_of_sight_leaves_the_inspector_alone(models: Models) -> None:
    session = Session.using(models.default)
    last(chat.send(session, models, models.default, "Hello", SAMPLE))
    other = Session.using(models.default, inspected_run="write-3")
    update = ask(other, models, kept(session, models), 1, shown=False)
    assert update.inspector is None and update.meter is None and other.inspected_run == "write-3"
    assert texts_of(other) == texts_of(session)


def test_what_was_deleted_out_of_sight_goes_and_leaves_the_inspector_to_the_tab_in_sight(models: Models) -> None:
    session, name = Session.using(models.default), models.default
    switches = {"answer": False, "history": False, "common": True}
    list(comparing.compare(session, models, name, "Hi", [{}, {}], **switches, shared=SAMPLE))
    update_draft(session, models.get(name), "The fox")
    last(chat.send(session, models, name, "Hello", SAMPLE))
    answer = session.inspected_run
    history = History([tab() for tab in TABS], models)
    for kind in ("compare", "write"):
        update = history.forget(session, name, kind, shown=False)
        assert update.inspector is None and update.meter is None and session.inspected_run == answer
    assert session.comparison is None and session.draft.is_empty and len(session.turns) == 2
    update = history.forget(session, name, "chat", shown=True)
    assert update.inspector == empty_inspector("chat") and not session.turns
    assert chat_document(session) is write_document(session) is None  # nor does Undo bring them back
    assert session.cleared is None and not session.draft.undo


def test_what_is_deleted_while_it_grows_is_gone_for_good(models: Models) -> None:
    session, name, history = Session.using(models.default), models.default, History([tab() for tab in TABS], models)
    switches = {"answer": False, "history": False, "common": True}
    updates = comparing.compare(session, models, name, "Hi", [{}, {}], **switches, shared=SAMPLE)
    while session.comparison is None:
        next(updates)
    history.forget(session, name, "compare", shown=True)
    assert not session.busy
    list(updates)
    assert session.comparison is None and not session.runs


def test_what_another_tab_writes_goes_on_when_a_document_is_deleted(models: Models) -> None:
    session, name, history = Session.using(models.default), models.default, History([tab() for tab in TABS], models)
    last(chat.send(session, models, name, "Hello", SAMPLE))
    updates = write.write(session, models, name, "The fox", SAMPLE)
    next(updates)
    history.forget(session, name, "chat", shown=False)
    assert session.busy and not session.turns
    list(updates)
    assert len(session.draft.text) > len("The fox")


def test_the_seed_of_the_answer_comes_back_with_it(models: Models) -> None:
    session, other = Session.using(models.default), Session.using(models.default)
    last(chat.send(session, models, models.default, "Hello", SAMPLE.seeded()))
    assert session.seed >= 0
    update = ask(other, models, kept(session, models), 1)
    assert update.seed == other.seed == session.seed
    assert ask(Session.using(models.default), models, kept(session, models), 1, shown=False).seed is None


def test_a_tab_that_comes_back_brings_the_seed_of_its_own_run(models: Models) -> None:
    session, name = Session.using(models.default), models.default
    last(chat.send(session, models, name, "Hello", replace(SAMPLE, seed=5)))
    cards = [{"strategy": "greedy"}, {"strategy": "sample"}]
    shared = replace(SAMPLE, seed=9)
    list(comparing.compare(session, models, name, "Hi", cards, answer=False, history=False, common=True, shared=shared))
    for overview, seed in ((chat_overview, 5), (comparing.overview, 9)):
        overview(session, models, name)
        assert session.take_seed() == session.seed == seed
    write_overview(session, models, name)
    assert session.take_seed() == session.seed == -1  # nothing was written there


def test_a_run_that_ends_out_of_sight_leaves_the_seed_of_the_tab_in_view(models: Models) -> None:
    session, name = Session.using(models.default), models.default
    updates = chat.send(session, models, name, "Hello", replace(SAMPLE, seed=5))
    next(updates)
    session.tab.requested = "Write"
    write_overview(session, models, name)
    session.take_seed()
    assert last(updates).seed == session.seed == -1
    chat_overview(session, models, name)
    assert session.take_seed() == 5


def test_texts_come_back_while_a_translator_is_in_use(tiny: LoadedModel, tiny_translator: LoadedModel) -> None:
    models, before = models_of(tiny, tiny_translator), Session.using(tiny.name)
    last(chat.send(before, models, tiny.name, "Hello", SAMPLE))
    update_draft(before, tiny, "The fox")
    session = Session.using(tiny_translator.name)
    for document in (chat_document(before), write_document(before)):
        assert document is not None
        kept_by_browser = json.loads(json.dumps(document.value(models, ())))
        assert ask(session, models, kept_by_browser, 1).history_reply == {"number": 9, "opened": True}
    assert session.draft.text == "The fox" and len(session.turns) == 2


def test_nothing_is_opened_while_the_model_writes(models: Models) -> None:
    session = Session.using(models.default)
    last(chat.send(session, models, models.default, "Hello", SAMPLE))
    document = kept(session, models)
    session.begin()
    with pytest.raises(AttendError, match="still writing"):
        ask(session, models, document, 1)
    session.cancel()
    ask(session, models, document, 1)


def test_an_answer_that_is_being_written_is_kept_as_far_as_it_has_come(models: Models) -> None:
    session = Session.using(models.default)
    gate = Gate(free=4)
    held = gate.holding(models)
    updates = chat.send(session, held, models.default, "Hello", replace(SAMPLE, max_new_tokens=40))
    while len(session.turns) < 2 or len(session.turns[1].tokens or ()) < 3:
        next(updates)
    document = kept(session, models)
    gate.open()
    list(updates)
    again = Session.using(models.default)
    ask(again, models, document, 1)
    answer, whole = again.turns[1], session.turns[1]
    assert answer.state == "stopped" and whole.tokens is not None
    assert answer.tokens and whole.text.startswith(answer.text)  # but for the bytes of a character not yet whole
    before = [token["probability"] for token in whole.tokens[: len(answer.tokens)]]
    assert [token["probability"] for token in answer.tokens] == before
    inspector = chat.open_token(again, models, 1, 1).inspector
    assert inspector is not None and inspector["steps"] and inspector["rows"]  # its tokens are explained
    assert answer.unfinished
    trace = again.run(answer.run).trace
    assert trace is not None
    left = replace(SAMPLE, max_new_tokens=40 - len(trace.ids))
    last(chat.proceed(again, models, 1, left))
    assert again.turns[1].text == whole.text  # as if it had never been left
    last(chat.retry(again, models, models.default, 1, SAMPLE))
    assert len(kept(again, models)["names"]) == 2
