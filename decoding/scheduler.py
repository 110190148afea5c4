"""Continuous batching: all runs of a model share its forward passes.

A pass over many rows costs little more than a pass over one, since the weights are read once. Runs join and leave the
batch between two passes (Yu et al., 2022, "Orca": iteration-level scheduling). A thread, which lives as long as there
are runs, works in turns: each reads at most a piece of one prompt and makes one pass over all rows, and holds the
model's lock meanwhile, so that others can use the model between turns. Every run gets the same Steps as it would alone.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, suppress
from queue import Empty
from typing import Any

from decoding.batch import Batch, union
from decoding.observer import Observer
from decoding.prefixes import KeptPrefixes
from decoding.scheduled_run import Pass, ScheduledRun
from decoding.strategies.base import Strategy
from model.errors import AttendError
from model.interface import LanguageModel, Want

MAX_ROWS = 64  # in one pass
_AHEAD = 64  # passes
_PATIENCE = 2.0  # seconds that smaller runs may overtake one for which there are too few rows
_HEARTBEAT = 0.05  # seconds
_PIECE_ALONE, _PIECE_BESIDE_OTHERS = 0.15, 0.1  # seconds of prefill in one turn, which a stopped run still takes
_SHORTEST_PIECE = 32  # tokens
_READING_SPEED = 200.0  # tokens a second, until it has been measured: so that the first piece is short, too


class Scheduler:
    """The runs of one model."""

    def __init__(
        self,
        hold: Callable[[], AbstractContextManager[Any]],
        kept: KeptPrefixes | None = None,
        *,
        most_rows: int = MAX_ROWS,
        ahead: int = _AHEAD,
        observer: Observer = Observer(),
    ) -> None:
        """
        Args:
            hold: locks the model for one turn; callers that are waiting for the model must get it before the next turn.
            kept: the caches of visitors' earlier prompts; None keeps them only as long as the scheduler.
            most_rows: how many rows one pass may have; further runs wait. A run that needs more gets passes of its own.
            ahead: how many passes a run may be ahead of its reader before it is paused.
            observer: is told the rows of each pass.
        """
        self._hold = hold
        self._kept = KeptPrefixes() if kept is None else kept
        self._most_rows, self._ahead = most_rows, ahead
        self._observer = observer
        self._waiting: deque[ScheduledRun] = deque()
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()  # guards the two above; only the thread uses what follows
        self._reading: deque[tuple[ScheduledRun, Generator[None, None, Batch[Any]]]] = deque()
        self._running: list[ScheduledRun] = []
        self._reading_speed = _READING_SPEED  # tokens a second

    def run(
        self,
        model: LanguageModel[Any],
        prompt: Sequence[int],
        strategies: Sequence[Strategy],
        *,
        rows: int = 1,
        visitor: object = None,
    ) -> Generator[Pass | None, None, None]:
        """Continue a prompt with each strategy; closing the generator frees the rows before the next pass.

        Args:
            model: always the same, or one that shares its weights.
            rows: how many rows all strategies together need in a pass, at most.
            visitor: runs of the visitor with the fewest rows are admitted first, and a visitor's prompts share a cached
                prefix. None is a new visitor each time.

        Yields:
            Every pass that decided something, and None if there was none for a while, so that the caller can stop.

        Raises:
            Any error of the prefill, a pass or a strategy. It ends only this run.
        """
        run = ScheduledRun(model, prompt, strategies, rows, visitor)
        self._submit(run)
        try:
            while True:
                try:
                    newest = run.passes.get(timeout=_HEARTBEAT)
                except Empty:
                    yield None
                    continue
                if newest is None:
                    return
                if isinstance(newest, Exception):
                    raise newest
                yield newest
        finally:
            run.abandoned = True

    @property
    def rows(self) -> int:
        """How many rows are in use."""
        return sum(run.rows for run in (*(run for run, _ in tuple(self._reading)), *tuple(self._running)))

    @property
    def waiting(self) -> int:
        """How many runs have not begun."""
        return len(self._waiting)

    def _submit(self, run: ScheduledRun) -> None:
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._work, name="attend-scheduler", daemon=True)
                self._waiting.append(run)
                try:
                    thread.start()  # it waits for this lock
                except RuntimeError as error:
                    self._waiting.remove(run)
                    raise AttendError("The server is too busy to begin: try again in a minute.") from error
                self._thread = thread
            else:
                self._waiting.append(run)
                self._changed.notify()

    def _work(self) -> None:
        while self._has_work():
            with self._hold():
                try:
                    progressed = self._turn()
                except BaseException as error:
                    # It belongs to no single run, and no reader may be left waiting for a dead thread.
                    progressed = True
                    for run in (*(run for run, _ in self._reading), *self._running):
                        run.fail(error if isinstance(error, Exception) else RuntimeError(repr(error)))
            if not progressed:
                with self._changed:
                    self._changed.wait(_HEARTBEAT)

    def _has_work(self) -> bool:
        with self._changed:
            for run in [run for run in self._waiting if run.abandoned]:
                self._waiting.remove(run)
            if self._waiting or self._reading or self._running:
                return True
            self._thread = None
            return False

    def _turn(self) -> bool:
        """Take one turn; returns whether there was anything to do: False while all runs wait for their readers."""
        for run in [run for run in self._running if run.over]:
            self._running.remove(run)
            self._keep(run)
            run.batch.drop(run.entries)
        for run in self._running:
            self._pause_or_resume(run)
        newcomer = self._next()
        if newcomer is not None:
            self._reading.append((newcomer, self._read(newcomer)))
        progressed = bool(self._reading)
        if self._reading:
            self._read_piece()
        for batch in {id(run.batch): run.batch for run in self._running if not (run.paused or run.over)}.values():
            self._step(batch)
            progressed = True
        return progressed

    def _pause_or_resume(self, run: ScheduledRun) -> None:
        """Take a run whose reader has fallen behind out of the batch, or put it back."""
        unread = run.passes.qsize()
        try:
            if not run.paused and unread >= self._ahead:
                run.batch, run.paused = run.batch.split(run.entries), True
            elif run.paused and unread <= self._ahead // 2:
                run.paused = False
                self._join(run)
        except Exception as error:
            run.fail(error)

    def _next(self) -> ScheduledRun | None:
        """The run to admit: the oldest of the visitor with the fewest rows. Smaller runs may overtake one that does not
        fit, but only for a while."""
        taken = Counter[object]()
        for run in (*(run for run, _ in self._reading), *self._running):
            taken[run.key] += 0 if run.paused else run.rows
        with self._changed:
            for run in sorted(self._waiting, key=lambda run: taken[run.key]):
                if not taken.total() or taken.total() + run.rows <= self._most_rows:
                    self._waiting.remove(run)
                    return run
                if time.monotonic() - run.submitted > _PATIENCE:
                    return None
        return None

    def _read_piece(self) -> None:
        """Read a piece of the prompt whose turn it is; after its last piece, the run joins the batch."""
        run, pieces = self._reading.popleft()
        if run.abandoned:
            return
        begun, batch = time.perf_counter(), None
        try:
            try:
                next(pieces)
            except StopIteration as ended:
                batch = ended.value
            seconds = time.perf_counter() - begun
            if batch is None:
                run.seconds += seconds
                self._reading.append((run, pieces))
                return
            run.batch, run.entries = batch, batch.entries
            run.deliver(run.entries, seconds)
            if not run.over:
                self._join(run)
            self._running.append(run)
        except Exception as error:
            run.fail(error)

    def _read(self, run: ScheduledRun) -> Generator[None, None, Batch[Any]]:
        """Read a prompt in pieces, without the prefix that is cached; the other runs make their passes in between."""
        model, prompt = run.prefix_model, tuple(run.prompt)
        if model is None:
            return Batch.read(run.model, [prompt] * len(run.strategies), run.strategies)
        wanted = union(strategy.want for strategy in run.strategies)
        read, cache = self._kept.longest(run.visitor, prompt)
        while True:
            patience = _PIECE_BESIDE_OTHERS if self._running or self._reading else _PIECE_ALONE
            piece = prompt[read : read + max(_SHORTEST_PIECE, int(patience * self._reading_speed))]
            read += len(piece)
            want, begun = wanted if read == len(prompt) else Want(), time.perf_counter()
            forward = (
                run.model.prefill(piece, want=want) if cache is None else model.extend_prefix(piece, cache, want=want)
            )
            cache = forward.cache
            if len(piece) >= _SHORTEST_PIECE:
                self._reading_speed = len(piece) / (time.perf_counter() - begun)
            if read == len(prompt):
                return Batch.after_prefill(run.model, prompt, run.strategies, forward)
            yield

    def _keep(self, run: ScheduledRun) -> None:
        """Keep the cache of the prompt and the answer for the visitor's next prompt."""
        entry, *others = run.entries
        if others or entry.error is not None or run.visitor is None or run.prefix_model is None:
            return
        tokens = tuple(run.prompt)
        if run.rows == 1 and entry.step.best is not None:
            tokens += entry.step.best.tokens[: entry.length - len(tokens)]
        with suppress(Exception):  # if there is no memory for it, the next prompt is read from its beginning
            self._kept.keep(run.visitor, tokens, run.batch.row_of(entry).prefix(len(tokens)))

    def _join(self, run: ScheduledRun) -> None:
        """Merge a run into the batch of the others, if the model supports rows of different lengths."""
        others = (other.batch for other in self._running if other is not run and not (other.paused or other.over))
        batch = next(others, run.batch)
        if batch is not run.batch and run.model.joinable:
            batch.merge(run.batch)
            run.batch = batch

    def _step(self, batch: Batch[Any]) -> None:
        """Run one pass of a batch; every run gets its Steps."""
        runs, living = [run for run in self._running if run.batch is batch], batch.living
        begun = time.perf_counter()
        try:
            batch.step()
        except Exception as error:
            if len(runs) == 1:
                return runs[0].fail(error)
            for run in runs:  # repeat it for each run alone, so that only the faulty ones end
                run.batch = batch.split(run.entries)
                self._step(run.batch)
            for run in runs:
                if not run.over:
                    self._join(run)
            return
        seconds = time.perf_counter() - begun
        self._observer.stepped(batch.rows)
        for run in runs:
            run.deliver(living, seconds)
