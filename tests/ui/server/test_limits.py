"""The limits of a page: where they come from, and that one caller can't use up what is there for all."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Generator, Iterator
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import gradio as gr
import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from decoding.stop import TOKEN_LIMIT
from model.errors import AttendError
from model.loaded import SCORED_AT_ONCE, LoadedModel
from tests.helpers.paths import ROOT
from tests.helpers.served import models_of, served
from tests.helpers.waiting import LONGEST, Gate, eventually
from ui.inspector.why import question
from ui.kit.validation import MAX_CHARACTERS
from ui.limits import Limits, variable
from ui.page.layout import build
from ui.runs import stream as streaming
from ui.runs.documents import kept_document
from ui.runs.models import Models
from ui.runs.prompts import MAX_MESSAGES
from ui.runs.versions import conversation
from ui.server.callers import ConcurrencyLimiter, ReadTimeout
from ui.server.openai.body import MAX_CHOICES, MAX_PROMPTS
from ui.write.score import MAX_TEXTS
from ui.write.scores import answers

LONG = {"max_new_tokens": 100, "min_new_tokens": 100, "seed": 1}  # which is all of the context


def test_a_public_page_allows_less() -> None:
    private, public = (Limits.of(public=public, environment={}) for public in (False, True))
    assert private == Limits()
    assert all(getattr(public, limit.name) <= getattr(private, limit.name) for limit in fields(Limits))
    assert public.run_seconds < private.run_seconds and public.calls < private.calls


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


def test_all_are_explained_and_no_others() -> None:
    """Those of the environment, and those that documents of visitors' browsers are held to."""
    rows = re.findall(r"^\| .* \|$", (ROOT / "docs" / "limits.md").read_text(), flags=re.MULTILINE)
    assert [row for row in rows if "`" in row and "--public" not in row] == [
        f"| `{variable(limit.name)}` | {limit.default:g} | {limit.metadata['public']:g} | {limit.metadata['help']} |"
        for limit in fields(Limits)
    ]
    fixed = (
        *(MAX_CHARACTERS, conversation.MAX_TURNS, conversation.MAX_VERSIONS, conversation.MAX_MESSAGES),
        *(TOKEN_LIMIT, question.LONGEST, answers.MAX_TOKENS),
        *(SCORED_AT_ONCE, MAX_PROMPTS, MAX_CHOICES, MAX_TEXTS, kept_document.MAX_BYTES),
    )
    written = [f"{value // 10**6} MB" if value >= 10**6 else f"{value:,}" for value in fixed]
    assert [row.split(" | ")[0] for row in rows if re.match(r"\| [\d,]+ ", row)] == [f"| {value}" for value in written]
    assert conversation.MAX_TURNS == MAX_MESSAGES  # of a history that a program sends


def test_the_limits_reach_what_they_limit(tiny: LoadedModel) -> None:
    limits = Limits(runs=3, program_runs=2, rows=5, undo=7, session_mb=2.5, prefixes_mb=1.5)
    models = Models((tiny.name,), lambda name, _: tiny, limits=limits)
    page = build(models)
    groups = {(fn.concurrency_id, fn.concurrency_limit) for fn in page.fns.values()}
    assert {("runs", 3), ("programs", 2)} <= groups and not {("runs", None), ("programs", None)} & groups
    (session,) = (block.value for block in page.blocks.values() if isinstance(block, gr.State))
    assert session.limits == limits
    assert models.schedulers.of(tiny.lock)._max_rows == 5
    assert limits.threads == 3 + 2 + 96  # a thread is left for whoever presses Stop
    assert (limits.session_bytes, limits.prefix_bytes, limits.request_bytes) == (2_500_000, 1_500_000, 1_000_000)


def test_a_caller_may_have_so_many_calls_running_and_no_more() -> None:
    limiter = ConcurrencyLimiter(2)
    with (
        limiter.acquire("a"),
        limiter.acquire("a"),
        limiter.acquire("b"),
        pytest.raises(AttendError, match="2 calls from your address"),
        limiter.acquire("a"),
    ):
        pass
    with limiter.acquire("a"), limiter.acquire("a"):
        pass


def test_an_answer_that_is_read_slowly_goes_on_and_one_that_nobody_reads_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("ui.server.callers.time", SimpleNamespace(monotonic=lambda: now[0]))
    slow = ReadTimeout(5)
    for number in range(100):  # a message a second, of which the slow reader takes one in three seconds
        now[0] += 1
        slow.sent(unread=number - number // 3)
    for _ in range(3):  # a slow model: each message is read before the next one comes, long after
        now[0] += 60
        slow.sent(unread=1)
    abandoned = ReadTimeout(5)
    for number in range(6):  # the first may still be read when the second comes
        now[0] += 1
        abandoned.sent(unread=number + 1)
    now[0] += 1
    with pytest.raises(AttendError, match="nobody read it for 5 seconds"):
        abandoned.sent(unread=7)


@pytest.fixture
def page(tiny: LoadedModel) -> Iterator[str]:
    """A page on which an address may have two calls, and one that nobody reads ends after four seconds."""
    limits = Limits(calls=2, unread_seconds=4)
    with served(build(models_of(tiny, limits=limits, wrap=Gate(free=3))), limits=limits) as url:
        yield url


def call(url: str, model: str, settings: dict[str, Any]) -> str:
    """Begin an answer that nobody reads; its name."""
    data = {"data": ["Hi", [], model, settings, ""]}
    return httpx.post(f"{url}/gradio_api/call/chat", json=data).json()["event_id"]


@pytest.mark.usefixtures("counted_seeds")
def test_calls_whose_streams_nobody_reads_lock_nobody_out(page: str, tiny: LoadedModel) -> None:
    """Thirty of them at once, which never end by themselves; afterwards and meanwhile, others get their answers."""
    before = threading.active_count()
    for _ in range(30):
        call(page, tiny.name, LONG)
    refused = httpx.get(f"{page}/gradio_api/call/chat/{call(page, tiny.name, LONG)}", timeout=30).text
    assert "2 calls from your address are still running" in json.dumps(refused)
    client = Client(page, verbose=False)

    def answers() -> bool:
        try:
            return bool(client.predict("Hi", [], tiny.name, {"max_new_tokens": 3}, "", api_name="/chat"))
        except AppError:
            return False

    eventually(answers)
    eventually(lambda: threading.active_count() <= before + 60)


def test_once_it_is_to_stop_nothing_new_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_closing", threading.Event())
    monkeypatch.setattr(streaming, "_open", set())  # whatever another test has left open is not waited for
    go = threading.Event()

    def steps() -> Generator[int, None, None]:
        yield int(go.wait(LONGEST))

    running = streaming.stream(steps(), stop=threading.Event(), time_limit=LONGEST)
    next(running)
    finishing = threading.Thread(target=streaming.finish_all, args=(LONGEST,))
    finishing.start()
    eventually(streaming._closing.is_set)
    with pytest.raises(AttendError, match="about to restart"):
        next(streaming.stream(steps(), stop=threading.Event(), time_limit=LONGEST))
    assert finishing.is_alive()
    go.set()
    assert [step for batch in running for step in batch.steps] == [1]
    finishing.join(LONGEST)
    assert not finishing.is_alive()
