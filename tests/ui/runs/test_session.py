"""A session: one run at a time, what is kept, and what is dropped first."""

from __future__ import annotations

import pytest

from decoding.step import CandidateRecord, Choice
from model.errors import AttendError
from ui.limits import Limits
from ui.runs.run import TokenRecord
from ui.runs.session import Session
from ui.runs.versions.conversation import Conversation, Turn


def choice(token: int) -> Choice:
    return Choice(
        token=token,
        rank=1,
        draw=None,
        stages=("model",),
        kept=(2,),
        candidates=(CandidateRecord(token, (1.0,)),),
        rest=(0.0,),
        mass=(1.0,),
        stage_entropy=(0.0,),
    )


def run_of(session: Session, size: int):
    """A run of one given token and two explained ones, each with `size` bytes of attention."""
    explained = [TokenRecord(token, "chosen", choice(token), "x" * size) for token in (5, 6)]
    return session.add_run("chat", "m", [TokenRecord(1, "given"), *explained])


def test_only_one_run_at_a_time_and_the_next_after_it() -> None:
    session = Session()
    stop = session.begin()
    with pytest.raises(AttendError, match="press Stop or wait"):
        session.begin()
    session.growing = (run_of(session, 1).id,)
    with pytest.raises(AttendError, match="still writing in Chat: press Stop"):
        session.begin()
    session.end(stop)
    assert stop.is_set()
    assert not session.busy
    session.begin()


def test_an_old_run_cannot_end_a_new_one() -> None:
    session = Session()
    old = session.begin()
    session.end(old)
    new = session.begin()
    session.end(old)
    assert session.stop is new


def test_tokens_are_explained_from_the_first_choice_on() -> None:
    session = Session()
    assert run_of(session, 1).first == 1
    assert session.add_run("write", "m", [TokenRecord(1, "given")]).first == 1
    assert session.add_run("chat", "m", [TokenRecord(1, "given"), TokenRecord(2, "given")]).first == 2


def test_runs_that_nothing_can_open_are_forgotten() -> None:
    session = Session()
    first, second, third, fourth = (run_of(session, 1) for _ in range(4))
    session.conversation = Conversation([Turn("assistant", "a", run=first.id)])
    session.cleared = Conversation([Turn("assistant", "b", run=second.id)])
    session.draft.run = third.id
    session.drop_unused_runs()
    assert list(session.runs) == [first.id, second.id, third.id]
    with pytest.raises(AttendError, match="no longer stored"):
        session.run(fourth.id)


def test_undo_states_keep_the_numbers_without_the_attention() -> None:
    session = Session()
    run = run_of(session, 10)
    session.draft.text = "before"
    session.draft.run = run.id
    session.remember_draft()
    earlier = session.draft.undo[0]
    assert earlier.text == "before"
    assert [token.row for token in earlier.tokens] == [None, None, None]
    assert [token.choice for token in earlier.tokens] == [token.choice for token in run.tokens]
    for _ in range(200):
        session.remember_draft()
    assert len(session.draft.undo) == Limits().undo == 50
