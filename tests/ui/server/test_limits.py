"""The limits of a page: where they come from, and that one caller can't use up what is there for all."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from model.errors import AttendError
from model.loaded import LoadedModel
from tests.conftest import unused_port
from tests.helpers.paths import ROOT
from tests.helpers.waiting import eventually, paused
from ui.page import build
from ui.runs.models import Models
from ui.server import launch as serve
from ui.server.callers import Places, Unread
from ui.server.limits import Limits, variable

LONG = {"max_new_tokens": 100, "min_new_tokens": 100, "seed": 1}


def test_a_public_page_allows_less() -> None:
    private, public = (Limits.of(public=public, environment={}) for public in (False, True))
    assert private == Limits()
    assert all(getattr(public, limit.name) < getattr(private, limit.name) for limit in fields(Limits))


def test_the_environment_changes_them() -> None:
    limits = Limits.of(
        public=True, environment={"ATTEND_RUN_SECONDS": "7.5", "ATTEND_CALLS": " 3 ", "ATTEND_WAITING": ""}
    )
    assert (limits.run_seconds, limits.calls, limits.waiting) == (
        7.5,
        3,
        Limits.of(public=True, environment={}).waiting,
    )


@pytest.mark.parametrize("value", ["many", "0", "-1", "nan", "inf", "2.5", "1e99", "9" * 50])
def test_a_value_that_is_none_is_refused_with_its_name(value: str) -> None:
    with pytest.raises(AttendError, match=r"ATTEND_CALLS is '.{1,40}', but must be a whole number from 1 to 1,000,000"):
        Limits.of(public=False, environment={"ATTEND_CALLS": value})


def test_all_are_explained() -> None:
    page = (ROOT / "docs" / "limits.md").read_text()
    for limit in fields(Limits):
        private, public = (f"{value:g}" for value in (limit.default, limit.metadata["public"]))
        assert f"| `{variable(limit.name)}` | {private} | {public} | {limit.metadata['help']} |" in page


def test_a_caller_has_so_many_places_and_no_more() -> None:
    places = Places(2)
    with (
        places.taken_by("a"),
        places.taken_by("a"),
        places.taken_by("b"),
        pytest.raises(AttendError, match="2 calls from your address"),
        places.taken_by("a"),
    ):
        pass
    with places.taken_by("a"), places.taken_by("a"):
        pass


def test_an_answer_that_is_read_slowly_goes_on_and_one_that_nobody_reads_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("ui.server.callers.time.monotonic", lambda: now[0])
    slow, abandoned = Unread(5), Unread(5)
    for number in range(100):  # a message a second, of which the slow reader takes one in three seconds
        now[0] += 1
        slow.sent(waiting=number - number // 3)
    now[0] = 0
    abandoned = Unread(5)
    for number in range(5):
        now[0] += 1
        abandoned.sent(waiting=number + 1)
    now[0] += 1
    with pytest.raises(AttendError, match="Nobody has read this answer for 5 seconds"):
        abandoned.sent(waiting=6)


@pytest.fixture
def page(tiny: LoadedModel) -> Iterator[tuple[str, Models]]:
    """A page on which an address may have two calls, and one that nobody reads ends after a second."""
    models, port = Models((tiny.name,), lambda name, _: tiny, wrap=paused(0.05)), unused_port()
    blocks = build(models, limits=Limits(calls=2, unread_seconds=1))
    serve.launch(blocks, host="127.0.0.1", port=port, block=False)
    yield f"http://127.0.0.1:{port}", models
    blocks.close()


def call(url: str, model: str, settings: dict[str, Any]) -> str:
    """Begin an answer that nobody reads; its name."""
    data = {"data": ["Hi", [], model, settings, ""]}
    return httpx.post(f"{url}/gradio_api/call/chat", json=data).json()["event_id"]


def test_calls_whose_streams_nobody_reads_lock_nobody_out(page: tuple[str, Models], tiny: LoadedModel) -> None:
    """Thirty of them at once; afterwards and meanwhile, others get their answers."""
    url, _ = page
    before = threading.active_count()
    for _ in range(30):
        call(url, tiny.name, LONG)
    refused = httpx.get(f"{url}/gradio_api/call/chat/{call(url, tiny.name, LONG)}", timeout=30).text
    assert "2 calls from your address are still running" in json.dumps(refused)
    client = Client(url, verbose=False)

    def answers() -> bool:
        try:
            return bool(client.predict("Hi", [], tiny.name, {"max_new_tokens": 3}, "", api_name="/chat"))
        except AppError:
            return False

    eventually(answers)  # 100 tokens at 0.05 s would take 5 s; a second after the last message was read they end
    eventually(lambda: threading.active_count() <= before + 60)
