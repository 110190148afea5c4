"""Undo, Redo and Clear of Write without a browser."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.errors import AttendError
from tests.ui.write.test_write import ONE, SAMPLE, START, last, run_of
from ui.kit.validation import MAX_CHARACTERS
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write import history
from ui.write import write_actions as write
from ui.write.write_update import WriteUpdate


def undo(session: Session, models: Models) -> WriteUpdate:
    return history.undo(session, models, models.default, session.draft.text)


def redo(session: Session, models: Models) -> WriteUpdate:
    return history.redo(session, models, models.default, session.draft.text)


def test_undo_takes_back_one_step_after_the_other(models: Models) -> None:
    session = Session()
    write.preview(session, models, models.default, START)
    texts, ids = [START], [run_of(session).ids]
    for _ in range(3):
        last(write.write(session, models, models.default, session.draft.text, ONE))
        texts.append(session.draft.text)
        ids.append(run_of(session).ids)
    for text, tokens in reversed(list(zip(texts[:-1], ids[:-1], strict=True))):
        update = undo(session, models)
        assert update.text == text
        assert run_of(session).ids == tokens
        assert update.inspector is not None
        assert len(update.inspector["rows"]) == len(tokens) - 1  # attention is back as well
    assert write.overview(session, models, models.default).history == (False, True)
    with pytest.raises(AttendError, match="nothing to undo"):
        undo(session, models)
    for text, tokens in zip(texts[1:], ids[1:], strict=True):
        assert redo(session, models).text == text
        assert run_of(session).ids == tokens
    with pytest.raises(AttendError, match="nothing to redo"):
        redo(session, models)


def test_what_was_typed_since_is_a_step_of_its_own(models: Models) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    generated, ids = session.draft.text, run_of(session).ids
    for typed in (" a", " and", " and so"):
        write.preview(session, models, models.default, generated + typed)
    assert undo(session, models).text == generated
    assert run_of(session).ids == ids
    assert undo(session, models).text == START
    assert [redo(session, models).text for _ in range(2)] == [generated, f"{generated} and so"]
    undo(session, models)
    assert write.preview(session, models, models.default, "Something else").history == (True, False)


def test_undo_takes_up_words_that_the_page_had_no_time_to_tell(models: Models) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    generated = session.draft.text
    assert history.undo(session, models, models.default, f"{generated} or not").text == generated
    assert redo(session, models).text == f"{generated} or not"


@pytest.mark.parametrize("length", [2_000, 2 * MAX_CHARACTERS])  # more than the model reads, more than the page takes
def test_typing_that_the_model_cant_read_is_taken_back_and_comes_with_redo(models: Models, length: int) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    generated, ids = session.draft.text, run_of(session).ids
    unread = generated + "x" * length
    with pytest.raises(AttendError, match="shorten it"):
        write.preview(session, models, models.default, unread)
    for _ in range(2):
        update = history.undo(session, models, models.default, unread)
        assert (update.text, update.history) == (generated, (True, True))
        assert run_of(session).ids == ids
        assert redo(session, models).text == unread[:MAX_CHARACTERS]
        assert write.overview(session, models, models.default).history == (True, False)
        unread = session.draft.text
    history.clear(session, models, models.default)
    assert [undo(session, models).text for _ in range(3)] == [unread, generated, START]
    assert [redo(session, models).text for _ in range(3)] == [generated, unread, ""]


def test_typing_is_not_taken_back_while_its_model_is_unknown(models: Models) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    before = session.draft_version
    with pytest.raises(AttendError, match="no-such-model"):
        history.undo(session, models, "no-such-model", f"{session.draft.text} or")
    assert session.draft_version == before and not session.draft.redo


def test_clear_can_be_undone(models: Models) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    text = session.draft.text
    ids = run_of(session).ids
    assert history.clear(session, models, models.default).text is None  # the page empties the box, at once
    assert undo(session, models).text == text
    assert run_of(session).ids == ids
    assert [token.is_given for token in run_of(session).tokens].count(False) == 6


def test_clearing_while_it_writes_leaves_the_box_empty(models: Models) -> None:
    session = Session()
    updates = write.write(session, models, models.default, START, replace(SAMPLE, max_new_tokens=100))
    next(updates)
    next(updates)
    history.clear(session, models, models.default)
    assert all(update.text is None and update.inspector is None for update in updates)
    assert session.draft.text == ""
    assert not session.busy


def test_an_emptied_box_can_be_undone_and_redone(models: Models) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    text = session.draft.text
    assert write.preview(session, models, models.default, "").history == (True, False)
    assert undo(session, models).text == text
    assert redo(session, models).text == ""
    write.preview(session, models, models.default, "New")
    assert undo(session, models).text == ""


def test_nothing_can_be_undone_while_the_model_writes(models: Models) -> None:
    session = Session()
    updates = write.write(session, models, models.default, START, SAMPLE)
    assert next(updates).history == (False, False)
    with pytest.raises(AttendError, match="still writing"):
        undo(session, models)
    assert last(updates).history == (True, False)
