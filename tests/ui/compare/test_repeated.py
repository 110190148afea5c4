"""A text of any tab on two cards: as it was, and with a head switched off; its slow twin is the text written alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from decoding.request import RequestOptions
from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.inspection.intervention import Intervention
from tests.helpers.waiting import Gate
from tests.ui.compare.test_compare import run as compare
from tests.ui.compare.test_compare import values
from tests.ui.compare.test_compare_document import kept, opened
from tests.ui.inspector.test_trace import BEAM, SAMPLE, answered, to_the_end, trace_of, written
from tests.ui.inspector.test_why import HEAD, ask
from ui.compare import compare_actions as comparing
from ui.runs.comparison import Comparison
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session

FEED_FORWARD = {"layer": 0, "part": "feed_forward", "action": "scale", "factor": 0.5}


def repeat(session: Session, models: Models, run: RunRecord, *changes: dict[str, Any]) -> None:
    to_the_end(comparing.repeat(session, models, run.id, list(changes or [HEAD])))


def comparison_of(session: Session) -> Comparison:
    assert session.comparison is not None
    return session.comparison


@pytest.mark.parametrize("settings", [SAMPLE, replace(SAMPLE, stop_texts=("zq,",)), BEAM])
def test_the_cards_are_the_answer_as_it_was_and_the_same_without_a_head(
    models: Models, settings: DecodingSettings
) -> None:
    session = Session.using(models.default)
    answered(models, "Hello!", SAMPLE, session)
    run = answered(models, "How are you today?", settings, session)
    again = ask(session, models, "write_without", run, changes=[HEAD, FEED_FORWARD])["again"]
    repeat(session, models, run, HEAD, FEED_FORWARD)
    comparison, trace = comparison_of(session), trace_of(run)
    assert [list(card.ids) for card in comparison.cards] == [list(trace.ids), again]
    assert settings.beams or again != list(trace.ids)
    assert comparison.prompt.ids == trace.request.prompt and len(comparison.prompt.messages) == 3
    own = {name: value for name, value in comparison.cards[0].form.items() if name != "without"}
    assert DecodingSettings.from_dict({**own, "seed": settings.seed}) == settings  # without the chat format's ends
    assert [card.form.get("without") for card in comparison.cards] == [None, "2.3, feed-forward 1 x 0.5"]


def test_the_page_hears_with_the_first_token_what_the_cards_were_asked(models: Models) -> None:
    session, gate = Session.using(models.default), Gate()
    run = answered(models, "How are you today?", SAMPLE, session)
    updates = comparing.repeat(session, gate.holding(models), run.id, [HEAD])
    first = next(value for update in updates for value in values([update]) if value["run"] is not None)
    assert first["busy"] and "request" in first
    assert (first["request"]["text"], first["request"]["answer"]) == ("How are you today?", True)
    gate.open()
    *_, last = values(list(updates))
    assert "request" in last and last["request"] == first["request"] and not last["busy"]


def test_a_text_that_was_continued_is_repeated_from_the_same_place_in_the_stream_of_draws(models: Models) -> None:
    session = Session.using(models.default)
    written(models, session, "The quick brown fox", SAMPLE)
    text = session.draft.text
    run = written(models, session, text, replace(SAMPLE, temperature=0.9))  # which can't go on as if it had not stopped
    trace = run.trace
    assert trace is not None and trace.request.options.draws_used == 10
    repeat(session, models, run)
    as_it_was, without = comparison_of(session).cards
    assert as_it_was.ids == trace.ids and without.ids != trace.ids
    again = opened(kept(session, models), models)
    compare(again, models, [dict(card.form) for card in comparison_of(session).cards], text, shared=SAMPLE)
    assert [card.ids for card in comparison_of(again).cards] == [as_it_was.ids, without.ids]


def test_a_prompt_that_the_model_cannot_read_is_not_taken_from_a_document(models: Models) -> None:
    session = Session.using(models.default)
    repeat(session, models, written(models, session, "The quick brown fox", SAMPLE))
    cards, document = [dict(card.form) for card in comparison_of(session).cards], kept(session, models)
    document["content"]["ids"] = [10**6]
    again = opened(document, models)
    compare(again, models, cards, "The quick brown fox", shared=SAMPLE)
    assert comparison_of(again).prompt.ids == comparison_of(session).prompt.ids


def test_what_was_off_already_stays_off_on_both_cards(models: Models) -> None:
    session = Session.using(models.default)
    repeat(session, models, answered(models, "How are you today?", SAMPLE, session))
    changed = comparison_of(session).cards[1].run
    repeat(session, models, changed, FEED_FORWARD)
    as_it_was, without = comparison_of(session).cards
    assert as_it_was.ids == changed.ids[changed.first :] and as_it_was.form["without"] == "2.3"
    assert without.form["without"] == "2.3, feed-forward 1 x 0.5"


def test_cards_that_are_changed_read_the_same_conversation_though_the_chat_went_on(models: Models) -> None:
    session = Session.using(models.default)
    answered(models, "Hello!", SAMPLE, session)
    run = answered(models, "How are you today?", SAMPLE, session)
    answered(models, "And tomorrow?", SAMPLE, session)
    repeat(session, models, run)
    cards = [
        {**card.form, "without": name} for card, name in zip(comparison_of(session).cards, ("", "1.2"), strict=True)
    ]
    arguments: dict[str, Any] = {"answer": True, "history": True, "shared": SAMPLE}
    compare(session, models, cards, "How are you today?", **arguments)
    same = comparison_of(session)
    assert same.prompt.ids == run.ids[: run.first] and same.cards[0].ids == trace_of(run).ids
    document = kept(session, models)
    for changed in ({}, {"text": "How are you?"}, {"history": False}):  # in a page that was opened again
        fresh = opened(document, models)
        fresh.conversation = session.conversation
        compare(fresh, models, cards, **{"text": "How are you today?", **arguments, **changed})
        assert (comparison_of(fresh).prompt == same.prompt) is comparison_of(fresh).repeats is (not changed)


def test_what_no_card_can_say_is_refused_and_the_comparison_in_view_stays(models: Models) -> None:
    session = Session.using(models.default)
    run = answered(models, "How are you today?", SAMPLE, session)
    compare(session, models)
    before = session.comparison
    changed = Intervention(0, "head", 1, positions=(2,))
    options = RequestOptions(interventions=(changed,))
    trace = replace(trace_of(run), request=replace(trace_of(run).request, options=options))
    odd = session.add_run("chat", run.model, run.tokens)
    odd.trace = trace
    with pytest.raises(AttendError, match="cards don't have"):
        repeat(session, models, odd)
    with pytest.raises(AttendError, match="choose a head or a layer"):
        list(comparing.repeat(session, models, run.id, []))
    with pytest.raises(AttendError, match="no longer stored"):
        list(comparing.repeat(session, models, "chat-99", [HEAD]))
    assert session.comparison is before and not session.busy
