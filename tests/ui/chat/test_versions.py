"""Versions of a message: what Retry, Edit and another token leave behind, what goes on, and what each is made of."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.waiting import Gate
from tests.ui.chat.test_chat import GREEDY, SAMPLE, last, texts_of
from tests.ui.inspector.test_why import ask
from ui.chat import chat_actions as chat
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session

LONG = replace(SAMPLE, max_new_tokens=30, min_new_tokens=30)
BEAM = DecodingSettings(strategy="beam", num_beams=3, max_new_tokens=8, min_new_tokens=8)


def answered(models: Models, settings: DecodingSettings, *texts: str) -> Session:
    session = Session()
    for text in texts or ("Hello",):
        last(chat.send(session, models, models.default, text, settings))
    return session


def generated(session: Session, turn: int = -1) -> tuple[int, ...]:
    run = session.run(session.turns[turn].run)
    return run.ids[run.first :]


@pytest.mark.parametrize("change", ["edit", "retry"])
def test_what_an_edit_or_a_retry_replaced_can_be_shown_again_with_its_runs(models: Models, change: str) -> None:
    session = answered(models, GREEDY, "One", "Two")
    before, runs = texts_of(session), dict(session.runs)
    if change == "edit":
        last(chat.edit(session, models, models.default, 0, "Other", GREEDY))
    else:
        last(chat.retry(session, models, models.default, 1, SAMPLE))
    number = 0 if change == "edit" else 1
    assert len(session.turns) == 2 and session.conversation.versions[number] == (1, 2)
    update = chat.show_version(session, models, models.default, number, 0)
    assert texts_of(session) == before
    assert session.runs.items() >= runs.items() and all(run.trace is not None for run in runs.values())
    assert update.inspector and update.inspector["run"] == session.turns[1].run == session.inspected_run
    assert update.conversation and update.conversation["turns"][number]["versions"] == (0, 2)


def test_what_is_generated_next_builds_on_the_version_in_view(models: Models) -> None:
    session = answered(models, GREEDY, "One")
    last(chat.retry(session, models, models.default, 1, SAMPLE))
    chat.show_version(session, models, models.default, 1, 0)
    first = session.turns[1].text
    last(chat.send(session, models, models.default, "Two", GREEDY))
    trace = session.run(session.turns[-1].run).trace
    assert trace is not None
    assert [message["content"] for message in trace.messages] == ["One", first, "Two"]


def test_clear_can_be_taken_back_with_all_versions_until_the_next_message(models: Models) -> None:
    session = answered(models, GREEDY, "One")
    last(chat.retry(session, models, models.default, 1, SAMPLE))
    before = texts_of(session)
    assert chat.clear(session, models, models.default).cleared
    assert session.turns == []
    assert chat.restore(session, models, models.default).cleared is False
    assert texts_of(session) == before and session.conversation.versions[1] == (1, 2)
    chat.show_version(session, models, models.default, 1, 0)
    chat.clear(session, models, models.default)
    last(chat.send(session, models, models.default, "Two", GREEDY))
    chat.restore(session, models, models.default)
    assert texts_of(session)[0] == "Two"
    assert set(session.runs) == {session.turns[1].run}


@pytest.mark.parametrize(
    "settings", [GREEDY, SAMPLE, replace(SAMPLE, frequency_penalty=1.0)], ids=["greedy", "sample", "penalty"]
)
def test_an_answer_that_goes_on_is_the_one_that_had_not_stopped(models: Models, settings: DecodingSettings) -> None:
    """The slow twin: the whole answer in one go."""
    whole = answered(models, replace(settings, max_new_tokens=24))
    session = answered(models, replace(settings, max_new_tokens=8))
    run, first = session.turns[1].run, session.turns[1].text
    assert session.turns[1].unfinished
    panel = DecodingSettings(strategy="beam", max_new_tokens=16)  # of which only the length counts
    updates = list(chat.proceed(session, models, 1, panel))
    assert updates[0].conversation and updates[0].conversation["turns"][1]["text"] == first
    assert generated(session) == generated(whole) and len(generated(whole)) == 24
    assert session.turns[1].text == whole.turns[1].text and session.turns[1].run == run
    assert [each["text"] for each in session.turns[1].tokens or ()] == [
        each["text"] for each in whole.turns[1].tokens or ()
    ]
    assert session.turns[1].note == "reached the length limit" and session.turns[1].unfinished
    opened = chat.open_token(session, models, 1, 20).inspector
    expected = chat.open_token(whole, models, 1, 20).inspector
    assert opened and expected and len(opened["rows"]) == len(opened["steps"]) == len(expected["steps"])
    for step, other in zip(opened["steps"], expected["steps"], strict=True):
        assert (step["draw"], step["kept"]) == (other["draw"], other["kept"])
        # the tokens so far are read in one pass instead of one by one, which rounds differently
        assert step["candidates"][0]["probabilities"] == pytest.approx(
            other["candidates"][0]["probabilities"], rel=1e-3
        )


def test_a_search_goes_on_behind_its_best_text(models: Models) -> None:
    session = answered(models, BEAM)
    first = generated(session)
    last(chat.proceed(session, models, 1, replace(BEAM, max_new_tokens=10)))
    assert generated(session)[:8] == first and len(generated(session)) == 18
    assert session.turns[1].tokens is not None and len(session.turns[1].tokens) == 18


def test_a_stopped_answer_goes_on(models: Models) -> None:
    session = Session()
    held = Gate(free=5).holding(models)
    for _ in chat.send(session, held, models.default, "Hi", replace(LONG, max_new_tokens=100, min_new_tokens=100)):
        if session.turns[-1].tokens and session.stop:
            session.stop.set()
    stopped = generated(session)
    last(chat.proceed(session, models, 1, LONG))  # 100 tokens are the shortest that its settings allow
    assert generated(session)[: len(stopped)] == stopped and len(generated(session)) > 100
    assert session.turns[1].state == "done"


def test_only_an_unfinished_answer_at_the_end_can_go_on(models: Models) -> None:
    session = answered(models, LONG, "One", "Two")
    for turn in (0, 1):
        with pytest.raises(AttendError, match="Only an unfinished answer"):
            next(chat.proceed(session, models, turn, LONG))
    full = answered(models, replace(LONG, max_new_tokens=4000, min_new_tokens=4000))
    assert full.turns[1].note == "reached the context limit" and not full.turns[1].unfinished
    with pytest.raises(AttendError, match="Only an unfinished answer"):
        next(chat.proceed(full, models, 1, LONG))


@pytest.mark.parametrize("settings", [LONG, BEAM], ids=["sample", "beam"])
def test_another_token_is_taken_and_the_former_answer_stays(
    models: Models, tiny: LoadedModel, settings: DecodingSettings
) -> None:
    session = answered(models, settings, "One", "Two")
    before, run = texts_of(session), session.run(session.turns[1].run)
    index = run.first + 3
    choice = run.tokens[index].choice
    assert choice is not None
    other = next(
        each.id for each in choice.candidates if each.id != choice.token and not tiny.tokenizer.is_special(each.id)
    )
    last(chat.branch(session, models, run.id, index, other, settings))
    assert len(session.turns) == 2 and session.conversation.versions[1] == (1, 2)
    ids = generated(session)
    assert ids[:4] == (*run.ids[run.first : index], other) and len(ids) > 4
    new = session.run(session.turns[1].run)
    assert [token.origin for token in new.tokens[index : index + 2]] == ["taken", new.tokens[-1].origin]
    assert new.trace is not None and new.trace.settings.seed == settings.seed
    assert session.turns[1].tokens is not None and len(session.turns[1].tokens) == len(ids)
    chat.show_version(session, models, models.default, 1, 0)
    assert texts_of(session) == before


def test_after_the_very_token_that_was_chosen_the_answer_is_the_same(models: Models) -> None:
    """The random numbers go on where they stood, so what differs is the token's doing alone."""
    session = answered(models, LONG)
    run = session.run(session.turns[1].run)
    last(chat.branch(session, models, run.id, run.first + 9, run.ids[run.first + 9], LONG))
    assert generated(session)[:30] == run.ids[run.first :]


