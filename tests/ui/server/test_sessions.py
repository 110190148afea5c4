"""Made-up visits evict no others, and more events than a person can send are refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from fastapi import HTTPException, Request
from gradio.context import Context
from gradio.data_classes import PredictBodyInternal
from gradio.queueing import Event
from gradio_client import Client

from model.loaded import LoadedModel
from tests.helpers.served import models_of, served
from tests.helpers.waiting import eventually
from ui.limits import Limits
from ui.page.layout import build
from ui.runs.session import Session
from ui.server import sessions
from ui.server.callers import ADDRESS
from ui.server.queue import PROGRAMS, FairQueue
from ui.server.refusals import Page
from ui.server.sessions import Visit, Visits


class Stage:
    """The visits of a page that allows three from one address and five in all."""

    def __init__(self, page: Page) -> None:
        self.busy: set[str] = set()
        self.dropped: list[str] = []
        self.closed: list[Session] = []
        limits = Limits(visits=3, sessions=5)
        self.visits = Visits(page, limits, lambda: self.busy, self.dropped.append, self.closed.append)

    def use(self, visit: str, address: str, *, connect: bool = False, size: int = 0) -> None:
        ADDRESS.set(address)
        kept = self.visits[visit]
        assert isinstance(kept, Visit)
        kept.state_data[1] = Session(bytes=size)
        if connect:
            self.visits.connected(visit)

    @property
    def names(self) -> list[str]:
        return list(self.visits.session_data)


@pytest.fixture
def stage() -> Iterator[Stage]:
    with Page() as page:
        pass
    assert Context.root_block is None
    yield Stage(page)
    ADDRESS.set("")


def test_one_visit_too_many_evicts_the_oldest_of_the_same_address(stage: Stage) -> None:
    stage.use("other", "b")
    for number in range(20):
        stage.use(f"invented {number}", "a")
    assert stage.names == ["other", "invented 17", "invented 18", "invented 19"]
    assert stage.dropped == [f"invented {number}" for number in range(17)]


def test_a_visit_in_use_is_never_dropped(stage: Stage) -> None:
    stage.use("open", "a", connect=True)
    stage.use("busy", "a")
    stage.busy.add("busy")
    for number in range(10):
        stage.use(f"invented {number}", "a")
    assert stage.names == ["open", "busy", "invented 9"]
    stage.visits.connected("invented 9")
    with pytest.raises(HTTPException, match="3 visits from your address are open, which is the limit"):
        stage.use("one too many", "a")
    stage.use("from elsewhere", "b")
    assert stage.names == ["open", "busy", "invented 9", "from elsewhere"]
    stage.visits.disconnected("open")
    stage.use("the next", "a")
    assert stage.names == ["busy", "invented 9", "from elsewhere", "the next"]


def test_many_addresses_together_evict_no_open_page(stage: Stage) -> None:
    for number in range(5):
        stage.use(f"open {number}", str(number), connect=True)
    with pytest.raises(HTTPException, match="5 visits are open, which is the limit"):
        stage.use("one too many", "x")
    assert stage.names == [f"open {number}" for number in range(5)]


def test_closed_pages_are_kept_up_to_a_total_size(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_MAX_CLOSED_BYTES", 100)
    for name in ("first", "second", "third"):
        stage.use(name, name, connect=True, size=60)
    stage.visits.disconnected("second")
    assert stage.names == ["first", "second", "third"] and len(stage.closed) == 1
    stage.visits.connected("second")  # back, as after a bad connection
    stage.visits.disconnected("first")
    stage.visits.disconnected("third")
    assert stage.names == ["second", "third"]


def test_pages_closed_long_ago_are_dropped(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.use("away", "a", connect=True)
    stage.use("there", "a", connect=True)
    stage.visits.disconnected("away")
    stage.visits.delete_all_expired_state()
    assert stage.names == ["away", "there"]
    monkeypatch.setattr(sessions, "_RETENTION", 0.0)
    stage.visits.delete_all_expired_state()
    assert stage.names == ["there"]


LIMITS = Limits(visits=4, events=3, waiting=6, calls=2)


@pytest.fixture(scope="module")
def page(tiny: LoadedModel) -> Iterator[tuple[str, Page]]:
    """A real page with small limits."""
    blocks = build(models_of(tiny, limits=LIMITS))
    with served(blocks, limits=LIMITS) as url:
        yield url, blocks


def event(page: Page, name: str) -> int:
    """The number of one of the page's own events."""
    return next(number for number, fn in page.fns.items() if fn.fn is not None and fn.fn.__name__ == name)


