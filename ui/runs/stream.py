"""The worker thread: it runs decoding and passes Steps through a bounded queue.

A generator can be closed only where it yields. So the page reads `stream`, which yields once at the start, then with
every batch of new Steps and at least every quarter of a second. Batches come at most `per_second` times a second, since
the browser is the slow part, and less often while many streams are read, since each costs the server milliseconds.
Closing it sets the stop event, and the worker ends before its next step. Knows nothing of gradio, of what a Step means
or of who is asking.
"""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from model.errors import AttendError

T = TypeVar("T")
Ending = Literal["finished", "stopped", "time", "failed"]

_CAPACITY = 64  # steps the worker may be ahead of the reader; then it waits
_UPDATES = 120.0  # a second, of all streams together
_LONGEST_WAIT = 0.4  # seconds between two updates, however many streams there are


@dataclass(frozen=True, slots=True)
class Arrived(Generic[T]):
    """What happened since the last one: nothing (a heartbeat), some steps, or the end."""

    steps: tuple[T, ...] = ()
    ending: Ending | None = None  # set in the last one


def stream(
    steps: Generator[T | None, None, None],
    *,
    stop: threading.Event,
    time_limit: float,
    heartbeat: float = 0.25,
    per_second: float = 20.0,
) -> Generator[Arrived[T], None, None]:
    """Run `steps` in a worker and yield its output until it ends, `stop` is set or the time is up.

    Args:
        steps: from here on used, and in the end closed, by the worker alone; None stands for nothing yet.
        stop: set it from anywhere to end the run; it is always set when this generator has ended.
        time_limit: seconds from now.
        heartbeat: seconds without output after which an empty update is yielded.
        per_second: the most updates per second; fewer while many streams are open.

    Raises:
        AttendError: once `finish_all` was called.
        Whatever the worker raised, once the steps before it have been yielded.
    """
    if _closing.is_set():
        raise AttendError("The page is about to restart: try again in a minute.")
    worker = _Worker(steps, stop)
    deadline = time.monotonic() + time_limit
    _open.add(worker)
    try:
        worker.start()
        yield Arrived()
        ending: Ending | None = None
        while ending is None:
            arrived = worker.take(heartbeat)
            if worker.ended and worker.error is None:
                ending = "stopped" if stop.is_set() else "finished"
            elif stop.is_set():
                ending = "stopped"  # nobody needs the step that is still being computed
            elif time.monotonic() > deadline:
                ending = "time"
            yielded = time.monotonic()
            yield Arrived(arrived, ending)
            if worker.ended and worker.error is not None:
                raise worker.error
            if ending is None:
                pause = max(1.0 / per_second, min(len(_open) / _UPDATES, _LONGEST_WAIT))
                stop.wait(max(0.0, yielded + pause - time.monotonic()))
    finally:
        _open.discard(worker)
        stop.set()


_open: set[object] = set()  # the workers of all streams
_closing = threading.Event()


def is_closing() -> bool:
    """Whether `finish_all` was called."""
    return _closing.is_set()


def finish_all(seconds: float) -> None:
    """Begin no more streams, and wait until the open ones have ended, at most this long."""
    _closing.set()
    deadline = time.monotonic() + seconds
    while _open and time.monotonic() < deadline:
        time.sleep(0.05)


class _Worker(Generic[T]):
    """A thread that advances a generator and puts what it yields into a bounded queue."""

    def __init__(self, steps: Generator[T | None, None, None], stop: threading.Event) -> None:
        self._steps = steps
        self._stop = stop
        self._output: queue.Queue[T] = queue.Queue(_CAPACITY)
        self._done = threading.Event()
        self.error: BaseException | None = None

    @property
    def ended(self) -> bool:
        """Whether the worker has finished and all its output was taken."""
        return self._done.is_set() and self._output.empty()

    def start(self) -> None:
        """Start with the caller's context variables, where hosts such as ZeroGPU keep the request."""
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._work,), name="attend-decoding", daemon=True).start()

    def take(self, patience: float) -> tuple[T, ...]:
        """All output that is ready; waits up to `patience` seconds for some, unless the worker has ended."""
        until = time.monotonic() + patience
        steps: list[T] = []
        while not steps and not self.ended and not self._stop.is_set() and time.monotonic() < until:
            try:
                steps.append(self._output.get(timeout=0.02))
            except queue.Empty:
                continue
        while True:
            try:
                steps.append(self._output.get_nowait())
            except queue.Empty:
                return tuple(steps)

    def _work(self) -> None:
        try:
            for step in self._steps:
                if self._stop.is_set():
                    return
                if step is not None:
                    self._put(step)
        except BaseException as error:  # raised again in the reader's thread
            self.error = error
        finally:
            self._steps.close()
            self._done.set()

    def _put(self, step: T) -> None:
        while not self._stop.is_set():
            try:
                return self._output.put(step, timeout=0.05)
            except queue.Full:
                continue  # wait for a slow reader, not for one that has left
