"""The one loop that runs a model, for visitors and, without a screen, for programs.

Every text has a `LiveRun`; several texts grow side by side with the same passes. Knows nothing of gradio or of how
texts are shown.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, TypeVar

from decoding.call import Passes
from decoding.run.trace import Trace
from ui.runs.live_run import LiveRun
from ui.runs.memory import limit_memory
from ui.runs.models import Models
from ui.runs.prompts import drawn_seed
from ui.runs.session import Session
from ui.runs.stream import Ending, stream

_SMOOTH, _CALM = 15.0, 10.0  # updates per second of one text, and of several, which cost the browser more
CALLER = ContextVar("caller", default="")  # the caller of an endpoint, for a fair share of the passes
LEFT = ContextVar[threading.Event | None]("left", default=None)  # set once the caller has left, where that is noticed


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What happened since the last update."""

    since: tuple[int, ...]  # each run's first new token; its number of tokens if none is new
    ending: Ending | None = None

    @property
    def ended(self) -> bool:
        return self.ending is not None


UpdateT = TypeVar("UpdateT", covariant=True)


class RunView(Protocol[UpdateT]):
    """What a tab shows of the texts that it generates."""

    def started(self) -> UpdateT:
        """The update before the first token."""
        ...

    def updated(self, progress: RunProgress) -> UpdateT:
        """What has changed; at the last update the session is no longer busy. An error ends a run, too, though its
        message is shown elsewhere."""
        ...


def follow(
    live_runs: Sequence[LiveRun],
    passes: Passes,
    *,
    stop: threading.Event,
    time_limit: float,
    per_second: float = 20.0,
) -> Iterator[RunProgress]:
    """Continue these texts until all have ended, `stop` is set or the time is up. See `stream`."""
    for arrived in stream(passes, stop=stop, time_limit=time_limit, per_second=per_second):
        since = []
        for number, live in enumerate(live_runs):
            passes_of_run = [each for each in arrived.steps if number in each.steps]
            if passes_of_run:
                live.seconds = passes_of_run[-1].seconds
            since.append(live.add([each.steps[number] for each in passes_of_run], arrived.ending))
        yield RunProgress(tuple(since), arrived.ending)


def run_for_visitor(
    session: Session, models: Models, live_runs: Sequence[LiveRun], passes: Passes, view: RunView[UpdateT]
) -> Iterator[UpdateT]:
    """Continue these texts for a visitor, who has one such run at a time.

    Raises:
        AttendError: during another run. Errors of decoding are raised again after the view has shown what there is.
    """
    stop, ending, tab = session.begin(), None, session.tab.requested
    session.growing = tuple(live.run.id for live in live_runs)

    def last_update(progress: RunProgress) -> UpdateT:
        with session.lock:  # until it is made, neither another event nor another visitor's budget may drop these runs
            session.end(stop)
            if session.tab.requested == tab:  # else another one is in view
                session.seed = drawn_seed(*(live.settings for live in live_runs))
            return view.updated(progress)

    try:
        yield view.started()
        seconds, per_second = models.limits.run_seconds, _SMOOTH if len(live_runs) == 1 else _CALM
        for progress in follow(live_runs, passes, stop=stop, time_limit=seconds, per_second=per_second):
            ending = progress.ending
            yield last_update(progress) if progress.ended else view.updated(progress)
    except Exception:
        ending = "failed"
        yield last_update(RunProgress(tuple(live.add((), ending) for live in live_runs), ending))
        raise
    finally:
        session.end(stop)
        for live in live_runs if ending is None else ():  # the visitor has left
            live.add((), "stopped")
        limit_memory(session)


def stream_for_program(models: Models, trace: Trace) -> Iterator[None]:
    """Decode into the trace, beside the page's visitors; yields at every update, with new steps or without, since only
    there can a program that has left be noticed."""
    passes = models.decode(trace.call(CALLER.get()))
    for arrived in stream(passes, stop=LEFT.get() or threading.Event(), time_limit=models.limits.run_seconds):
        for decoded in arrived.steps:
            trace.add(decoded.steps[0])
        yield


def run_for_program(models: Models, trace: Trace) -> None:
    """Decode into the trace, to the end."""
    for _ in stream_for_program(models, trace):
        pass
