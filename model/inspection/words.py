"""Which words made a choice likely: each is left out in turn, and the choice is weighed again.

This can't prove that a word did not matter: two words that say the same hide each other, and a text with a hole may be
unlike anything that the model has read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torch import Tensor

from model.errors import AttendError
from model.inspection.choice import Choice
from model.inspection.inspector import Inspector

Span = tuple[int, int]  # the first token of a word, and the one after its last


class LeftOut(NamedTuple):
    """Progress, and the results so far."""

    done: int  # words
    total: int
    changes: Tensor  # of the choice's log-probability without each span, (spans,); nan: not measured yet


def leave_out(
    inspector: Inspector,
    tokens: Sequence[int],
    spans: Sequence[Span],
    chosen: int,
    rival: int | None = None,
    *,
    source: Sequence[int] = (),
) -> Iterator[LeftOut]:
    """Yield, after each pass over some of the spans, how much the log-probability of the chosen token (minus the
    rival's) changes without each.

    A negative change means that the word made the choice likelier. The spans are those of the source if there is one.
    """
    changed = source or tokens
    for start, end in spans:
        if not 0 <= start < end <= len(changed):
            raise AttendError(f"There is no word from {start} to {end}: the text has tokens 0 to {len(changed) - 1}.")
        if end - start == len(changed):
            raise AttendError("A text of one word can't be read without it: choose a longer text.")
    without = [[*changed[:start], *changed[end:]] for start, end in spans]
    rows, sources = ([tokens] * (1 + len(spans)), [source, *without]) if source else ([tokens, *without], [])
    for done, values in Choice(chosen, rival).weigh(inspector, rows, sources=sources):
        yield LeftOut(done - 1, len(spans), values[1:] - values[0])
