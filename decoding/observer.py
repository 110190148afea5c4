"""What measures the runs of a model, such as the metrics of a server. Numbers only: no text and nobody's name."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from functools import wraps
from typing import Any, Literal, TypeVar, cast

from decoding.scheduled_run import Pass

Passes = Generator[Pass | None, None, None]
DecodeT = TypeVar("DecodeT", bound=Callable[..., Passes])
Outcome = Literal["finished", "stopped", "failed"]


class Observer:
    """Measures nothing; a server's overrides what it counts. May be called from any thread."""

    def stepped(self, rows: int) -> None:
        """One pass through a model, of so many rows."""

    def decoded(self, tokens: int, seconds: float, *, first: bool) -> None:
        """What one pass brought to one run.

        Args:
            tokens: of all its texts and beams.
            seconds: that its reader waited for them, since the pass before or since the run began.
            first: whether no other pass came before.
        """

    def ended(self, outcome: Outcome) -> None:
        """One run; "stopped" by its reader or at the time limit."""


def observing(decode: DecodeT, observer: Observer) -> DecodeT:
    """A function that yields the passes of a run, and tells the observer their numbers."""

    @wraps(decode)
    def observed(*arguments: Any) -> Passes:
        return _observed(decode(*arguments), observer)

    return cast(DecodeT, observed)


def _observed(passes: Passes, observer: Observer) -> Passes:
    """The same passes. What the reader does between two of them does not count."""
    waited, first = 0.0, True
    outcome: Outcome = "stopped"
    try:
        while True:
            asked = time.perf_counter()
            try:
                made = next(passes)
            except StopIteration:
                outcome = "finished"
                return
            waited += time.perf_counter() - asked
            if made is not None:
                tokens = sum(len(step.hypotheses) for step in made.steps.values())
                observer.decoded(tokens, waited, first=first)
                waited, first = 0.0, False
            yield made
    except Exception:
        outcome = "failed"
        raise
    finally:
        passes.close()
        observer.ended(outcome)
