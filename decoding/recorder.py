"""Turns the logits of one row into `Choice`s: each candidate's probability after every stage, and that of the rest.

Takes the logits after each stage and the chosen token; knows neither how it was chosen nor what the stages do. Every
loop over the vocabulary is compiled, in `decoding.vocabulary_sums`.

Shapes: S is the stages, V the vocabulary, K the tokens that a stage kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decoding.parameters.parameter import Parameter
from decoding.step import CandidateRecord, Choice
from model.lazy import LazyModule

if TYPE_CHECKING:
    from torch import Tensor

    from decoding import vocabulary_sums as sums
else:
    sums = LazyModule(f"{__package__}.vocabulary_sums")

TOP_CANDIDATES = Parameter(
    name="top_candidates",
    label="Candidates shown",
    default=10,
    help="How many of the most probable tokens to record at each step.",
    neutral=None,
    integer=True,
    maximum=50,
)

Ids = NDArray[np.intp]
Probabilities = NDArray[np.float64]

_AT_ONCE = 64  # rows copied to the CPU at once, which limits the memory for a large vocabulary


class _Stage(NamedTuple):
    """One row's logits after one stage, and sums over the tokens that remain; see `summarize`."""

    logits: NDArray[np.float32]  # (V,) -inf where a token was removed
    kept: int
    log_total: float
    entropy: float
    mass_kept_by_following: float


class Recording:
    """One row: the probabilities and ranks of its tokens."""

    def __init__(self, names: Sequence[str], logits: Sequence[NDArray[np.float32]], top_candidates: int) -> None:
        self._names = tuple(names)
        followings = (*logits[1:], logits[-1])
        self._stages = tuple(
            _Stage(stage, *sums.summarize(stage, following))
            for stage, following in zip(logits, followings, strict=True)
        )
        self._kept = tuple(stage.kept for stage in self._stages)
        self._top_candidates = top_candidates

    def log_probability(self, token: int, *, stage: int) -> float:
        """A token's log-probability in nats; stage 0 is the model's own, -1 the last one, which it was chosen from."""
        selected = self._stages[stage]
        return float(selected.logits[token]) - selected.log_total

    def final_probabilities(self) -> tuple[Ids, Probabilities]:
        """The tokens that survived every stage, by id, and their probabilities: (K,) each."""
        final = self._stages[-1]
        ids = np.arange(final.kept) if final.kept == final.logits.size else np.flatnonzero(final.logits > -math.inf)
        logits = final.logits[ids]
        weights = np.exp(np.subtract(logits, logits.max(), dtype=np.float64))
        return ids, weights / weights.sum()

    def best(self, count: int) -> tuple[tuple[int, float], ...]:
        """The most probable tokens that survived every stage and their probabilities, highest first, ties by id."""
        final = self._stages[-1]
        ids = sums.best_tokens(final.logits, count)
        probabilities = np.exp(final.logits[ids].astype(np.float64) - final.log_total)
        return tuple(zip(ids.tolist(), probabilities.tolist(), strict=True))

    def choice(self, token: int, *, draw: float | None = None, attention: Tensor | None = None) -> Choice:
        """The record of having chosen this token."""
        candidates, rest = self._top
        best = [candidate.id for candidate in candidates]
        if token in best:
            rank = 1 + best.index(token)
        else:
            rank = sums.rank_of(self._stages[0].logits, token)
            candidates, rest = self._describe([*best, token])
        return Choice(
            token=token,
            rank=rank,
            draw=draw,
            stages=self._names,
            kept=self._kept,
            candidates=candidates,
            rest=rest,
            mass=(1.0, *(stage.mass_kept_by_following for stage in self._stages[:-1])),
            stage_entropy=tuple(stage.entropy for stage in self._stages),
            attention=attention,
        )

    @cached_property
    def _top(self) -> tuple[tuple[CandidateRecord, ...], tuple[float, ...]]:
        """The best by the model's probability, ties by id; computed once for all beams that continue this row."""
        return self._describe(sums.best_tokens(self._stages[0].logits, self._top_candidates).tolist())

    def _describe(self, ids: list[int]) -> tuple[tuple[CandidateRecord, ...], tuple[float, ...]]:
        """These candidates with their probabilities, and the probability of all others, per stage."""
        by_stage, rest, index = [], [], np.array(ids, np.intp)
        for stage in self._stages:
            logits = stage.logits[index].tolist()
            probabilities = [math.exp(logit - stage.log_total) for logit in logits]
            by_stage.append(probabilities)
            known = len(logits) - logits.count(-math.inf)
            # Where no other token remains, the rest is exactly 0.
            rest.append(0.0 if known == stage.kept else max(0.0, 1.0 - sum(probabilities)))
        return tuple(map(CandidateRecord, ids, zip(*by_stage, strict=True))), tuple(rest)


class Unexplained:
    """Records only the probability of the chosen token, for callers who need nothing but the text."""

    def __init__(self, log_probabilities: NDArray[np.float32]) -> None:
        self._log_probabilities = log_probabilities  # (V,), the model's own

    def log_probability(self, token: int, *, stage: int) -> float:
        """A token's log-probability in nats, the model's own; the other stages are not recorded."""
        assert stage == 0
        return float(self._log_probabilities[token])

    def choice(self, token: int, *, draw: float | None = None, attention: Tensor | None = None) -> Choice:
        """The record of the token alone; rank 0 means unknown."""
        return Choice(token, 0, draw, (), (), (), (), (), (), attention=attention)


def record(stages: Sequence[str], logits: Sequence[Tensor], top_candidates: int) -> list[Recording]:
    """One recording per row, from the (rows, V) logits after each of the named stages, the model's own first."""
    by_row = zip(*(stage.numpy() for stage in logits), strict=True)
    return [Recording(stages, of_row, top_candidates) for of_row in by_row]


def record_text(ids: Sequence[int], logits: Tensor, top_candidates: int) -> list[Choice]:
    """The tokens of a given text as choices of the model, from the (tokens, V) logits that predict each of them."""
    choices = []
    for first in range(0, len(ids), _AT_ONCE):
        rows = logits[first : first + _AT_ONCE].float().cpu()  # (rows, V)
        recordings = record(("model",), (rows,), top_candidates)
        choices += [
            recording.choice(token) for recording, token in zip(recordings, ids[first : first + _AT_ONCE], strict=True)
        ]
    return choices
