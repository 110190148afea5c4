"""What a browser keeps of Write: read back, the text goes on as the original would."""

from __future__ import annotations

import json
from typing import Any

import pytest

from model.errors import AttendError
from tests.ui.write.test_write import SAMPLE, START, last, run_of
from tests.ui.write.test_write_history import undo
from ui.runs.documents.kept_document import open_document
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write import history
from ui.write import write_actions as write
from ui.write.draft import update_draft
from ui.write.kept_text import open_text, write_document


def written(models: Models) -> Session:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    return session


def kept(session: Session, models: Models) -> dict[str, Any]:
    """The document as the browser has it."""
    document = write_document(session)
    assert document is not None
    return json.loads(json.dumps(document.value(models, ())))


def trace_of(session: Session) -> dict[str, Any]:
    trace = run_of(session).trace
    assert trace is not None
    return dict(trace.document())


def reopen(session: Session, models: Models, document: object) -> Session:
    open_document(session, models, document, open_text)
    return session


def check_close(value: Any, other: Any) -> None:
    """Equal but for rounding: of one, more was still in the model's memory, so its prompt was read in other pieces."""
    if isinstance(value, float):
        assert value == pytest.approx(other, abs=1e-6)
    elif isinstance(value, dict):
        assert value.keys() == other.keys()
        for name in value:
            check_close(value[name], other[name])
    elif isinstance(value, list):
        assert len(value) == len(other)
        for one, another in zip(value, other, strict=True):
            check_close(one, another)
    else:
        assert value == other


def test_a_text_that_came_back_goes_on_like_the_original(models: Models) -> None:
    session = written(models)
    again = reopen(Session(), models, kept(session, models))
    assert again.draft.text == session.draft.text
    assert [(token.id, token.origin, token.choice) for token in run_of(again).tokens] == [
        (token.id, token.origin, token.choice) for token in run_of(session).tokens
    ]
    for each in (session, again):
        last(write.write(each, models, models.default, each.draft.text, SAMPLE))
    assert run_of(again).ids == run_of(session).ids
    check_close(trace_of(again), trace_of(session))
    assert len(trace_of(again)["steps"]) == 2 * SAMPLE.max_new_tokens  # one trace of both continuations


def test_a_typed_text_is_kept_too(models: Models) -> None:
    session = Session()
    assert write_document(session) is None
    update_draft(session, models.get(models.default), START)
    again = reopen(Session(), models, kept(session, models))
    assert again.draft.text == START
    assert run_of(again).ids == run_of(session).ids


def test_opening_a_text_can_be_undone(models: Models) -> None:
    document = kept(written(models), models)
    session = Session()
    update_draft(session, models.get(models.default), "Mine")
    mine = kept(session, models)["key"]
    reopen(session, models, document)
    assert session.draft.key == document["key"]
    assert undo(session, models).text == "Mine"
    assert session.draft.key == mine


def test_a_text_that_was_cleared_before_it_was_kept_is_kept_all_the_same(models: Models) -> None:
    session = written(models)
    text = session.draft.text
    history.clear(session, models, models.default)
    document = kept(session, models)
    assert reopen(Session(), models, document).draft.text == text
    undo(session, models)
    assert kept(session, models)["key"] == document["key"]
    write.preview(session, models, models.default, "")  # deleted by hand: Undo has an older text, too
    write.preview(session, models, models.default, "A")
    write.preview(session, models, models.default, "")
    assert write_document(session) is None


def test_a_text_keeps_its_name_until_the_box_is_emptied(models: Models) -> None:
    session = written(models)
    key = kept(session, models)["key"]
    last(write.write(session, models, models.default, session.draft.text, SAMPLE))
    assert kept(session, models)["key"] == key
    undo(session, models)
    assert kept(session, models)["key"] == key
    history.clear(session, models, models.default)
    undo(session, models)
    assert kept(session, models)["key"] == key
    history.clear(session, models, models.default)
    update_draft(session, models.get(models.default), "Another")
    assert kept(session, models)["key"] != key


def test_without_its_run_the_text_is_tokenized_again(models: Models) -> None:
    document = kept(written(models), models)
    session = reopen(Session(), models, {**document, "runs": {}})
    assert session.draft.run is None
    write.overview(session, models, models.default)
    assert all(token.is_given for token in run_of(session).tokens)
    assert session.draft.text == document["content"]["text"]


@pytest.mark.parametrize("content", [{}, {"text": 3, "run": "x"}, {"text": "x", "run": None}])
def test_what_is_no_text_is_refused(models: Models, content: dict[str, object]) -> None:
    session = written(models)
    before = session.draft.text
    with pytest.raises(AttendError, match="can't be opened"):
        reopen(session, models, {**kept(written(models), models), "content": content})
    assert session.draft.text == before
