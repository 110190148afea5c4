"""What a browser keeps of Compare: read back, the cards are the same, with or without their model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from tests.ui.compare.test_compare import WARM, full_value, run
from tests.ui.history.test_history_view import ask
from ui.chat import chat_actions as chat
from ui.compare import compare_actions as comparing
from ui.compare.compare_actions import CompareUpdate
from ui.compare.kept_comparison import compare_document, open_comparison
from ui.compare.results.shared import shared
from ui.runs.documents.kept_document import open_document
from ui.runs.models import Models
from ui.runs.session import Session


def kept(session: Session, models: Models) -> dict[str, Any]:
    """The document as the browser has it."""
    document = compare_document(session)
    assert document is not None
    return json.loads(json.dumps(document.value(models, ())))


def opened(document: dict[str, Any], models: Models) -> Session:
    session = Session.using(models.default)
    open_document(session, models, document, open_comparison)
    return session


@pytest.fixture(scope="module")
def two_cards(tiny: LoadedModel) -> str:
    """A comparison as the browser has it."""
    session, models = Session.using(tiny.name), Models((tiny.name,), lambda *_: tiny)
    run(session, models, WARM[:2])
    return json.dumps(kept(session, models))


@pytest.mark.parametrize("answer", [False, True])
def test_a_comparison_that_came_back_is_the_same(models: Models, answer: bool) -> None:
    assert compare_document(Session()) is None
    session, again = Session.using(models.default), Session.using(models.default)
    run(session, models, answer=answer)
    document = kept(session, models)
    update = ask(again, models, document, 1)
    assert isinstance(update, CompareUpdate) and update.comparison is not None
    before, after = full_value(session, models), update.comparison
    names = [card["run"] for card in before["cards"]]  # which every session counts anew
    cards = [{**card, "run": name} for card, name in zip(after["cards"], names, strict=True)]
    assert {**after, "run": before["run"], "cards": cards} == before
    assert after["request"] == {  # pyright: ignore[reportTypedDictNotRequiredAccess]
        "text": "The fox",
        "answer": answer,
        "history": False,
        "common": True,
        "seed": 3,
        "cards": WARM,
        "lengths": [12] * 4,
    }
    for kind in ("csv", "json"):
        assert comparing.file(again, kind) == comparing.file(session, kind)
    inspector = comparing.open_token(again, models, after["cards"][2]["run"], 4).inspector
    expected = comparing.open_token(session, models, before["cards"][2]["run"], 4).inspector
    assert inspector is not None and expected is not None
    assert inspector["steps"] == expected["steps"] and inspector["rows"]
    assert kept(again, models) == document
    comparing.remove(again, models, models.default, [after["cards"][0]["run"]])
    assert len(kept(again, models)["content"]["cards"]) == 3


def test_what_is_shared_of_a_comparison_are_its_runs_with_as_much_attention_as_there_is_room_for(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session.using(models.default)
    with pytest.raises(AttendError, match="press Compare first"):
        shared(session, models)
    run(session, models)
    assert session.comparison is not None
    documents = json.loads(shared(session, models)[1])
    assert [*documents] == [card.run.id for card in session.comparison.cards]
    sizes = [sum(map(len, document["attention"]["rows"])) for document in documents.values()]
    assert [document["ids"] for document in documents.values()] == [[*card.ids] for card in session.comparison.cards]
    monkeypatch.setattr("ui.compare.results.shared.MAX_ATTENTION", sum(sizes[:2]))
    documents = json.loads(shared(session, models)[1])
    assert ["attention" in document for document in documents.values()] == [True, True, False, False]


def test_what_a_card_switches_off_comes_back(models: Models) -> None:
    session, again = Session.using(models.default), Session.using(models.default)
    run(session, models, [{"temperature": 0.5}, {"without": "head 2.3,feed forward 1 x 40"}])
    document = kept(session, models)
    update = ask(again, models, document, 1)
    assert isinstance(update, CompareUpdate) and update.comparison is not None and again.comparison is not None
    request = update.comparison["request"]  # pyright: ignore[reportTypedDictNotRequiredAccess]
    assert request["cards"] == [{"temperature": 0.5}, {"without": "2.3, feed-forward 1 x 40"}]
    off = (Intervention(1, "head", 2), Intervention(0, "feed_forward", action="scale", factor=40))
    assert [card.run.interventions for card in again.comparison.cards] == [(), off]
    assert comparing.file(again, "csv") == comparing.file(session, "csv")
    assert kept(again, models) == document
    document["content"]["cards"][1]["form"]["without"] = "0.1"
    with pytest.raises(AttendError, match=r"'0\.1' names no part of a model"):
        opened(document, models)


def test_without_its_model_the_tokens_are_shown(models: Models, tiny: LoadedModel) -> None:
    session = Session.using(models.default)
    run(session, models)
    others = Models(("tiny-writer",), lambda name, _: models.get(name))
    again = opened(kept(session, models), others)
    assert not others.is_loaded(tiny.name)
    value = comparing.overview(again, others, "tiny-writer")
    assert value.inspector is not None and value.inspector["steps"] and value.inspector["rows"] == []
    assert comparing.file(again, "csv") == comparing.file(session, "csv")
    with pytest.raises(AttendError, match="isn't loaded"):
        comparing.file(again, "json")


def test_a_card_without_its_run_keeps_its_text_and_numbers(models: Models) -> None:
    session = Session.using(models.default)
    run(session, models)
    document = kept(session, models)
    again = opened({**document, "runs": {}}, models)
    before, after = full_value(session, models), full_value(again, models)
    assert [card["tokens"] for card in after["cards"]] == [card["tokens"] for card in before["cards"]]
    assert [card["metrics"] for card in after["cards"]] == [card["metrics"] for card in before["cards"]]
    assert comparing.overview(again, models, models.default).inspector is not None
    assert kept(again, models) == {**document, "runs": {}}  # it names what the browser still has
    with pytest.raises(AttendError, match="no longer stored"):
        comparing.open_token(again, models, after["cards"][0]["run"], 0)


def test_every_comparison_is_an_entry_and_the_others_stay_as_they_are(models: Models) -> None:
    session = Session.using(models.default)
    run(session, models)
    first = kept(session, models)
    list(chat.send(session, models, models.default, "Hi", DecodingSettings(strategy="greedy", max_new_tokens=4)))
    run(session, models)
    assert kept(session, models)["key"] != first["key"]
    turns = len(session.turns)
    ask(session, models, first, 1)
    assert kept(session, models) == first and len(session.turns) == turns
    assert all(session.runs[turn.run] for turn in session.turns if turn.run)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("text",), "x" * 20_001),
        (("ids",), [0] * (2**17 + 1)),
        (("context",), 0),
        (("common",), "yes"),
        (("seed",), -2),
        (("model",), None),
        (("messages",), [3]),
        (("messages",), [{"content": "Hi"}]),
        (("cards",), []),
        (("cards",), [{}] * 7),
        (("cards", 0), {}),
        (("cards", 0, "settings", "temperature"), "hot"),
        (("cards", 0, "form"), {"<b>": 1}),
        (("cards", 0, "length"), -1),
        (("cards", 0, "tokens"), [["a", 0.5]] * 5000),
        (("cards", 0, "tokens"), [["a", 2]]),
        (("cards", 0, "ids"), [0] * 5000),
        (("cards", 0, "finish_reason"), "magic"),
        (("cards", 0, "note"), "x" * 500),
        (("cards", 0, "metrics", "perplexity"), float("nan")),
        (("cards", 0, "metrics", "tokens"), "many"),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_is_no_comparison_is_refused(
    models: Models, two_cards: str, path: tuple[str | int, ...], value: object
) -> None:
    document = json.loads(two_cards)
    session = opened(document, models)
    before = session.comparison
    *outer, last_name = path
    holder = document["content"]
    for step in outer:
        holder = holder[step]
    holder[last_name] = value
    with pytest.raises(AttendError, match="can't be opened"):
        open_document(session, models, document, open_comparison)
    assert session.comparison is before