@pytest.mark.parametrize("goes_on", [False, True])
def test_an_answer_without_a_head_is_a_version_with_the_same_draws(models: Models, goes_on: bool) -> None:
    """The slow twin is what "Why?" writes beside the answer, which is no part of the conversation."""
    session = answered(models, LONG, "One", "Two")
    if goes_on:
        chat.undo(session, models, models.default, 3)
        last(chat.proceed(session, models, 1, replace(LONG, temperature=0.5)))
    run = session.run(session.turns[1].run)
    head = {"layer": 1, "part": "head", "head": 2, "action": "zero"}
    again = ask(session, models, "write_without", run, changes=[head])["again"]
    updates = list(chat.write_without(session, models, run.id, [head]))
    assert len(session.turns) == 2 and session.conversation.versions[1] == (1, 2)
    new = session.run(session.turns[1].run)
    assert list(new.ids) == [*run.require_trace().request.prompt, *again] and new.ids != run.ids
    assert new.first == run.first and new.require_trace().settings == run.require_trace().settings
    conversation = updates[0].conversation
    assert conversation
    assert conversation["turns"][1].get("without") == "2.3" and "without" not in conversation["turns"][0]
    with pytest.raises(AttendError, match="no longer in view"):
        next(chat.write_without(session, models, run.id, [head]))


