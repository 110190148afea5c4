"""Turns the logits of one row into `Choice`s: each candidate's probability after every stage, and that of the rest.

Takes the logits after each stage and the chosen token; knows neither how it was chosen nor what the stages do. All sums
are float64 over whole arrays: no Python loop runs over the vocabulary.

Shapes: S is the stages, V the vocabulary, K the tokens that a stage kept, C the candidates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from decoding.parameters.parameter import Parameter
from decoding.step import CandidateRecord, Choice
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

TOP_CANDIDATES = Parameter(
    name="top_candidates",
    default=10,
    help="How many of the most probable tokens to record at each step.",
    neutral=None,
    integer=True,
    maximum=50,
)

Ids = NDArray[np.intp]
Probabilities = NDArray[np.float64]

_AT_ONCE = 64  # rows converted to float64 at once, which limits the memory for a large vocabulary


class _Stage:
    """One row's logits after one stage, and the softmax over the remaining tokens."""

    __slots__ = ("ids", "kept", "log_total", "logits", "relative", "total", "weights")

    def __init__(
        self,
        logits: NDArray[np.float32],
        ids: Ids | None,
        largest: float,
        relative: Probabilities,
        weights: Probabilities,
    ) -> None:
        self.logits = logits  # (V,) -inf where a token was removed
        self.ids = ids  # (K,) the remaining tokens; None: all
        self.kept = relative.size
        self.relative = relative  # (K,) the logits of those less the largest
        self.weights = weights  # (K,) their exponentials
        self.total = float(weights.sum())
        self.log_total = largest + math.log(self.total)

    @classmethod
    def of_rows(cls, logits: NDArray[np.float32]) -> list[Self]:
        """A stage for every row of (R, V)."""
        present = logits > -math.inf  # (R, V)
        if present.all():
            largest = logits.max(axis=-1, keepdims=True)  # (R, 1)
            relative = np.subtract(logits, largest, dtype=np.float64)  # (R, V)
            rows = zip(logits, largest[:, 0].tolist(), relative, np.exp(relative), strict=True)
            return [cls(row, None, largest, relative, weights) for row, largest, relative, weights in rows]
        return [cls._of_few(row, np.flatnonzero(left)) for row, left in zip(logits, present, strict=True)]

    @classmethod
    def _of_few(cls, logits: NDArray[np.float32], ids: Ids) -> Self:
        """Compute over the remaining tokens only, which is what makes tracing cheap."""
        values = logits[ids]  # (K,)
        largest = values.max()
        relative = np.subtract(values, largest, dtype=np.float64)  # (K,)
        return cls(logits, ids if ids.size < logits.size else None, float(largest), relative, np.exp(relative))

    @property
    def entropy(self) -> float:
        """Bits: the log of the total less the mean relative logit."""
        # np.dot starts threads for a large vocabulary, which on a busy machine takes longer than all the rest.
        mean = float(np.einsum("k,k", self.weights, self.relative)) / self.total
        return max(0.0, (math.log(self.total) - mean) / math.log(2))

    def best(self, count: int) -> list[int]:
        """The ids of the most probable tokens, highest first, ties by id."""
        count = min(count, self.kept)
        if count == 0:
            return []
        smallest = torch.from_numpy(self.logits).topk(count).values[-1].item()  # NumPy's partition takes twice as long
        ids = np.flatnonzero(self.logits >= smallest)  # ascending; more than count where others tie with the last
        return ids[np.argsort(-self.logits[ids], kind="stable")[:count]].tolist()

    def mass_kept_by(self, following: _Stage) -> float:
        """The share of this stage's probability that is left after the following stage."""
        if following.ids is None or following.kept == self.kept:
            return 1.0  # exactly, without rounding
        left = following.ids if self.ids is None else following.logits[self.ids] > -math.inf  # (K,) ids or a mask
        return min(1.0, float(self.weights[left].sum()) / self.total)


