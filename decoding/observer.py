"""An interface for measuring runs, for example for a server's metrics. It sees numbers only, never texts or names."""

from __future__ import annotations

import time
from typing import Literal

from decoding.call import Decode, Passes

Outcome = Literal["finished", "stopped", "failed"]


class Observer:
    """Measures nothing; subclasses override what they count. May be called from any thread."""

    def stepped(self, rows: int) -> None:
        """A model made one pass over so many rows."""

    def decoded(self, tokens: int, seconds: float, *, first: bool) -> None:
        """One run got the tokens of one pass.

        Args:
            tokens: how many, in all texts and beams of the run.
            seconds: how long the reader waited for them, since the previous pass or the start of the run.
            first: whether this is the run's first pass.
        """

    def ended(self, outcome: Outcome) -> None:
        """One run ended; "stopped" means by its reader or at the time limit."""


def observing(decode: Decode, observer: Observer) -> Decode:
    """Wrap a function so that the observer measures its passes."""
    return lambda call: _observed(decode(call), observer)


def _observed(passes: Passes, observer: Observer) -> Passes:
    """Yield the same passes. The time that the reader spends between two of them does not count."""
    waited, first = 0.0, True
    outcome: Outcome = "stopped"
    try:
        while True:
            started = time.perf_counter()
            try:
                result = next(passes)
            except StopIteration:
                outcome = "finished"
                return
            waited += time.perf_counter() - started
            if result is not None:
                tokens = sum(len(step.hypotheses) for step in result.steps.values())
                observer.decoded(tokens, waited, first=first)
                waited, first = 0.0, False
            yield result
    except Exception:
        outcome = "failed"
        raise
    finally:
        passes.close()
        observer.ended(outcome)
