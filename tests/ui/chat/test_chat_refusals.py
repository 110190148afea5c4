"""What Chat refuses, and what fails, leaves the conversation as it was."""

from __future__ import annotations

import pytest

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.ui.chat.test_chat import GREEDY, last, texts_of
from ui.chat import chat_actions as chat
from ui.runs.models import Models
from ui.runs.session import Session


def test_a_second_message_while_one_streams_is_refused(models: Models) -> None:
    session = Session()
    updates = chat.send(session, models, models.default, "Hi", DecodingSettings(max_new_tokens=100, seed=1))
    next(updates)
    with pytest.raises(AttendError, match="still writing"):
        next(iter(chat.send(session, models, models.default, "Again", GREEDY)))
    assert len(session.turns) == 2
    updates.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        (None, "must be text"),
        ("x" * 20_001, "20,001 characters"),
        ("\ud800", "half a character"),
        ("dog " * 400, r"\d+ tokens, but this model's context holds \d+"),
    ],
)
def test_bad_messages_are_refused_and_nothing_changes(models: Models, text: object, sentence: str) -> None:
    session = Session()
    last(chat.send(session, models, models.default, "One", GREEDY))
    before = texts_of(session)
    with pytest.raises(AttendError, match=sentence):
        next(iter(chat.send(session, models, models.default, text, GREEDY)))
    assert texts_of(session) == before
    assert not session.busy


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (DecodingSettings(logit_bias=((99_999, 3.0),)), "logit_bias names token 99999"),
        (DecodingSettings(strategy="dola", dola_layers=(99,)), "dola_layers lists layer 99"),
    ],
)
@pytest.mark.usefixtures("counted_seeds")
def test_settings_that_the_model_cannot_follow_are_refused_before_anything_changes(
    models: Models, settings: DecodingSettings, sentence: str
) -> None:
    session = Session()
    last(chat.send(session, models, models.default, "One", GREEDY))
    before = texts_of(session), session.cleared, dict(session.runs)
    for updates in (
        chat.send(session, models, models.default, "Two", settings),
        chat.retry(session, models, models.default, 1, settings),
        chat.edit(session, models, models.default, 0, "Other", settings),
    ):
        with pytest.raises(AttendError, match=sentence):
            next(updates)  # not even a first update, which would empty the box
    assert (texts_of(session), session.cleared, session.runs) == before
    assert not session.busy


@pytest.mark.parametrize("turn", [-1, 2, 10**9])
def test_turns_that_do_not_exist_are_refused(models: Models, turn: int) -> None:
    session = Session()
    last(chat.send(session, models, models.default, "One", GREEDY))
    for act in (
        lambda: chat.open_token(session, models, turn, 0),
        lambda: chat.undo(session, models, models.default, turn),
        lambda: next(iter(chat.retry(session, models, models.default, turn, GREEDY))),
    ):
        with pytest.raises(AttendError, match="no longer exists"):
            act()


def test_a_model_without_a_chat_format_says_so(models: Models, tiny_writer: LoadedModel) -> None:
    with pytest.raises(AttendError, match="switch to Write"):
        next(iter(chat.send(Session(), models, tiny_writer.name, "Hi", GREEDY)))


def test_a_model_that_is_not_on_the_list_is_refused(models: Models) -> None:
    for name in ("../../etc", "", None, 7):
        with pytest.raises(AttendError, match="There is no model"):
            models.get(name)


def test_an_error_while_it_writes_keeps_the_conversation(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()

    def broken(*_: object):
        raise RuntimeError("broken")
        yield

    monkeypatch.setattr(models, "decode", broken)
    updates = []
    with pytest.raises(RuntimeError, match="broken"):
        for update in chat.send(session, models, models.default, "Hi", GREEDY):
            updates.append(update)
    assert updates[-1].answer and updates[-1].answer["state"] == "stopped"
    assert [turn.text for turn in session.turns] == ["Hi", ""]
    assert not session.busy
