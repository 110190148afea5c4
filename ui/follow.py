"""A decode as the page follows it: Steps come in, and the run's tokens are brought up to date.

Knows nothing of the screen; the chat and the written text both stand on it.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from decoding.step import Choice, FinishReason, Step
from ui.lookback import shape_of
from ui.session import Run, Seen
from ui.stream import Ending, stream
from ui.views import attention_row


@dataclass(frozen=True, slots=True)
class Progress:
    """One update of a run."""

    since: int  # the first token that differs from the update before; the number of tokens when none does
    ending: Ending | None = None
    reason: FinishReason | None = None  # why decoding ended, when it ended by itself


def follow(
    run: Run,
    steps: Generator[Step, None, None],
    *,
    lock: threading.Lock,
    stop: threading.Event,
    time_limit: float,
) -> Iterator[Progress]:
    """Put what the model chooses behind the tokens that the run has now."""
    start = len(run.tokens)
    path = Path()
    reason: FinishReason | None = None
    for batch in stream(steps, lock=lock, stop=stop, time_limit=time_limit):
        since = len(run.tokens)
        for step in batch.steps:
            path.add(step)
            reason = step.finish_reason
        if batch.steps:
            since = start + _agreed(run.tokens[start:], path.best)
            run.replace_from(since, [_seen(choice) for choice in path.best[since - start :]])
            if path.best[0].attention is not None:
                run.shape = shape_of(path.best[0].attention)
        yield Progress(since, batch.ending, reason)


class Path:
    """The choices behind the best hypothesis, from the first token on, under any strategy."""

    def __init__(self) -> None:
        self._living: list[tuple[Choice, ...]] = [()]
        self._ended: dict[tuple[int, ...], tuple[Choice, ...]] = {}
        self.best: tuple[Choice, ...] = ()

    def add(self, step: Step) -> None:
        chains = {one.tokens: (*self._living[one.parent], one.choice) for one in step.hypotheses}
        self._ended |= {one.tokens: chains[one.tokens] for one in step.hypotheses if one.finished}
        self._living = [chains[one.tokens] for one in step.hypotheses if not one.finished]
        if step.best is not None:
            self.best = chains.get(step.best.tokens) or self._ended[step.best.tokens]
        elif step.hypotheses:
            self.best = chains[step.hypotheses[0].tokens]


def _agreed(tokens: Sequence[Seen], choices: Sequence[Choice]) -> int:
    """How many tokens in front are the same: what led to them is the same then, too."""
    for place, (token, choice) in enumerate(zip(tokens, choices, strict=False)):
        if token.id != choice.token:
            return place
    return min(len(tokens), len(choices))


def _seen(choice: Choice) -> Seen:
    row = None if choice.attention is None else attention_row(choice.attention)
    return Seen(choice.token, given=False, choice=replace(choice, attention=None), row=row)
