"""Waits for what another thread does, never for a fixed time; and what slows another thread down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from decoding.scheduled_run import Pass
from decoding.step import Step

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


def paused(seconds: float) -> Callable[[Any], Any]:
    """For `Models`: decoding that pauses at every token."""
    return _before_every_token(lambda: time.sleep(seconds))


def held(until: threading.Event) -> Callable[[Any], Any]:
    """For `Models`: decoding whose tokens wait for a test."""
    return _before_every_token(lambda: until.wait(LONGEST))


def _before_every_token(pause: Callable[[], object]) -> Callable[[Any], Any]:
    def wrap(decode: Any) -> Any:
        def slowly(*arguments: Any) -> Iterator[Any]:
            for step in decode(*arguments):
                pause()
                yield step

        return slowly

    return wrap
