"""What the inspector shows of a search: all texts that each step followed, their parents, and why it let any go.

A pure function of a run's trace; knows nothing of sessions or of how any of it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from decoding.step import Dropped, Hypothesis, Step
from decoding.trace import Trace
from ui.inspector.inspector_contract import BeamRecord, DropRecord, SearchValue


def search_value(trace: Trace | None, label: Callable[[int], str], since: int = 0) -> SearchValue | None:
    """The steps from the one that chose token `since` on; None if the trace is not that of a search.

    Each step lengthens every text by one token, so no text has more tokens than there were steps.
    """
    if trace is None or not trace.settings.beams:
        return None
    first, steps = len(trace.request.attended), trace.steps
    known = max(0, since - first)
    best = steps[-1].best if steps else None
    return {
        "first": first,
        "since": known,
        "steps": [[_beam(hypothesis, label) for hypothesis in step.hypotheses] for step in steps[known:]],
        "dropped": [_drop_record(steps, dropped) for step in steps[known:] for dropped in step.dropped],
        "best": best and _position(steps, best),
        "over": bool(steps) and steps[-1].finished,
        "returned": [_position(steps, hypothesis) for hypothesis in trace.sequences],
    }


def _beam(hypothesis: Hypothesis, label: Callable[[int], str]) -> BeamRecord:
    added, total, log_probability = (
        round(number, 4) for number in (hypothesis.step_score, hypothesis.score, hypothesis.log_probability)
    )
    final = None if hypothesis.final_score is None else round(hypothesis.final_score, 4)
    return label(hypothesis.choice.token), added, total, log_probability, hypothesis.parent, final


def _drop_record(steps: Sequence[Step], dropped: Dropped) -> DropRecord:
    score, to_beat = (None if number is None else round(number, 4) for number in (dropped.score, dropped.to_beat))
    return *_position(steps, dropped), dropped.reason, score, to_beat


def _position(steps: Sequence[Step], text: Hypothesis | Dropped) -> tuple[int, int]:
    """The step that made the text (its length is the step's number) and its index in that step."""
    number = len(text.tokens) - 1
    same = (text.group, text.tokens)
    return number, next(i for i, other in enumerate(steps[number].hypotheses) if (other.group, other.tokens) == same)
