"""Undoing clear, edit and retry restores the conversation with its runs."""

from __future__ import annotations

import pytest

from tests.ui.chat.test_chat import GREEDY, SAMPLE, last, texts_of
from ui.chat import actions as chat
from ui.runs.models import Models
from ui.runs.session import Session


@pytest.mark.parametrize("change", ["edit", "retry"])
def test_what_an_edit_or_a_retry_replaced_comes_back_with_its_runs(models: Models, change: str) -> None:
    session = Session()
    for text in ("One", "Two"):
        last(chat.send(session, models, models.default, text, GREEDY))
    before, runs = texts_of(session), dict(session.runs)
    if change == "edit":
        screen = last(chat.edit(session, models, models.default, 0, "Other", GREEDY))
    else:
        screen = last(chat.retry(session, models, models.default, 1, SAMPLE))
    assert screen.replaced == change and len(session.turns) == 2
    assert chat.restore(session, models, models.default).replaced == ""
    assert texts_of(session) == before
    assert session.runs == runs and all(run.trace is not None for run in runs.values())
    last(chat.edit(session, models, models.default, 0, "Other", GREEDY))
    last(chat.send(session, models, models.default, "On", GREEDY))
    assert len(chat.restore(session, models, models.default).conversation["turns"]) == 4  # type: ignore[index]


def test_clear_can_be_taken_back_until_the_next_message(models: Models) -> None:
    session = Session()
    last(chat.send(session, models, models.default, "One", GREEDY))
    before = texts_of(session)
    assert chat.clear(session, models, models.default).replaced == "clear"
    assert session.turns == []
    assert chat.restore(session, models, models.default).replaced == ""
    assert texts_of(session) == before
    chat.clear(session, models, models.default)
    last(chat.send(session, models, models.default, "Two", GREEDY))
    chat.restore(session, models, models.default)
    assert texts_of(session)[0] == "Two"
