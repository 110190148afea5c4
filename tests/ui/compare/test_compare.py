"""Compare as its functions do it, with a real (if random) model and real threads; no browser."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.waiting import LONGEST, Gate
from ui.chat import chat_actions as chat
from ui.compare import compare_actions as comparing
from ui.compare import comparison_value as compare_values
from ui.compare.compare_actions import CompareUpdate
from ui.compare.compare_contract import CompareValue
from ui.compare.compare_endpoint import compare_endpoint
from ui.compare.kept_comparison import compare_document
from ui.inspector.inspector_value import empty_inspector
from ui.runs.models import Models
from ui.runs.session import Session
from ui.settings.methods import shared_settings_of

PANEL = DecodingSettings(seed=3, max_new_tokens=12)
ARGUMENTS: dict[str, Any] = {"answer": False, "history": False, "common": True, "shared": PANEL}
WARM: list[dict[str, object]] = [{"temperature": heat, "max_new_tokens": 12} for heat in (0, 0.5, 1, 1.5)]


def run(
    session: Session, models: Models, cards: object = WARM, text: object = "The fox", **changes: Any
) -> list[CompareUpdate]:
    keywords: dict[str, Any] = {**ARGUMENTS, **changes}
    name = keywords.pop("name", models.default)
    return list(comparing.compare(session, models, name, text, cards, **keywords))


def values(updates: list[CompareUpdate]) -> Iterator[CompareValue]:
    for update in updates:
        if update.comparison is not None:
            assert "cards" in update.comparison
            yield update.comparison


def full_value(session: Session, models: Models) -> CompareValue:
    return next(values([comparing.resend(session, models, models.default)]))


# --- running ---------------------------------------------------------------------------------------------------------


def test_all_cards_stream_and_the_updates_join_to_the_whole(models: Models) -> None:
    """A reader that follows the contract of `CompareValue` ends with what /compare returns."""
    session = Session()
    joined: dict[str, list] = {}
    waiting, *seen = values(run(session, models))
    assert waiting == compare_values.no_comparison(chats=True) | {"busy": True}
    for value in seen:
        for card in value["cards"]:
            before = joined.get(card["run"], [])
            assert card["since"] <= len(before)
            joined[card["run"]] = before[: card["since"]] + list(card["tokens"])
    cards = [{**card, "seed": 3} for card in WARM]
    document = compare_endpoint(models)("The fox", models.default, cards, True, False, [])
    texts = ["".join(each["text"] for each in tokens) for tokens in joined.values()]
    assert texts == [card["text"] for card in document["cards"]]
    assert seen[-1]["busy"] is False
    for card, exported in zip(seen[-1]["cards"], document["cards"], strict=True):
        assert card["since"] == 0 and card["state"] == "done" and card["length"] == 12
        assert card["first_difference"] == exported["first_difference"]
        named = dict(zip((text["name"] for text in compare_values.METRICS), card["metrics"], strict=True))
        assert named["perplexity"] == pytest.approx(exported["perplexity"], rel=1e-5)
        assert named["tokens"] == exported["tokens"]
    assert not session.busy and session.growing == ()


def test_what_was_held_back_for_a_stop_text_that_never_came_reaches_the_page(tiny: LoadedModel) -> None:
    """Half of the answer could become a stop text, until its next token tells that it does not."""

    updated = threading.Event()  # set by every update of the page, so that every token has its own

    def stepwise(decode: Any) -> Any:
        def one_by_one(*arguments: Any) -> Iterator[Any]:
            for step in decode(*arguments):
                yield step
                updated.wait(LONGEST)
                updated.clear()

        return one_by_one

    session = Session()
    run(session, Models((tiny.name,), lambda *_: tiny))
    models = Models((tiny.name,), lambda *_: tiny, wrap=stepwise)
    words = [each["text"] for each in full_value(session, models)["cards"][0]["tokens"]]
    spoken, half = "".join(words), "".join(words[1:6])
    cards = [{**WARM[0], "stop_texts": [f"{half}!?"]}, {**WARM[0], "stop_texts": [words[3]]}]
    joined: dict[str, list] = {}
    going = comparing.compare(session, models, tiny.name, "The fox", cards, **ARGUMENTS)
    for update in going:
        for value in values([update]):
            for card in value["cards"]:
                joined[card["run"]] = joined.get(card["run"], [])[: card["since"]] + list(card["tokens"])
            for card in full_value(session, models)["cards"]:  # as it stands now
                assert joined[card["run"]] == list(card["tokens"])
        updated.set()
    never, early = ("".join(each["text"] for each in joined[f"compare-2-{number}"]) for number in (1, 2))
    assert never == spoken and early == spoken[: spoken.index(words[3])]


def test_the_inspector_follows_the_first_card_until_another_token_is_opened(models: Models) -> None:
    session = Session()
    gate = Gate()
    updates = comparing.compare(session, gate.holding(models), models.default, "The fox", WARM, **ARGUMENTS)
    first = next(update for update in updates if update.inspector)
    assert first.inspector is not None and first.inspector["busy"] is True
    gate.open()
    assert session.comparison is not None
    ids = [card.run.id for card in session.comparison.cards]
    assert first.inspector["run"] == session.inspected_run == ids[0]
    rest = list(updates)
    assert {update.inspector["run"] for update in rest if update.inspector} == {ids[0]}
    opened = comparing.open_token(session, models, ids[2], 4).inspector
    assert opened is not None and opened["run"] == ids[2] and opened["busy"] is False
    assert opened.get("selected") == opened["first"] + 4
    assert len(opened["rows"]) == len(opened["steps"]) == len(session.comparison.cards[2].ids)


def test_a_message_goes_on_from_the_chat_as_the_chats_next_answer_would(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    greedy = DecodingSettings(strategy="greedy", max_new_tokens=6)
    assert full_value(session, models)["history"] is False
    list(chat.send(session, models, models.default, "I have a dog.", greedy))
    assert full_value(session, models)["history"] is True
    cards = [greedy.to_dict(), WARM[2]]
    run(session, models, cards, "What do I have?", answer=True, history=True)
    assert session.comparison is not None
    compared = session.comparison
    run(session, models, cards, "What do I have?", answer=True)
    alone = session.comparison
    list(chat.send(session, models, models.default, "What do I have?", greedy))
    answer = session.newest_answer
    assert answer is not None and answer.trace is not None
    assert compared.prompt.ids == answer.trace.request.prompt != alone.prompt.ids
    assert compared.cards[0].ids == answer.trace.ids
    assert compared.cards[1].trace.messages[0]["content"] == "I have a dog."
    assert len(alone.cards[1].trace.messages) == 1


def test_the_length_and_the_candidates_of_the_panel_hold_where_a_card_says_nothing_else(models: Models) -> None:
    session = Session()
    panel = DecodingSettings(seed=3, max_new_tokens=5, top_candidates=4)
    run(session, models, [{"temperature": 0.4}, {"max_new_tokens": 9, "top_candidates": 0}], shared=panel)
    assert session.comparison is not None
    first, second = (card.settings for card in session.comparison.cards)
    assert (first.max_new_tokens, first.top_candidates) == (5, 4)
    assert (
        second.max_new_tokens,
        second.top_candidates,
    ) == (9, 0)
    assert len(session.comparison.cards[0].ids) <= 5


@pytest.mark.usefixtures("counted_seeds")
def test_a_seed_left_to_chance_is_drawn_once_and_kept_as_it_stands_beside_the_text(models: Models) -> None:
    session = Session()
    form = {"method": "Custom", "values": {"seed": -1, "max_new_tokens": 2, "top_candidates": 3}}
    run(session, models, [{"temperature": 0.4}, {"temperature": 0.9}], shared=shared_settings_of(form))
    comparison, document = session.comparison, compare_document(session)
    assert comparison is not None and document is not None
    first, second = (card.settings.seed for card in comparison.cards)
    assert first == second >= 0
    assert document.content["seed"] == -1  # so that the page doesn't take it for changed


def test_all_cards_use_the_seed_of_the_panel_and_it_is_shown_only_if_something_was_drawn(models: Models) -> None:
    session = Session()
    seeded = [{**WARM[0], "seed": 8}, {**WARM[2], "seed": 9}]
    assert run(session, models, seeded)[-1].seed == 3
    assert run(session, models, seeded, common=False)[-1].seed == 3
    assert session.comparison is not None
    assert [card.settings.seed for card in session.comparison.cards] == [3, 4]
    assert run(session, models, [{"strategy": "greedy", "max_new_tokens": 2}] * 2)[-1].seed == -1


def test_what_is_written_last_is_newer_than_a_look_at_the_tab_meanwhile(models: Models) -> None:
    """A step may be under way when the visitor comes back to the tab and stops it: the page drops what is older."""
    session = Session.using(models.default)
    held = Gate().holding(models)
    updates = comparing.compare(session, held, models.default, "The fox", WARM, **ARGUMENTS)
    while session.comparison is None:
        next(updates)
    looked = comparing.overview(session, held, models.default)
    session.halt()
    last = list(updates)[-1]
    assert looked.comparison and looked.comparison["busy"] and last.comparison and not last.comparison["busy"]
    assert last.update > looked.update


def test_a_comparison_whose_first_words_come_out_of_sight_leaves_the_inspector_to_the_tab_in_sight(
    models: Models,
) -> None:
    session = Session()
    list(chat.send(session, models, models.default, "Hi", PANEL))
    answer = session.inspected_run
    updates = comparing.compare(session, models, models.default, "The fox", WARM, **ARGUMENTS)
    next(updates)
    session.tab.requested = "Chat"
    later = list(updates)
    assert session.comparison is not None and session.inspected_run == answer
    assert all(update.inspector is None and update.meter is None for update in later)


# --- afterwards ------------------------------------------------------------------------------------------------------


def test_the_chat_and_the_cards_keep_each_others_runs(models: Models) -> None:
    session = Session()
    list(chat.send(session, models, models.default, "Hi", DecodingSettings(strategy="greedy", max_new_tokens=4)))
    run(session, models)
    list(chat.send(session, models, models.default, "Hello", DecodingSettings(strategy="greedy", max_new_tokens=4)))
    assert session.comparison is not None
    for card in session.comparison.cards:
        assert comparing.open_token(session, models, card.run.id, 0).inspector is not None
    assert chat.open_token(session, models, 1, 0).inspector is not None
    old = [card.run.id for card in session.comparison.cards]
    run(session, models)
    assert not set(old) & session.runs.keys()
    with pytest.raises(AttendError, match="compare again"):
        comparing.open_token(session, models, old[0], 0)


def test_attention_of_the_cards_comes_back_when_a_token_is_opened(models: Models) -> None:
    session = Session()
    run(session, models)
    assert session.comparison is not None
    _, *others = (card.run for card in session.comparison.cards)
    rows = [[token.row for token in other.tokens[other.first :]] for other in others]
    for other in others:
        other.forget_attention()
    opened = comparing.open_token(session, models, others[0].id, 0).inspector
    assert opened is not None and len(opened["rows"]) == len(rows[0])


def test_a_card_that_is_taken_away_is_gone_and_the_next_is_the_first(models: Models) -> None:
    session = Session()
    run(session, models)
    assert session.comparison is not None
    first, second, *_ = (card.run.id for card in session.comparison.cards)
    update = comparing.remove(session, models, models.default, [first])
    (value,) = values([update])
    assert value["cards"][0]["run"] == second and len(value["cards"]) == 3
    assert value["cards"][0]["first_difference"] is None
    assert update.inspector is not None and update.inspector["run"] == second  # it showed the one that went
    comparing.remove(session, models, models.default, ["compare-9-9", {"no": "name"}, None])
    assert len(session.comparison.cards) == 3
    gone = [card.run.id for card in session.comparison.cards]
    assert comparing.remove(session, models, models.default, gone).inspector == empty_inspector("compare")
    assert session.comparison is None and full_value(session, models)["cards"] == []
    assert first not in session.runs


def test_a_removed_card_is_put_back_where_it_was_until_the_next_comparison(models: Models) -> None:
    session = Session()
    run(session, models)
    assert session.comparison is not None
    before = full_value(session, models)["cards"]
    first, second, *_ = (card["run"] for card in before)
    for name in (first, second):
        comparing.remove(session, models, models.default, [name])
    comparing.restore(session, models, models.default, second, 0)
    (value,) = values([comparing.restore(session, models, models.default, first, 0)])
    assert value["cards"] == before
    assert comparing.open_token(session, models, first, 0).inspector is not None  # with its run

    for name, index in (("compare-9-9", 0), (first, 0)):  # no such card; one that is there
        (again,) = values([comparing.restore(session, models, models.default, name, index)])
        assert again["cards"] == before
    for index, end in ((10**9, -1), (-(10**9), 0)):
        comparing.remove(session, models, models.default, [first])
        stop = session.begin()  # another tab writes, and the page shows the card already
        (again,) = values([comparing.restore(session, models, models.default, first, index)])
        session.end(stop)
        assert len(again["cards"]) == len(before) and again["cards"][end]["run"] == first
    comparing.remove(session, models, models.default, [first])
    run(session, models)
    (value,) = values([comparing.restore(session, models, models.default, first, 0)])
    assert first not in session.runs and first not in [card["run"] for card in value["cards"]]


def test_a_comparison_outlives_a_change_of_the_model(models: Models) -> None:
    session = Session()
    run(session, models)
    before = full_value(session, models)
    other = next(values([comparing.overview(session, models, "tiny-writer")]))
    assert other == {**before, "chats": False}


def test_the_files_are_the_comparison(models: Models) -> None:
    session = Session()
    with pytest.raises(AttendError, match="press Compare first"):
        comparing.file(session, "csv")
    run(session, models)
    assert session.comparison is not None
    table, document = (comparing.file(session, kind) for kind in ("csv", "json"))
    assert table[0] == document[0] == [session.comparison.model, "compare", session.comparison.prompt.text]
    rows = list(csv.DictReader(io.StringIO(table[1])))
    assert [float(row["temperature"]) for row in rows] == [0, 0.5, 1, 1.5]
    assert json.loads(document[1])["schema"] == "attend.compare/1"
    markdown = comparing.file(session, "md")[1].splitlines()
    assert markdown[0] == f"**Prompt** ({session.comparison.model}): {session.comparison.prompt.text}"
    assert len({line.replace("\\|", "").count("|") for line in markdown[2:]}) == 1 and len(markdown) == 2 + 2 + 4
    assert markdown[4].startswith("| 1 | Temperature 0")
    with pytest.raises(AttendError, match="choose csv, json or md"):
        comparing.file(session, "<exe>")
