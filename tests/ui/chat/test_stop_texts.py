"""Stop texts through every door: the chat on the page, `/chat`, `/generate` and the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import generate
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from ui.chat import chat_actions as chat
from ui.chat.chat_endpoint import chat_endpoint
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write.write_endpoint import generate_endpoint

BASE = {"seed": 4, "max_new_tokens": 30}


@pytest.fixture(scope="module")
def plain(tiny: LoadedModel) -> str:
    """What the tiny model answers to "Hi" when nothing stops it."""
    models = Models((tiny.name,), lambda name, _: tiny)
    *_, last = chat_endpoint(models)("Hi", [], tiny.name, BASE)
    return last["text"]


@pytest.fixture(scope="module")
def stopped(plain: str) -> tuple[list[str], str]:
    """Two stop texts, the second of which comes first and is begun once before; and what is left of the text."""
    stop_texts = ["never said", plain[12:16]]
    return stop_texts, plain[: plain.index(plain[12:16])]


def test_the_chat_on_the_page(models: Models, plain: str, stopped: tuple[list[str], str]) -> None:
    stop_texts, expected = stopped
    session = Session()
    settings = DecodingSettings.from_dict({**BASE, "stop_texts": stop_texts})
    texts = []
    for _ in chat.send(session, models, models.default, "Hi", settings):
        texts.append(session.turns[-1].text)
    answer = session.turns[-1]
    assert answer.text == expected and answer.note == f"stopped at “{stop_texts[1]}”"
    assert all(expected.startswith(text) for text in texts)
    assert answer.tokens is not None and "".join(each["text"] for each in answer.tokens) == expected
    run = session.run(answer.run)
    assert len(answer.tokens) == len(run.tokens) - run.first  # all of them can still be looked at
    assert run.trace is not None and run.trace.finish_reason == "stop_text"
    assert run.trace.request.decode(run.trace.ids).startswith(expected + stop_texts[1])
    assert plain.startswith(run.trace.request.decode(run.trace.ids).rstrip("\ufffd"))


def test_the_endpoints(models: Models, stopped: tuple[list[str], str]) -> None:
    stop_texts, expected = stopped
    items = list(chat_endpoint(models)("Hi", [], models.default, {**BASE, "stop_texts": stop_texts}))
    assert (items[-1]["text"], items[-1]["finish_reason"]) == (expected, "stop_text")
    assert (
        items[-1]["trace"]["text"] == expected
        and [token["id"] for item in items for token in item["tokens"]] == items[-1]["trace"]["ids"]
    )
    assert all(expected.startswith(item["text"]) for item in items)
    document = generate_endpoint(models)("The quick", models.default, {**BASE, "stop_texts": ["e"]})
    assert document["finish_reason"] == "stop_text" and "e" not in document["text"]


def test_the_terminal(
    tiny_checkpoint: Path,
    stopped: tuple[list[str], str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)
    stop_texts, expected = stopped
    flags = ["--seed", "4", "--max-new-tokens", "30", "--stop-texts", json.dumps(stop_texts)]
    assert generate.main(["Hi", "--chat", "--model", str(tiny_checkpoint), *flags]) == 0
    assert capsys.readouterr().out == expected + "\n"
