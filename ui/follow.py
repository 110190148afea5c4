"""A decode as the page follows it: Steps come in, and the run's tokens and its trace are brought up to date.

Knows nothing of the screen; the chat, the written text and the cards of a comparison all stand on it.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from decoding.step import Choice, FinishReason, Hypothesis, Step
from decoding.trace import Trace
from ui.lookback import shape_of
from ui.session import Run, Seen
from ui.stream import Ending, stream
from ui.values import attention_row


@dataclass(frozen=True, slots=True)
class Progress:
    """One update of a run."""

    since: int  # the first token that differs from the update before; the number of tokens when none does
    ending: Ending | None = None
    reason: FinishReason | None = None  # why decoding ended, when it ended by itself


def follow(
    run: Run,
    trace: Trace,
    steps: Generator[Step, None, None],
    *,
    lock: threading.Lock,
    stop: threading.Event,
    time_limit: float,
) -> Iterator[Progress]:
    """Put what the model chooses behind the tokens that the run has now; `trace` becomes the run's, and is filled.

    A trace that has steps already is of a run that goes on: its prompt and its tokens are those that the run has.
    """
    growth = Growth(run, trace)
    for batch in stream(steps, lock=lock, stop=stop, time_limit=time_limit):
        yield Progress(growth.add(batch.steps), batch.ending, growth.reason)


class Growth:
    """A run, and the Steps that lengthen it.

    The trace gets every Step without its attention: a beam's would be kept for all beams, and the rows that are shown
    are kept with the run's tokens.
    """

    def __init__(self, run: Run, trace: Trace) -> None:
        self.run = run
        self.trace = run.trace = trace
        self._start = len(trace.request.read)
        self._path = Path()
        for step in trace.steps:
            self._path.add(step)
        self.reason: FinishReason | None = None  # why decoding ended, when it ended by itself

    def add(self, steps: Sequence[Step]) -> int:
        """Bring the run up to date; returns the first token that differs from before."""
        if not steps:
            return len(self.run.tokens)
        for step in steps:
            self._path.add(step)
            self.trace.add(_without_attention(step))
            self.reason = step.finish_reason
        choices = self._path.best
        agreed = _agreed(self.run.tokens[self._start :], choices)
        self.run.replace_from(self._start + agreed, [self._seen(choice) for choice in choices[agreed:]])
        if choices and choices[-1].attention is not None:
            self.run.shape = shape_of(choices[-1].attention)
        return self._start + agreed

    def _seen(self, choice: Choice) -> Seen:
        row = None if choice.attention is None else attention_row(choice.attention)
        bare = replace(choice, attention=None)
        return Seen(choice.token, "search" if self.trace.settings.beams else "chosen", bare, row)


class Path:
    """The choices behind the best hypothesis, from the first token on, under any strategy."""

    def __init__(self) -> None:
        self._living: list[tuple[Choice, ...]] = [()]
        self._ended: dict[Place, tuple[Choice, ...]] = {}
        self.best: tuple[Choice, ...] = ()

    def add(self, step: Step) -> None:
        chains = {_place(one): (*self._living[one.parent], one.choice) for one in step.hypotheses}
        self._ended |= {_place(one): chains[_place(one)] for one in step.hypotheses if one.finished}
        self._living = [chains[_place(one)] for one in step.hypotheses if not one.finished]
        if step.best is not None:
            self.best = chains.get(_place(step.best)) or self._ended[_place(step.best)]


Place = tuple[int, tuple[int, ...]]


def _place(hypothesis: Hypothesis) -> Place:
    """What tells it from all others of a run."""
    return hypothesis.group, hypothesis.tokens


def _agreed(tokens: Sequence[Seen], choices: Sequence[Choice]) -> int:
    """How many tokens in front are the same: what led to them is the same then, too."""
    for place, (token, choice) in enumerate(zip(tokens, choices, strict=False)):
        if token.id != choice.token:
            return place
    return min(len(tokens), len(choices))


def _without_attention(step: Step) -> Step:
    hypotheses, returned = tuple(map(_bare, step.hypotheses)), tuple(map(_bare, step.returned))
    return replace(step, hypotheses=hypotheses, best=step.best and _bare(step.best), returned=returned)


def _bare(hypothesis: Hypothesis) -> Hypothesis:
    return replace(hypothesis, choice=replace(hypothesis.choice, attention=None))
