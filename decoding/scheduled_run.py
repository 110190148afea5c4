"""A run in the scheduler's batch, and the Steps of each pass that it gets."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, cast

from decoding.batch import Batch, Entry, generate_batch
from decoding.step import Step
from decoding.strategies.base import Strategy
from model.interface import ExtendsPrefix, LanguageModel


@dataclass(frozen=True, slots=True)
class Pass:
    """The Steps of a run from one forward pass."""

    steps: Mapping[int, Step]  # by the number of the strategy; only those that decided something
    seconds: float  # that all passes so far took, without the time spent waiting for other runs


@dataclass(slots=True, eq=False)
class ScheduledRun:
    """Some strategies that continue the same prompt for one visitor."""

    model: LanguageModel[Any]
    prompt: Sequence[int]
    strategies: Sequence[Strategy]
    rows: int
    visitor: object  # None: unknown
    passes: SimpleQueue[Pass | Exception | None] = field(default_factory=SimpleQueue)  # None is the end
    submitted: float = field(default_factory=time.monotonic)  # by the monotonic clock
    abandoned: bool = False  # nobody reads its passes any more
    entries: tuple[Entry, ...] = field(init=False)  # one for each strategy, once the prompt is read
    batch: Batch[Any] = field(init=False)  # the batch that they are in
    paused: bool = False  # waits in a batch of its own until the reader has caught up
    seconds: float = 0.0

    @property
    def key(self) -> object:
        """Runs with equal keys share one visitor's portion of the rows."""
        return self if self.visitor is None else self.visitor

    @property
    def over(self) -> bool:
        return self.abandoned or all(entry.over for entry in self.entries)

    @property
    def prefix_model(self) -> ExtendsPrefix[Any] | None:
        """The model, if it can read this prompt in pieces."""
        all_hidden = any(strategy.want.hidden for strategy in self.strategies)  # of the whole prompt
        in_pieces = isinstance(self.model, ExtendsPrefix) and not (self.model.decoder_start or all_hidden)
        return cast(ExtendsPrefix[Any], self.model) if in_pieces else None

    def deliver(self, advanced: Sequence[Entry], seconds: float) -> None:
        """Queue the Steps of a pass for the reader, and the end of the run after the last."""
        self.seconds += seconds
        moved = {number: entry for number, entry in enumerate(self.entries) if entry in advanced}
        if error := next((entry.error for entry in moved.values() if entry.error is not None), None):
            return self.fail(error)
        steps = {number: entry.step for number, entry in moved.items() if entry.step.hypotheses}
        if steps:
            self.passes.put(Pass(steps, self.seconds))
        if self.over:
            self.passes.put(None)

    def fail(self, error: Exception) -> None:
        self.abandoned = True
        self.passes.put(error)


def run_alone(
    model: LanguageModel[Any], prompt: Sequence[int], strategies: Sequence[Strategy], lock: AbstractContextManager[Any]
) -> Generator[Pass, None, None]:
    """`Scheduler.run` without sharing passes, in the calling thread: for a host that lends a GPU to each call."""
    generated, seconds = generate_batch(model, [prompt] * len(strategies), strategies), 0.0
    while True:
        begun = time.perf_counter()
        with lock:
            steps = next(generated, None)
        if steps is None:
            return
        seconds += time.perf_counter() - begun
        yield Pass({number: step for number, step in enumerate(steps) if step is not None}, seconds)