class Recording:
    """One row: the probabilities and ranks of its tokens."""

    def __init__(self, names: Sequence[str], stages: Sequence[_Stage], top_candidates: int) -> None:
        self._names = tuple(names)
        self._stages = tuple(stages)
        self._kept = tuple(stage.kept for stage in self._stages)
        self._top_candidates = top_candidates

    def log_probability(self, token: int, *, stage: int) -> float:
        """In nats; stage 0 is the model's own, -1 the last one, which the token was chosen from."""
        found = self._stages[stage]
        return float(found.logits[token]) - found.log_total

    def final_probabilities(self) -> tuple[Ids, Probabilities]:
        """The tokens that survived every stage, by id, and their probabilities: (K,) each."""
        final = self._stages[-1]
        ids = np.arange(final.kept) if final.ids is None else final.ids
        return ids, final.weights / final.total

    def best(self, count: int) -> tuple[tuple[int, float], ...]:
        """The most probable tokens that survived every stage and their probabilities, highest first, ties by id."""
        final = self._stages[-1]
        ids = final.best(count)
        probabilities = np.exp(final.logits[ids].astype(np.float64) - final.log_total)
        return tuple(zip(ids, probabilities.tolist(), strict=True))

    def choice(self, token: int, *, draw: float | None = None, attention: Tensor | None = None) -> Choice:
        """The record of having chosen this token."""
        candidates, rest = self._top
        best = [candidate.id for candidate in candidates]
        if token in best:
            rank = 1 + best.index(token)
        else:
            rank = self._rank(token)
            candidates, rest = self._describe([*best, token])
        return Choice(
            token=token,
            rank=rank,
            draw=draw,
            stages=self._names,
            kept=self._kept,
            candidates=candidates,
            rest=rest,
            mass=self._mass,
            stage_entropy=self._entropy,
            attention=attention,
        )

    @cached_property
    def _entropy(self) -> tuple[float, ...]:
        return tuple(stage.entropy for stage in self._stages)

    @cached_property
    def _mass(self) -> tuple[float, ...]:
        return (1.0, *(before.mass_kept_by(after) for before, after in pairwise(self._stages)))

    @cached_property
    def _top(self) -> tuple[tuple[CandidateRecord, ...], tuple[float, ...]]:
        """The best by the model's probability, ties by id; computed once for all beams that continue this row."""
        return self._describe(self._stages[0].best(self._top_candidates))

    def _describe(self, ids: list[int]) -> tuple[tuple[CandidateRecord, ...], tuple[float, ...]]:
        """These candidates with their probabilities, and the probability of all others, per stage."""
        logits = np.array([stage.logits[ids] for stage in self._stages], dtype=np.float64)  # (S, C)
        totals = np.array([stage.log_total for stage in self._stages])  # (S,)
        probabilities = np.exp(logits - totals[:, None])  # (S, C)
        shown = np.count_nonzero(logits > -math.inf, axis=-1)  # (S,)
        # Where no other token remains, the rest is exactly 0.
        rest = tuple(
            0.0 if kept == known else max(0.0, 1.0 - mass)
            for kept, known, mass in zip(self._kept, shown.tolist(), probabilities.sum(axis=-1).tolist(), strict=True)
        )
        columns = probabilities.T.tolist()  # C lists of S
        return tuple(CandidateRecord(token, tuple(column)) for token, column in zip(ids, columns, strict=True)), rest

    def _rank(self, token: int) -> int:
        """From 1, by the model's own probability, ties by id."""
        model = self._stages[0].logits
        better = np.count_nonzero(model > model[token])
        return 1 + int(better + np.count_nonzero(model[:token] == model[token]))


class Unexplained:
    """Records only the probability of the chosen token, for callers who need nothing but the text."""

    def __init__(self, log_probabilities: Tensor) -> None:
        self._log_probabilities = log_probabilities.numpy()  # (V,), the model's own

    def log_probability(self, token: int, *, stage: int) -> float:
        """In nats, the model's own; the other stages are not recorded."""
        assert stage == 0
        return float(self._log_probabilities[token])

    def choice(self, token: int, *, draw: float | None = None, attention: Tensor | None = None) -> Choice:
        """Only the token; rank 0 means unknown."""
        return Choice(token, 0, draw, (), (), (), (), (), (), attention=attention)


def record(stages: Sequence[str], logits: Sequence[Tensor], top_candidates: int) -> list[Recording]:
    """One recording per row, from the (rows, V) logits after each of the named stages, the model's own first."""
    by_stage = [_Stage.of_rows(stage.numpy()) for stage in logits]
    return [Recording(stages, of_row, top_candidates) for of_row in zip(*by_stage, strict=True)]


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
