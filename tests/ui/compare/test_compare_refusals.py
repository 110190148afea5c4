"""What Compare refuses leaves the comparison before in view."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.ui.compare.test_compare import ARGUMENTS, WARM, full_value, run
from ui.chat import chat_actions as chat
from ui.compare import compare_actions as comparing
from ui.runs.models import Models
from ui.runs.session import Session


@pytest.fixture(scope="module")
def session(tiny: LoadedModel) -> Session:
    """With a comparison, which no refusal changes."""
    session = Session()
    run(session, Models((tiny.name,), lambda *_: tiny))
    return session


@pytest.mark.parametrize(
    ("cards", "text", "changes", "sentence"),
    [
        (WARM[:1], "The", {}, "There is 1 card, but a comparison needs 2 to 6: add some"),
        ([WARM[0]] * 7, "The", {}, "There are 7 cards, but a comparison needs 2 to 6: remove some"),
        ("cards", "The", {}, "must be a list"),
        ([WARM[0], {"temperature": 5}], "The", {}, "Card 2: temperature is 5"),
        ([WARM[0], {"temperature": None}], "The", {}, "temperature is empty"),
        ([WARM[0], {"<b>": 1}], "The", {}, "There is no setting '<b>'"),
        ([WARM[0], ["greedy"]], "The", {}, "Card 2: The settings are"),
        (WARM, "  ", {}, "prompt is empty"),
        (WARM, "  ", {"answer": True}, "message is empty"),
        (WARM, "fox " * 200, {}, "but the model reads at most 128: shorten it"),
        (WARM, "The", {"answer": "yes"}, "answer is 'yes'"),
        (WARM, "The", {"common": 1}, "common_draws is 1"),
        (WARM, "Hi", {"answer": True, "name": "tiny-writer"}, "let it continue the text instead"),
        ([WARM[0], {"logit_bias": {"99999": 1}}], "The", {}, "Card 2: "),
        ([WARM[0], {"logit_bias": {"99999": 1}}], "The", {}, "99999"),
        (WARM, "The", {"history": 1}, "history is 1"),
        ([WARM[0], {"without": "6.0"}], "The", {}, "Card 2: '6.0' names no part of a model"),
        ([WARM[0], {"without": "1.9"}], "The", {}, "Card 2: There is no head 9 (8, counted from 0): each layer has 4"),
        ([WARM[0], {"without": [1]}], "The", {}, "Card 2: without is [1], but must be a text"),
    ],
)
def test_a_refusal_is_one_sentence_and_the_last_comparison_stays(
    models: Models, session: Session, cards: object, text: str, changes: dict[str, Any], sentence: str
) -> None:
    before = full_value(session, models)
    with pytest.raises(AttendError) as refused:
        run(session, models, cards, text, **changes)
    assert sentence in str(refused.value) and "\n" not in str(refused.value)
    assert full_value(session, models) == before and not session.busy


def test_nothing_else_runs_beside_it(tiny: LoadedModel) -> None:
    go, session = threading.Event(), Session()

    def held_back(decode: Any) -> Any:
        def decoding(*arguments: Any) -> Iterator[Any]:
            for step in decode(*arguments):
                yield step
                go.wait()

        return decoding

    models = Models((tiny.name,), lambda *_: tiny, wrap=held_back)
    updates = comparing.compare(session, models, models.default, "The", WARM, **ARGUMENTS)
    assert any(update.inspector for update in updates)  # up to the first token
    with pytest.raises(AttendError, match="still writing"):
        next(chat.send(session, models, models.default, "Hi", DecodingSettings()))
    with pytest.raises(AttendError, match="still writing"):
        comparing.remove(session, models, models.default, list(session.growing))
    go.set()
    list(updates)


@pytest.mark.parametrize(
    ("identifier", "index"), [("compare-1-9", 0), ("", 0), ("compare-1-1", 500), ("compare-1-1", -1)]
)
def test_a_token_that_is_not_there_is_refused(models: Models, session: Session, identifier: str, index: int) -> None:
    with pytest.raises(AttendError, match="no longer stored"):
        comparing.open_token(session, models, identifier, index)