@pytest.mark.usefixtures("counted_seeds")
def test_a_hundred_made_up_visits_do_not_evict_a_real_one(page: tuple[str, Page]) -> None:
    url, blocks = page
    visitor = Client(url, verbose=False)
    queue = blocks._queue
    assert isinstance(queue, FairQueue)
    eventually(lambda: bool(queue.visits._connections[visitor.session_hash]))
    visitor.predict("Hi", api_name="/chat")
    kept = queue.visits[visitor.session_hash]
    typed = {"fn_index": event(blocks, "on_trees"), "event_data": None, "trigger_id": None}
    with httpx.Client() as client:
        for number in range(105):
            body = {"data": [], "session_hash": f"invented{number}", **typed}
            client.post(f"{url}/gradio_api/queue/join", json=body)
    assert queue.visits.session_data[visitor.session_hash] is kept
    assert len(queue.visits.session_data) <= 4
    assert visitor.predict("Hi", api_name="/chat")
    visitor.close()


def request_and_event(
    queue: FairQueue, number: int, address: str, visit: str = "a"
) -> tuple[PredictBodyInternal, Event]:
    """A request, and the event that it becomes."""
    body = PredictBodyInternal(data=[], fn_index=number, session_hash=visit)
    scope = {"type": "http", "method": "POST", "path": "/", "headers": [], "client": (address, 1), "query_string": b""}
    return body, Event(visit, queue.blocks.fns[number], Request(scope), None)


@contextmanager
def waiting_events(queue: FairQueue, group: str) -> Iterator[list[Event]]:
    """The waiting events of this group, of which none is answered meanwhile; in the end there are none."""
    waiting = queue.event_queue_per_concurrency_id[group]
    limit, waiting.concurrency_limit = waiting.concurrency_limit, 0
    try:
        yield waiting.queue
    finally:
        waiting.queue.clear()
        waiting.concurrency_limit = limit


def test_waiting_program_calls_do_not_block_pages(page: tuple[str, Page]) -> None:
    queue = page[1]._queue
    assert isinstance(queue, FairQueue)
    chat, click = event(page[1], "chat"), event(page[1], "on_trees")
    for number in (chat, click):
        queue.create_event_queue_for_fn(queue.blocks.fns[number])
    with waiting_events(queue, PROGRAMS) as programs:
        programs += [request_and_event(queue, chat, f"address {number}")[1] for number in range(LIMITS.waiting)]
        assert queue._refusal(request_and_event(queue, click, "visitor")[0], "visitor") == ""
        assert "of all visitors are waiting" in queue._refusal(request_and_event(queue, chat, "visitor")[0], "visitor")
        del programs[LIMITS.calls :]
        for waiting in programs:
            waiting.request.scope["client"] = ("greedy", 1)
        assert "from your address are waiting" in queue._refusal(request_and_event(queue, chat, "greedy")[0], "greedy")
        assert queue._refusal(request_and_event(queue, chat, "visitor")[0], "visitor") == ""


def test_more_clicks_than_a_person_can_make_are_refused(page: tuple[str, Page]) -> None:
    queue = page[1]._queue
    assert isinstance(queue, FairQueue)
    click = event(page[1], "on_trees")
    queue.create_event_queue_for_fn(queue.blocks.fns[click])
    with waiting_events(queue, queue.blocks.fns[click].concurrency_id) as clicks:
        clicks += [request_and_event(queue, click, "greedy", f"visit {number}")[1] for number in range(LIMITS.events)]
        refusal = queue._refusal(request_and_event(queue, click, "greedy", "another")[0], "greedy")
        assert "still being answered" in refusal
        assert queue._refusal(request_and_event(queue, click, "visitor", "another")[0], "visitor") == ""


@pytest.mark.usefixtures("counted_seeds")
def test_calls_without_a_session_leave_none(page: tuple[str, Page], tiny: LoadedModel) -> None:
    url, blocks = page
    queue = blocks._queue
    assert isinstance(queue, FairQueue)
    before = set(queue.visits.session_data)
    data: dict[str, Any] = {"data": ["Hi", tiny.name, {"max_new_tokens": 2}]}
    for _ in range(6):
        identifier = httpx.post(f"{url}/gradio_api/call/generate", json=data).json()["event_id"]
        assert "complete" in httpx.get(f"{url}/gradio_api/call/generate/{identifier}", timeout=60).text
    eventually(lambda: set(queue.visits.session_data) <= before)


def test_stop_needs_no_thread(page: tuple[str, Page], monkeypatch: pytest.MonkeyPatch) -> None:
    url, blocks = page
    assert blocks.limiter is not None
    number = event(blocks, "halt")
    body = {"data": [None], "fn_index": number, "session_hash": "a", "event_data": None, "trigger_id": None}
    monkeypatch.setattr(blocks.limiter, "total_tokens", 0)  # as if every thread waited for the model
    answer = httpx.post(f"{url}/gradio_api/run/predict", json=body, timeout=20)
    assert answer.status_code == 200