def test_tokens_that_cannot_be_taken_are_refused_and_nothing_changes(models: Models, tiny: LoadedModel) -> None:
    session = answered(models, LONG)
    run = session.run(session.turns[1].run)
    end = next(iter(tiny.end_tokens))
    candidate = run.tokens[run.first].choice.candidates[0].id  # type: ignore[union-attr]
    for identifier, index, token, sentence in (
        ("chat-99", run.first, candidate, "no longer in view"),
        (run.id, run.first - 1, candidate, "no longer exists"),
        (run.id, 10**9, candidate, "no longer exists"),
        (run.id, run.first, 10**9, "not in the table"),
    ):
        with pytest.raises(AttendError, match=sentence):
            next(chat.branch(session, models, identifier, index, token, LONG))
    ended = answered(models, replace(SAMPLE, logit_bias=((end, 100.0),)))
    run = ended.run(ended.turns[1].run)
    with pytest.raises(AttendError, match="has no text of its own"):
        next(chat.branch(ended, models, run.id, run.first, end, LONG))
    assert len(list(session.conversation.all_turns())) == 2 and not session.busy


def test_nothing_changes_versions_while_the_model_writes(models: Models) -> None:
    session = answered(models, LONG)
    run = session.run(session.turns[1].run)
    updates = chat.retry(session, models, models.default, 1, replace(LONG, max_new_tokens=100))
    next(updates)
    for act in (
        lambda: chat.show_version(session, models, models.default, 1, 0),
        lambda: next(chat.proceed(session, models, 1, LONG)),
        lambda: next(chat.branch(session, models, run.id, run.first, run.ids[run.first], LONG)),
    ):
        with pytest.raises(AttendError, match="still writing"):
            act()
    updates.close()  # type: ignore[attr-defined]


def test_what_memory_let_go_is_refused_in_words(models: Models) -> None:
    session = answered(models, LONG)
    run = session.run(session.turns[1].run)
    run.forget_explanations()
    with pytest.raises(AttendError, match="no longer stored"):
        next(chat.proceed(session, models, 1, LONG))


@pytest.mark.parametrize("settings", [replace(LONG, num_return_sequences=3), replace(BEAM, num_return_sequences=3)])
def test_several_answers_are_versions_each_with_its_own_run(models: Models, settings: DecodingSettings) -> None:
    session = answered(models, settings)
    first = session.run(session.turns[1].run)
    assert first.trace is not None and session.conversation.versions[1] == (0, 3)
    ids = [hypothesis.tokens for hypothesis in first.trace.sequences]
    for number, text in enumerate(first.trace.texts):
        update = chat.show_version(session, models, models.default, 1, number)
        answer, run = session.turns[1], session.run(session.turns[1].run)
        assert (answer.text, generated(session), answer.state) == (text, ids[number], "done")
        assert run.trace is not None and run.trace.document()["text"] == text
        assert update.inspector is not None and update.inspector["run"] == run.id
        assert all(token.choice is not None and token.row is not None for token in run.tokens[run.first :])
    if settings.drawn:  # a sample is what its seed alone gives
        alone = answered(models, replace(settings, num_return_sequences=1, seed=settings.seed + 2))
        assert generated(alone) == ids[2]
        one, other = (each.run(each.turns[1].run).trace for each in (session, alone))
        assert one is not None and other is not None and one.settings == other.settings
    last(chat.retry(session, models, models.default, 1, GREEDY))
    assert session.conversation.versions[1] == (3, 4)
    chat.show_version(session, models, models.default, 1, 1)
    last(chat.proceed(session, models, 1, LONG))
    assert generated(session)[: len(ids[1])] == ids[1]
    assert chat.undo(session, models, models.default, 1).message == "Hello"


def test_what_is_clicked_as_several_answers_end_drops_none_of_their_runs(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, add_run = Session(), Session.add_run

    def click() -> None:
        with session.lock:
            session.drop_unused_runs()

    def interrupted(*arguments: Any, **options: Any) -> RunRecord:
        run, clicking = add_run(*arguments, **options), threading.Thread(target=click)
        clicking.start()
        clicking.join(0.05)
        return run

    monkeypatch.setattr(Session, "add_run", interrupted)
    updates = chat.send(session, models, models.default, "Hello", replace(LONG, num_return_sequences=3))
    with session.lock:  # as the page does until the first update
        next(updates)
    last(updates)
    for number in range(3):
        chat.show_version(session, models, models.default, 1, number)
        assert session.turns[1].run in session.runs


def test_of_more_answers_than_a_message_has_versions_the_oldest_go(models: Models) -> None:
    settings = replace(SAMPLE, num_return_sequences=8, max_new_tokens=2)
    session = answered(models, settings)
    last(chat.retry(session, models, models.default, 1, settings))
    assert session.conversation.versions[1] == (2, 10)
    trace = session.run(session.turns[1].run).trace
    assert trace is not None
    chat.show_version(session, models, models.default, 1, 9)
    assert session.turns[1].text == trace.texts[7]
