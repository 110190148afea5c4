"""The one loop that runs a model, for visitors and, without a screen, for programs.

Every text has a `RunBuilder`; several texts grow side by side with the same passes. Knows nothing of gradio or of how
texts are shown.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol, TypeVar

from decoding.step import Step
from decoding.trace import Trace
from model.loaded import LoadedModel
from ui.runs.answers import GrowingAnswer
from ui.runs.memory import limit_memory
from ui.runs.models import Models
from ui.runs.prompts import drawn_seed
from ui.runs.run_builder import RunBuilder
from ui.runs.session import Session
from ui.runs.stream import Ending, stream


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass through the model."""

    steps: Mapping[int, Step]  # by the number of the run
    seconds: float  # of computing up to here; waiting for other visitors or for the page does not count


Passes = Generator[Pass, None, None]


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What happened since the last update."""

    since: tuple[int, ...]  # each run's first new token; its number of tokens where none is new
    ending: Ending | None = None

    @property
    def ended(self) -> bool:
        return self.ending is not None


ScreenT = TypeVar("ScreenT", covariant=True)


class RunView(Protocol[ScreenT]):
    """What a tab shows of the texts that it generates."""

    def started(self) -> ScreenT:
        """Before the first token."""
        ...

    def updated(self, progress: RunProgress) -> ScreenT:
        """With every update; the session is free again with the last one."""
        ...

    def failed(self) -> ScreenT:
        """After an error, whose message is shown elsewhere."""
        ...


def timed(steps: Generator[Mapping[int, Step], None, None], seconds: float = 0.0) -> Passes:
    """Passes, with the time that these steps take; closing the generator closes the steps."""
    with closing(steps):
        begun = time.perf_counter()
        for decided in steps:
            seconds += time.perf_counter() - begun
            yield Pass(decided, seconds)
            begun = time.perf_counter()


def alone(steps: Generator[Step, None, None]) -> Passes:
    """Passes of a single run."""

    def numbered() -> Generator[Mapping[int, Step], None, None]:
        with closing(steps):
            for step in steps:
                yield {0: step}

    return timed(numbered())


def follow(
    builders: Sequence[RunBuilder],
    passes: Passes,
    *,
    lock: threading.Lock,
    stop: threading.Event,
    time_limit: float,
    per_second: float = 20.0,
) -> Iterator[RunProgress]:
    """Continue these texts until all have ended, `stop` is set or the time is up; see `stream`."""
    for batch in stream(passes, lock=lock, stop=stop, time_limit=time_limit, per_second=per_second):
        since = []
        for number, builder in enumerate(builders):
            passes_of_run = [each for each in batch.steps if number in each.steps]
            if passes_of_run:
                builder.seconds = passes_of_run[-1].seconds
            since.append(builder.add([each.steps[number] for each in passes_of_run]))
        if batch.ending is not None:
            for builder in builders:
                builder.close()
        yield RunProgress(tuple(since), batch.ending)


def run_for_visitor(
    session: Session, models: Models, builders: Sequence[RunBuilder], passes: Passes, view: RunView[ScreenT]
) -> Iterator[ScreenT]:
    """Continue these texts for a visitor, who has one such run at a time.

    Raises:
        AttendError: while another is going on; whatever decoding raises, after the view has shown what is left.
    """
    loaded = models.get(builders[0].run.model)
    stop = session.begin()
    session.growing = tuple(builder.run.id for builder in builders)
    try:
        yield view.started()
        for progress in follow(builders, passes, lock=loaded.lock, stop=stop, time_limit=models.time_limit):
            if progress.ended:
                session.end(stop)
                session.seed = common_seed(builders)
            yield view.updated(progress)
    except Exception:
        session.end(stop)
        yield view.failed()
        raise
    finally:
        session.end(stop)
        limit_memory(session)


def answer_for_visitor(
    session: Session, models: Models, answer: GrowingAnswer, passes: Passes, view: RunView[ScreenT]
) -> Iterator[ScreenT]:
    """`run_for_visitor` for one answer, which is marked as stopped if the visitor leaves."""
    try:
        yield from run_for_visitor(session, models, [answer.builder], passes, view)
    finally:
        if answer.turn.state == "streaming":
            answer.stop()


def common_seed(builders: Sequence[RunBuilder]) -> int:
    """That of the first run, which the others share or count on from; -1 where none drew anything."""
    drawn = any(drawn_seed(builder.settings) >= 0 for builder in builders)
    return builders[0].settings.seed if drawn else -1


def stream_for_program(models: Models, loaded: LoadedModel, trace: Trace) -> Iterator[None]:
    """Decode into the trace, taking turns with the page's visitors; yields once a step, and at every heartbeat before
    the first."""
    steps = models.decode(loaded.name, trace.request.input_ids, trace.settings, 0)
    stop = threading.Event()
    for batch in stream(steps, lock=loaded.lock, stop=stop, time_limit=models.time_limit, per_second=1000.0):
        for step in batch.steps:
            trace.add(step)
            yield
        if not batch.steps and not trace.steps:
            yield


def run_for_program(models: Models, loaded: LoadedModel, trace: Trace) -> None:
    """Decode into the trace, to the end."""
    for _ in stream_for_program(models, loaded, trace):
        pass
