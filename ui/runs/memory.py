"""Budgets, in bytes, for the memory that one visitor's texts, and those of all visitors, take on the server.

It covers what explains tokens (their distributions, the hypotheses of a search, their attention), in runs and in the
states for Write's Undo, and the file that was opened last. Shared objects count once, and are freed with the last text
that uses them. Sizes are computed from the number of an object's parts; a test compares them with what Python
allocates.

When a run or a file is opened, or a run ends, everything over the budget is dropped, the oldest first: a file that is
no longer in view; attention, which is computed again when its run is opened; the traces of Write's earlier states; the
traces of runs; whole states; then the explanation of a run, whose text stays. What the inspector shows comes last: a
run's trace, then its attention, while its distributions always stay; or a file.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Self
from weakref import WeakValueDictionary

from decoding.run.trace import Trace
from decoding.step import Choice, Dropped, Hypothesis
from ui.runs.run import RunRecord, TokenRecord
from ui.runs.session import Session, Version

_sessions = WeakValueDictionary[int, Session]()  # whose texts have been counted
_sessions_lock = threading.Lock()

Sizes = Iterator[tuple[int, int]]  # an object's id, and its size without that of its parts

_OBJECT, _SLOT, _FLOAT, _TUPLE, _STRING = 32, 8, 24, 56, 49  # bytes, including the garbage collector's header


class Ledger:
    """The memory that explains one visitor's texts; each object counts once."""

    def __init__(self) -> None:
        self._holders: Counter[int] = Counter()
        self.total = 0  # bytes

    @classmethod
    def of(cls, session: Session) -> Self:
        ledger = cls()
        for text in (*session.runs.values(), *session.draft.undo, *session.draft.redo):
            ledger.add(_of_text(text))
        ledger.add(_of_file(session))
        return ledger

    def add(self, objects: Iterable[tuple[int, int]]) -> None:
        for identity, size in objects:
            self.total += 0 if self._holders[identity] else size
            self._holders[identity] += 1

    def release(self, objects: Iterable[tuple[int, int]]) -> None:
        for identity, size in objects:
            self._holders[identity] -= 1
            self.total -= 0 if self._holders[identity] else size

    def drop(self, run: RunRecord, forget: Callable[[], None]) -> None:
        """Let a run forget something, and count what is left of it."""
        self.release(_of_text(run))
        forget()
        self.add(_of_text(run))


def limit_memory(session: Session, max_bytes: int | None = None, *, max_bytes_of_all: int | None = None) -> None:
    """Drop what exceeds the visitor's budget, and what exceeds that of all visitors, from the oldest texts first.

    Args:
        max_bytes, max_bytes_of_all: bytes; None for the limits of the visitor's page.
    """
    _limit(session, session.limits.session_bytes if max_bytes is None else max_bytes)
    session.counted = time.monotonic()
    with _sessions_lock:
        _sessions[id(session)] = session
        sessions = list(_sessions.values())
    budget, total = session.limits.all_sessions_bytes if max_bytes_of_all is None else max_bytes_of_all, 0
    for each in sorted(sessions, key=lambda each: each.counted, reverse=True):
        total += each.bytes
        if total > budget and each is not session:
            with each.lock.if_free() as free:
                if free:
                    before = each.bytes
                    _limit(each, 0)
                    total -= before - each.bytes


class TraceBudget:
    """Drops the traces of the first of several runs while they are read, so that all of them are never in memory."""

    def __init__(self, max_bytes: int) -> None:
        """
        Args:
            max_bytes: bytes of all traces.
        """
        self._max_bytes, self._ledger, self._runs = max_bytes, Ledger(), deque[RunRecord]()

    def add(self, run: RunRecord) -> None:
        """Count a run that was just read."""
        self._runs.append(run)
        self._ledger.add(_of_trace(run.trace))
        while self._ledger.total > self._max_bytes:
            oldest = self._runs.popleft()
            self._ledger.release(_of_trace(oldest.trace))
            oldest.forget_trace()


def _limit(session: Session, max_bytes: int) -> None:
    ledger = Ledger.of(session)
    if ledger.total > max_bytes:
        for _ in _drops(session, ledger):
            if ledger.total <= max_bytes:
                break
    session.bytes = ledger.total


