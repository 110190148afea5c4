"""The worker thread: steps arrive complete and in order, and leaving stops the work."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Generator

import pytest

from tests.helpers.waiting import LONGEST, eventually
from ui.runs import stream as streaming
from ui.runs.stream import Arrived, stream


class Work:
    """A generator that notes how far it got, and whether it was closed."""

    def __init__(self, count: int, seconds: float = 0.0) -> None:
        self.count, self.seconds = count, seconds
        self.produced = 0
        self.closed = threading.Event()

    def steps(self) -> Generator[int, None, None]:
        try:
            for number in range(self.count):
                time.sleep(self.seconds)
                self.produced += 1
                yield number
        finally:
            self.closed.set()


def run(work: Work, *, stop: threading.Event | None = None, time_limit: float = LONGEST, per_second: float = 1000.0):
    stop = stop or threading.Event()
    return stream(work.steps(), stop=stop, time_limit=time_limit, per_second=per_second)


def test_every_step_arrives_once_in_order_and_the_last_batch_says_finished() -> None:
    batches = list(run(Work(500)))
    assert [step for batch in batches for step in batch.steps] == list(range(500))
    assert [batch.ending for batch in batches] == [None] * (len(batches) - 1) + ["finished"]


def test_it_yields_before_any_work_is_done_and_gives_signs_of_life_while_a_step_takes_long() -> None:
    """The step waits for the signs of life, so the result does not depend on how busy the machine is."""
    go = threading.Event()

    def steps() -> Generator[str, None, None]:
        yield "waited in vain" if not go.wait(30.0) else "seen"

    batches = []
    for batch in stream(steps(), stop=threading.Event(), time_limit=60.0):
        batches.append(batch)
        if len(batches) == 4:
            go.set()
    assert batches[:4] == [Arrived()] * 4
    assert [step for batch in batches for step in batch.steps] == ["seen"]
    assert inspect.signature(stream).parameters["heartbeat"].default <= 0.25  # seconds, as a closed tab is noticed


def test_closing_it_stops_a_slow_model() -> None:
    work = Work(10_000, seconds=0.02)
    reader = run(work, time_limit=LONGEST)
    while work.produced < 3:
        next(reader)
    reader.close()  # type: ignore[attr-defined]
    assert work.closed.wait(LONGEST)
    assert work.produced < 10_000


def test_the_stop_event_ends_it_with_what_was_made_so_far() -> None:
    work, stop = Work(1000, seconds=0.02), threading.Event()
    seen: list[int] = []
    ending = None
    for batch in run(work, stop=stop):
        seen += batch.steps
        ending = batch.ending
        if len(seen) >= 3:
            stop.set()
    assert ending == "stopped"
    assert seen == list(range(len(seen)))
    assert work.closed.wait(LONGEST)


def test_a_step_that_never_ends_does_not_hold_up_stop() -> None:
    begun, ends, stop = threading.Event(), threading.Event(), threading.Event()

    def steps() -> Generator[int, None, None]:
        begun.set()
        ends.wait(LONGEST)
        yield 1

    batches = []
    for batch in stream(steps(), stop=stop, time_limit=LONGEST):
        batches.append(batch)
        if begun.is_set():
            stop.set()
    assert batches[-1].ending == "stopped" and not ends.is_set()
    ends.set()


def test_the_time_limit_ends_it() -> None:
    work = Work(10_000, seconds=0.02)
    assert [batch.ending for batch in run(work, time_limit=0.3)][-1] == "time"
    assert work.closed.wait(LONGEST)


def test_updates_are_capped_but_no_step_is_lost() -> None:
    started = time.monotonic()
    batches = list(run(Work(200, seconds=0.002), per_second=20.0))
    taken = time.monotonic() - started
    assert len(batches) <= 20.0 * taken + 2
    assert [step for batch in batches for step in batch.steps] == list(range(200))


def test_an_error_of_the_worker_reaches_the_reader_after_the_steps_before_it() -> None:
    def steps() -> Generator[int, None, None]:
        yield 1
        raise ArithmeticError("broken")

    seen: list[int] = []
    with pytest.raises(ArithmeticError, match="broken"):
        for batch in stream(steps(), stop=threading.Event(), time_limit=5.0):
            seen += batch.steps
    assert seen == [1]


def test_a_reader_that_sleeps_holds_the_worker_back() -> None:
    work, others = Work(10_000), set(streaming._open)
    reader = run(work)
    taken = len(next(reader).steps) + len(next(reader).steps)
    (worker,) = streaming._open - others
    assert isinstance(worker, streaming._Worker)
    eventually(worker._output.full)
    assert work.produced <= taken + streaming._CAPACITY + 1  # the last one waits for room in the queue
    reader.close()  # type: ignore[attr-defined]


def test_many_streams_share_the_updates() -> None:
    """Of forty, each has an update every 40 / 120 s instead of as often as it likes; those that end are not counted."""
    open_before = set(streaming._open)
    others = [run(Work(10**6, seconds=0.1)) for _ in range(39)]
    for other in others:
        next(other)
    started = time.monotonic()
    batches = [batch for batch in run(Work(100, seconds=0.01)) if batch.steps]
    taken = time.monotonic() - started
    for other in others:
        other.close()  # type: ignore[attr-defined]
    assert len(batches) <= taken * 120 / 40 + 2
    assert streaming._open == open_before
