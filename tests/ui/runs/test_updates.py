"""Updates of a growing answer: they hold only what is new, and some of them are lost."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from ui.chat import chat_actions as chat
from ui.chat.conversation_value import conversation_value
from ui.kit.packing import packed
from ui.runs.models import Models
from ui.runs.session import Session
from ui.translate import translate_actions as translate

Value = dict[str, Any]


@dataclass(frozen=True)
class Sent:
    """One value, and the complete value at that time."""

    value: Value
    full: Value


def received(current: Value | None, value: Value) -> Value | None:
    """The twin of ui/runs/turns.js for values that come in their order; None where what leads there is missing."""
    if "turns" in value:
        return value
    answer = next((turn for turn in current["turns"] if turn["run"] == value["run"]), None) if current else None
    if current is None or answer is None or answer["version"] < value["base"]:
        return None
    tokens = answer["tokens"][: value["since"]] + value["tokens"]
    text = "".join(each["text"] for each in tokens)
    fields = {name: value[name] for name in ("state", "note", "unfinished", "version")}
    new = {**answer, **fields, "tokens": tokens, "text": text}
    turns = [new if turn is answer else turn for turn in current["turns"]]
    return {**current, "turns": turns, "busy": value["busy"]}


def record(updates: Iterator[Any], full: Callable[[], Any]) -> list[Sent]:
    sent = []
    for update in updates:
        value = getattr(update, "conversation", None) or getattr(update, "translation", None) or update.answer
        sent.append(Sent(json.loads(packed(value)), json.loads(packed(full()))))
    return sent


SETTINGS = {
    "sample": DecodingSettings(seed=3, max_new_tokens=60),
    "held back for a stop text": DecodingSettings(seed=3, max_new_tokens=60, stop_texts=("fox", "the dog and the owl")),
    "beams": DecodingSettings(strategy="beam", num_beams=4, max_new_tokens=40),
    "diverse beams": DecodingSettings(
        strategy="beam", num_beams=4, num_beam_groups=2, diversity_penalty=1.0, max_new_tokens=40
    ),
}


@pytest.fixture(params=SETTINGS)
def chatted(request: pytest.FixtureRequest, models: Models) -> list[Sent]:
    """The second answer of a conversation."""
    session, name = Session(), models.default
    list(chat.send(session, models, name, "Hi", DecodingSettings(strategy="greedy", max_new_tokens=12)))
    updates = chat.send(session, models, name, "Hello <script>", SETTINGS[request.param])
    return record(updates, lambda: conversation_value(session))


def translated(loaded: LoadedModel) -> list[Sent]:
    session, models = Session(), Models((loaded.name,), lambda *_: loaded)
    settings = DecodingSettings(strategy="beam", num_beams=4, max_new_tokens=40)
    updates = translate.translate(session, models, loaded.name, "Le chat est grand.", settings)
    return record(updates, lambda: translate.translation_value(session, loaded))


def check_every_loss(sent: list[Sent]) -> None:
    """Whatever is lost, the page shows what was true at some time, and in the end the whole.

    The newest value always arrives. What the page asks for was made at some time after it was missed.
    """
    assert all("turns" not in update.value for update in sent[1:]) and len(sent) > 3
    for seed in range(0, 200, 4):
        chance = random.Random(seed)
        current: Value | None = None
        requested_at: int | None = None  # when
        for number, update in enumerate(sent):
            if requested_at is not None and chance.random() < 0.3:
                current, requested_at = sent[chance.randint(requested_at, number - 1)].full, None
            if chance.random() < seed / 200 and update is not sent[-1]:
                continue
            after = received(current, update.value)
            if after is None:
                requested_at = number
            else:
                current = after
                assert current == update.full
        if requested_at is not None:
            current = sent[-1].full
        assert current == sent[-1].full


def test_a_conversation_of_updates_is_the_whole(chatted: list[Sent]) -> None:
    check_every_loss(chatted)


def test_a_translation_of_updates_is_the_whole(tiny_translator: LoadedModel) -> None:
    check_every_loss(translated(tiny_translator))


def test_an_update_has_the_new_tokens_alone(models: Models) -> None:
    """Those of the last two updates, so that either may be lost; of the conversation nothing else."""
    session = Session()
    updates = chat.send(session, models, models.default, "Hi", DecodingSettings(seed=3, max_new_tokens=60))
    sent = record(updates, lambda: conversation_value(session))
    counts = [len(update.full["turns"][-1]["tokens"]) for update in sent]
    assert counts[-1] > 20
    for number, update in enumerate(sent[1:], start=1):
        base = max(0, number - 2)
        assert (update.value["version"], update.value["base"]) == (number, base)
        assert update.value["since"] >= counts[base] - 3  # which were the first bytes of a character of up to four


def test_an_answer_that_is_read_while_it_grows_is_never_newer_than_it_says(models: Models) -> None:
    """A complete value made during an update is followed by that update, and is correct after it."""
    session = Session()
    updates = chat.send(session, models, models.default, "Hi", DecodingSettings(seed=3, max_new_tokens=30))
    sent = record(updates, lambda: conversation_value(session))
    for before, after in pairwise(sent):
        torn = json.loads(json.dumps(after.full))
        torn["turns"][-1]["version"] = before.full["turns"][-1]["version"]  # its tokens are there, its version is not
        assert received(torn, after.value) == after.full


def test_a_page_that_missed_the_beginning_is_sent_the_whole(models: Models) -> None:
    session = Session()
    *_, last = chat.send(session, models, models.default, "Hi", DecodingSettings(seed=3, max_new_tokens=30))
    assert last.answer is not None
    assert received(None, json.loads(packed(last.answer))) is None
    assert chat.resend(session).conversation == conversation_value(session)