def _drops(session: Session, ledger: Ledger) -> Iterator[None]:
    """Drop one thing after another, in the order of this module's docstring; pauses after each."""
    inspected = session.inspected_run or session.draft.run
    ended = [run for run in list(session.runs.values()) if run.id not in session.growing]
    others, on_screen = [run for run in ended if run.id != inspected], [run for run in ended if run.id == inspected]
    histories = (session.draft.undo, session.draft.redo)
    if session.inspected_run is not None:
        yield _forget_file(session, ledger)
    for run in others:
        yield ledger.drop(run, run.forget_attention)
    for history in histories:
        for number, version in enumerate(history):
            ledger.release(_of_trace(version.trace))
            history[number] = replace(version, trace=None)
            yield
    for run in others:
        yield ledger.drop(run, run.forget_trace)
    for history in histories:
        while history:
            yield ledger.release(_of_text(history.pop(0)))
    for run in others:
        yield ledger.drop(run, run.forget_explanations)
    for run in on_screen:
        yield ledger.drop(run, run.forget_trace)
        yield ledger.drop(run, run.forget_attention)
    yield _forget_file(session, ledger)


def _forget_file(session: Session, ledger: Ledger) -> None:
    ledger.release(_of_file(session))
    session.file = None


def _of_file(session: Session) -> Sizes:
    if session.file is not None:
        yield id(session.file[1]), sys.getsizeof(session.file[1])


def _of_text(text: RunRecord | Version) -> Sizes:
    yield from _of_tokens(text.tokens)
    yield from _of_trace(text.trace)


def _of_tokens(tokens: Sequence[TokenRecord]) -> Sizes:
    for token in tokens:
        yield id(token), _OBJECT + 4 * _SLOT
        if token.row is not None:
            yield id(token.row), _STRING + len(token.row)
        if token.choice is not None:
            yield from _of_choice(token.choice)


def _of_trace(trace: Trace | None) -> Sizes:
    for step in () if trace is None else trace.steps:
        yield id(step), _OBJECT + 6 * _SLOT + 4 * _TUPLE + _SLOT * 2 * len(step.hypotheses)
        returned = (step.best, *step.returned) if step.best is not None else step.returned
        for hypothesis in (*step.hypotheses, *returned):
            yield from _of_hypothesis(hypothesis)
        for hypothesis in step.dropped:
            yield from _of_dropped(hypothesis)


def _of_hypothesis(hypothesis: Hypothesis) -> Sizes:
    yield id(hypothesis), _OBJECT + 9 * _SLOT + 4 * _FLOAT
    yield id(hypothesis.tokens), _TUPLE + _SLOT * len(hypothesis.tokens)
    yield from _of_choice(hypothesis.choice)


def _of_dropped(dropped: Dropped) -> Sizes:
    yield id(dropped), _OBJECT + 6 * _SLOT + 2 * _FLOAT
    yield id(dropped.tokens), _TUPLE + _SLOT * len(dropped.tokens)


def _of_choice(choice: Choice) -> Sizes:
    stages = len(choice.stages)
    numbers = _TUPLE + stages * (_SLOT + _FLOAT)  # a tuple with a number for each stage
    yield id(choice), _OBJECT + 13 * _SLOT + _FLOAT
    yield id(choice.kept), numbers
    yield id(choice.mass), numbers
    yield id(choice.stage_entropy), numbers
    yield id(choice.rest), numbers
    yield id(choice.candidates), _TUPLE + _SLOT * len(choice.candidates)
    for candidate in choice.candidates:
        yield id(candidate), _OBJECT + 2 * _SLOT + _FLOAT + numbers
    for candidate in choice.contrastive_candidates:
        yield id(candidate), _OBJECT + 4 * _SLOT + 4 * _FLOAT
    if choice.contrast is not None:
        pairs = len(choice.contrast.divergences)
        yield id(choice.contrast), _OBJECT + 2 * _SLOT + _TUPLE + pairs * (_SLOT + _TUPLE + 2 * _SLOT + _FLOAT)
