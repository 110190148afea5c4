"""Waits for what another thread does, never for a fixed time; and what holds another thread back."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any

from decoding.scheduled_run import Pass
from decoding.step import Step
from ui.runs.models import Models

LONGEST = 120.0  # seconds; a busy machine is ten times as slow as a quiet one


def eventually(holds: Callable[[], bool]) -> None:
    """Return as soon as the condition holds."""
    end = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < end, "it has not come true"
        time.sleep(0.01)


def steps_of(passes: Iterable[Pass | None], number: int = 0) -> list[Step]:
    """Those of one strategy, in order."""
    return [each.steps[number] for each in passes if each is not None and number in each.steps]


class Gate:
    """For `Models`: a run's first tokens come at once, and the others when a test lets them through.

    Until then the run hears of Stop and of a closed tab as always.
    """

    def __init__(self, free: int = 1) -> None:
        """
        Args:
            free: how many tokens of each run come at once.
        """
        self._free = free
        self._changed = threading.Condition()
        self._tokens = 0.0  # that may pass

    def let(self, tokens: float) -> None:
        """Let so many more tokens through, of all runs together."""
        with self._changed:
            self._tokens += tokens
            self._changed.notify_all()

    def open(self) -> None:
        self.let(math.inf)

    def close(self) -> None:
        with self._changed:
            self._tokens = 0.0

    def __call__(self, decode: Any) -> Any:
        def gated(*arguments: Any) -> Iterator[Any]:
            count = 0
            with closing(decode(*arguments)) as steps:
                for step in steps:
                    while count >= self._free and step is not None and not self._passes():
                        yield None
                    count += step is not None
                    yield step

        return gated

    def holding(self, models: Models) -> Models:
        """The same models, whose tokens wait here."""
        return Models(models.names, lambda name, _: models.get(name), wrap=self)

    def _passes(self) -> bool:
        """Wait a moment for a token's turn."""
        with self._changed:
            passes = self._changed.wait_for(lambda: self._tokens > 0, timeout=0.02)
            self._tokens -= passes
            return passes
