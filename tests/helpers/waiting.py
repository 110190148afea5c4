"""Waits for a state that another thread reaches, never for a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable

LONGEST = 120.0  # seconds; a busy machine is ten times as slow as a quiet one


def eventually(holds: Callable[[], bool]) -> None:
    """Return as soon as the condition holds."""
    end = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < end, "it has not come true"
        time.sleep(0.01)
