"""Waits for a state that another thread reaches, never for a fixed time; and what slows another thread down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

LONGEST = 120.0  # seconds; a busy machine is ten times as slow as a quiet one


def eventually(holds: Callable[[], bool]) -> None:
    """Return as soon as the condition holds."""
    end = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < end, "it has not come true"
        time.sleep(0.01)


def paused(seconds: float) -> Callable[[Any], Any]:
    """For `Models`: decoding that pauses at every token."""

    def wrap(decode: Any) -> Any:
        def slowly(*arguments: Any) -> Iterator[Any]:
            for step in decode(*arguments):
                time.sleep(seconds)
                yield step

        return slowly

    return wrap
