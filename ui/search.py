"""What the inspector shows of a search: of every step all texts that it followed, and how they hang together.

A pure function of a run's trace; knows nothing of sessions or of how any of it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable

from decoding.declared import BEAM
from decoding.step import Hypothesis, Step
from decoding.trace import Trace
from ui.views import Beam, SearchValue


def search_value(trace: Trace | None, label: Callable[[int], str], since: int = 0) -> SearchValue | None:
    """The steps that a page with the tokens before number `since` lacks; None where the trace is not that of a search.

    A step lengthens every text by one token, so the text that leads never has more tokens than there were steps.
    """
    if trace is None or trace.settings.strategy not in BEAM:
        return None
    first = len(trace.request.prompt)
    known = max(0, since - first)
    return {
        "first": first,
        "since": known,
        "steps": [_beams(trace, number, label) for number in range(known, len(trace.steps))],
        "returned": _returned(trace.steps),
    }


def _beams(trace: Trace, number: int, label: Callable[[int], str]) -> list[Beam]:
    before = trace.steps[number - 1].hypotheses if number else ()
    return [_beam(one, before, label) for one in trace.steps[number].hypotheses]


def _beam(one: Hypothesis, before: tuple[Hypothesis, ...], label: Callable[[int], str]) -> Beam:
    sum_before = before[one.parent].score if before else 0.0
    numbers = (one.score - sum_before, one.score, one.log_probability)
    added, total, own = (round(number, 4) for number in numbers)
    return label(one.choice.token), added, total, own, one.parent, int(one.finished)


def _returned(steps: list[Step]) -> tuple[int, int] | None:
    """A text of n tokens was made in the n-th step."""
    if not steps or not steps[-1].finished or steps[-1].best is None:
        return None
    tokens = steps[-1].best.tokens
    number = len(tokens) - 1
    return number, next(place for place, one in enumerate(steps[number].hypotheses) if one.tokens == tokens)
