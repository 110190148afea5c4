"""Greedy decoding and sampling: one continuation, one token a step, whether or not its layers are contrasted.

Both run the same step and differ in one line, the choice. A draw is one uniform float64 number against the cumulative
distribution, so it can be shown, and equal seeds give equal draws under every setting. Knows nothing of models or text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from decoding.dola import Dola
from decoding.mirostat import Mirostat
from decoding.processors import Context, run_chain
from decoding.recorder import Recording, record
from decoding.step import Hypothesis, Step
from decoding.stop import Stop
from decoding.strategy import Request, Terms, newest_attention, usable_logits
from model.interface import Forward, Want


class Draws:
    """The request's own stream of uniform numbers in [0, 1); nobody else's requests can change it."""

    def __init__(self, seed: int, drawn: int = 0) -> None:
        self._generator = torch.Generator().manual_seed(seed)
        for _ in range(drawn):
            self.next()

    def next(self) -> float:
        return float(torch.rand((), dtype=torch.float64, generator=self._generator))


def token_at(draw: float, recording: Recording) -> int:
    """The token that a draw falls on.

    The survivors stand by final probability, highest first, ties by id, and the first whose cumulative sum exceeds the
    draw is taken (else the last). Sorting the values alone says which probability that is, and how many of the tokens
    that share it stand before the one taken; no order of the ids is ever needed.
    """
    ids, probabilities = recording.final_probabilities()
    descending = np.sort(probabilities)[::-1]
    place = min(int(np.searchsorted(np.cumsum(descending), draw, side="right")), ids.size - 1)
    value = descending[place]
    before = int(np.count_nonzero(probabilities > value))
    return int(ids[np.flatnonzero(probabilities == value)[place - before]])


def places_without_replacement(draws: Sequence[float], probabilities: NDArray[np.float64]) -> list[int]:
    """Where several draws fall, each on what those before it have left, renormalised.

    The order is that of `token_at`: highest first, ties by place. Fewer places than draws where nothing is left.
    """
    ids = np.flatnonzero(probabilities)
    ids = ids[np.argsort(-probabilities[ids], kind="stable")]
    left = probabilities[ids]
    places: list[int] = []
    for draw in draws[: ids.size]:
        sums = np.cumsum(left)
        place = int(np.searchsorted(sums, draw * sums[-1], side="right"))
        place = min(place, int(np.flatnonzero(left)[-1]))
        left[place] = 0.0
        places.append(int(ids[place]))
    return places


class OneByOne:
    """One continuation: with a seed it samples, without draws it is greedy."""

    def __init__(
        self,
        request: Request,
        terms: Terms,
        *,
        seed: int,
        mirostat: Mirostat | None = None,
        dola: Dola | None = None,
        greedy: bool = False,
    ) -> None:
        self.want = Want(attention=request.attention, layers=() if dola is None else dola.layers)
        self._request = request
        self._terms = terms
        self._stop = Stop.of(request, terms)
        self._mirostat = mirostat
        self._dola = dola
        said = request.resumed
        self._tokens: tuple[int, ...] = () if said is None else said.tokens
        self._score = 0.0 if said is None else said.score
        self._log_probability = 0.0 if said is None else said.log_probability
        self._draws = None if greedy else Draws(seed, request.drawn + len(self._tokens))

    def advance(self, forward: Forward[Any]) -> Step:
        logits = usable_logits(forward.logits, len(self._tokens))  # (1, V)
        processors, contrast = self._terms.processors, None
        if self._dola is not None:
            stage, contrast = self._dola.contrast(forward, len(self._tokens))
            processors = (stage, *processors)
        if self._mirostat is not None:
            processors = (*processors, self._mirostat.stage)
        stages = run_chain(processors, logits, Context(self._request.prompt, (self._tokens,)))
        names = ("model", *(processor.name for processor in processors))
        recording = record(names, stages, self._terms.top_candidates)[0]
        draw = None if self._draws is None else self._draws.next()
        token = int(stages[-1][0].argmax()) if draw is None else token_at(draw, recording)
        attention = newest_attention(forward, 0, len(self._request.prompt) + len(self._tokens))

        self._tokens += (token,)
        step_score = recording.log_probability(token, stage=-1)
        self._score += step_score
        self._log_probability += recording.log_probability(token, stage=0)
        reason = self._stop.reason(self._tokens)
        choice = replace(recording.choice(token, draw=draw, attention=attention), contrast=contrast)
        if self._mirostat is not None:
            self._mirostat.chose(choice.final_probability)
        hypothesis = Hypothesis(
            tokens=self._tokens,
            score=self._score,
            step_score=step_score,
            log_probability=self._log_probability,
            parent=0,
            choice=choice,
            finish_reason=reason,
        )
        if reason is not None:
            return Step((hypothesis,), best=hypothesis, returned=(hypothesis,))
        return Step((hypothesis,), best=hypothesis, feed=(token,), parents=(0,))
