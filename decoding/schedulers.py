"""A scheduler for each model in use, and what the models have read for their visitors."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

from decoding.observer import Observer
from decoding.prefixes import MAX_BYTES, KeptPrefixes
from decoding.scheduler import MAX_ROWS, Scheduler


class ModelLock(Protocol):
    """What guards a model; models that share their weights share it."""

    def held_ahead(self) -> AbstractContextManager[Any]:
        """Hold the lock for one turn, ahead of all who are waiting."""
        ...


class Schedulers:
    """The schedulers of one page, each for as long as anyone runs its model."""

    def __init__(
        self, *, max_rows: int = MAX_ROWS, prefix_bytes: int = MAX_BYTES, observer: Observer = Observer()
    ) -> None:
        """
        Args:
            max_rows: how many rows one pass may have.
            prefix_bytes: how many bytes of prefixes each model may keep.
            observer: is told the rows of each pass.
        """
        self._max_rows, self._prefix_bytes, self._observer = max_rows, prefix_bytes, observer
        self._lock = threading.Lock()  # guards the two below
        self._schedulers = WeakValueDictionary[int, Scheduler]()  # by the lock's identity
        self._prefixes = WeakKeyDictionary[ModelLock, KeptPrefixes]()  # as long as the model is in memory

    def of(self, lock: ModelLock) -> Scheduler:
        """The scheduler of the model that this lock guards."""
        with self._lock:
            scheduler = self._schedulers.get(id(lock))
            if scheduler is None:
                kept = self._prefixes.setdefault(lock, KeptPrefixes(self._prefix_bytes))
                scheduler = Scheduler(lock.held_ahead, kept, max_rows=self._max_rows, observer=self._observer)
                self._schedulers[id(lock)] = scheduler
            return scheduler

    def forget(self, visitor: str) -> None:
        """Drop what all models keep for a visitor who has left."""
        with self._lock:
            for kept in self._prefixes.values():
                kept.forget(visitor)

    @property
    def waiting(self) -> int:
        """How many runs have not begun."""
        with self._lock:
            return sum(scheduler.waiting for scheduler in self._schedulers.values())

    @property
    def prefix_bytes(self) -> int:
        """How many bytes all models keep for their visitors."""
        with self._lock:
            return sum(kept.bytes for kept in self._prefixes.values())
