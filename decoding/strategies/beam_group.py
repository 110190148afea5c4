"""The beam search of one group: its living hypotheses, and the texts that it has finished.

Every step takes the best continuations of all living hypotheses together, or draws some of them. Those that end go to
the list of finished texts, the best of the others live on, and the search is over when none of them could rank among
the finished ones any more. The semantics are those of transformers 5.23. Knows nothing of models or text.

Shapes: R is the rows of the pass, r those of the group, V the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decoding.recorder import Recording, Unexplained
from decoding.request import Request
from decoding.step import Dropped, DropReason, FinishReason, Hypothesis
from decoding.stop import Stop
from decoding.strategies.base import StrategyOptions, newest_attention
from decoding.strategies.hypotheses import BeamHypotheses
from decoding.strategies.sampling import draw_without_replacement
from decoding.uniform import UniformStream
from model.interface import Forward
from model.lazy import LazyModule, torch

if TYPE_CHECKING:
    from torch import Tensor

    from decoding import vocabulary_sums as sums
else:
    sums = LazyModule(resolve_name("..vocabulary_sums", str(__package__)))

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LivingBeam:
    """What the search needs to know of a living hypothesis; its record may be large and is left to the caller."""

    tokens: tuple[int, ...] = ()
    score: float = 0.0  # a float32 sum, as in transformers: near ties fall the same way
    log_probability: float = 0.0


@dataclass(frozen=True, slots=True)
class ProcessedPass:
    """One pass of the model, and what the processors made of it."""

    forward: Forward[Any]
    log_probabilities: Tensor  # (R, V), the model's own
    names: tuple[str, ...]  # the names of the stages
    stages: tuple[Tensor, ...]  # (R, V) each, for the record: the model's logits, then the output of each processor
    final: Tensor  # (R, V) log-probabilities after all processors, not renormalised


@dataclass(slots=True)
class GroupStep:
    """One step of one group."""

    living: list[Hypothesis]
    unfinished: list[Hypothesis] = field(default_factory=list)  # those that were living when the search ended
    ended: list[Hypothesis] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)

    @property
    def hypotheses(self) -> list[Hypothesis]:
        return [*self.living, *self.unfinished, *self.ended]


class _Continuation(NamedTuple):
    """One more token for one of the rows."""

    score: float
    row: int  # within the group
    token: int
    draw: float | None
    reason: FinishReason | None


class BeamGroup:
    """One search. `beams` are its living hypotheses (none once it is over); `first` is their first row in a pass."""

    def __init__(
        self, number: int, size: int, request: Request, options: StrategyOptions, stop: Stop, finished: BeamHypotheses
    ) -> None:
        """With a seed, continuations are drawn without replacement; without, the best are taken.

        Args:
            number: the number of the group, from 0.
            size: how many hypotheses may live.
            finished: the list of finished texts, which is still empty.
        """
        self.beams: tuple[LivingBeam, ...] = (LivingBeam(),)  # before the first step, the prompt
        self.first = 0
        self.finished = finished
        self._number = number
        self._size = size
        self._request = request
        self._options = options
        self._stop = stop
        # Enough continuations that all beams could live on even if every row's end tokens were the best.
        self._num_continuations = max(2, 1 + len(request.end_tokens)) * size
        self._stream = None
        if options.seed is not None:
            self._stream = UniformStream(options.seed, skip=request.options.draws_used * self._num_continuations)

    def advance(self, processed: ProcessedPass, penalty: Tensor | None) -> GroupStep:
        """Decide from a pass what lives on, what ends and what is dropped.

        Args:
            penalty: (V,), subtracted from the scores of all rows as one more stage named `DIVERSITY`; None for no such
                stage.
        """
        rows = slice(self.first, self.first + len(self.beams))
        stages, final = [stage[rows] for stage in processed.stages], processed.final[rows]  # (r, V)
        if penalty is not None:
            final = final - penalty
            stages.append(final)
        step_scores = final.numpy()  # (r, V); NumPy returns single numbers much faster
        scores = np.array([beam.score for beam in self.beams], np.float32)
        totals = step_scores + scores[:, None]  # (r, V)
        continuations = self._continuations(totals)
        # A continuation that ends counts only if it is among the first. The best of the others live on, as many as
        # there are beams.
        ending = [continuation for continuation in continuations[: self._size] if continuation.reason]
        going_on = [continuation for continuation in continuations if not continuation.reason]
        going_on = sorted(going_on, key=lambda continuation: -continuation.score)[: self._size]

        parents = sorted({continuation.row for continuation in (*going_on, *ending)})
        recordings = dict(zip(parents, self._record(processed, stages, parents), strict=True))
        keys = len(self._request.prompt) + len(self.beams[0].tokens)
        attention = {row: newest_attention(processed.forward, self.first + row, keys) for row in parents}

        def hypothesis(continuation: _Continuation) -> Hypothesis:
            score, row, token, draw, reason = continuation
            parent, recording = self.beams[row], recordings[row]
            return Hypothesis(
                tokens=(*parent.tokens, token),
                score=score,
                step_score=float(step_scores[row, token]),
                log_probability=parent.log_probability + recording.log_probability(token, stage=0),
                parent=self.first + row,
                choice=recording.choice(token, draw=draw, attention=attention[row]),
                finish_reason=reason,
                final_score=self.finished.final_score(score, len(parent.tokens) + 1) if reason else None,
                group=self._number,
            )

        step = GroupStep([hypothesis(each) for each in going_on], ended=[hypothesis(each) for each in ending])
        outranked = self.finished.add(step.ended)
        if self._request.options.explained:
            step.dropped = [*self._not_continued(step, totals, continuations), *outranked]
        self._close(step)
        return step

    def _record(
        self, processed: ProcessedPass, stages: Sequence[Tensor], rows: Sequence[int]
    ) -> Sequence[Recording | Unexplained]:
        """A recording for each of these rows of the group."""
        if self._request.options.explained:
            of_rows = [stage.numpy() for stage in stages]  # (r, V) each
            names, count = processed.names, self._options.top_candidates
            return [Recording(names, [stage[row] for stage in of_rows], count) for row in rows]
        log_probabilities = processed.log_probabilities.numpy()  # (R, V)
        return [Unexplained(log_probabilities[self.first + row]) for row in rows]

    def _continuations(self, totals: Scores) -> list[_Continuation]:
        """The best continuations of all rows together, best first; or the drawn ones, in the order of the draws."""
        flat, vocabulary = totals.reshape(-1), totals.shape[-1]  # (r * V,)

        def scored(indices: Sequence[int], draws: Sequence[float | None]) -> list[_Continuation]:
            continuations = []
            for score, index, draw in zip(flat[indices].tolist(), indices, draws, strict=False):
                row, token = divmod(index, vocabulary)
                if score > -math.inf:
                    reason = self._stop.reason((*self.beams[row].tokens, token))
                    continuations.append(_Continuation(score, row, token, draw, reason))
            return continuations

        if self._stream is not None:
            # Every step draws equally many numbers, needed or not, so that a continued run knows how many were drawn.
            draws = [self._stream.next() for _ in range(self._num_continuations)]
            probabilities = torch.from_numpy(flat).double().softmax(dim=-1)
            return scored(draw_without_replacement(draws, probabilities.numpy()), draws)
        count = min(self._num_continuations, flat.size)
        while True:
            continuations = scored(sums.best_tokens(flat, count).tolist(), [None] * count)
            going_on = sum(not continuation.reason for continuation in continuations)
            enough = going_on >= self._size or len(continuations) < count or count == flat.size
            if enough or not self._stop.stop_texts or len(self.beams[0].tokens) + 1 >= self._stop.limit:
                return continuations
            count = min(4 * count, flat.size)  # stop texts may end more of them than there are end tokens

    def _not_continued(self, step: GroupStep, totals: Scores, continuations: Sequence[_Continuation]) -> list[Dropped]:
        """The living hypotheses of the previous step that nothing continues."""
        rows = sorted(set(range(len(self.beams))) - {child.parent - self.first for child in step.living})
        if not rows or not self.beams[0].tokens:  # before the first token there is no hypothesis
            return []
        with_ends = {child.parent - self.first for child in step.ended}
        drawn = {continuation.row for continuation in continuations}
        to_beat = min(child.score for child in step.living or step.ended)
        dropped_totals = totals[rows]  # (dropped rows, V), a copy
        if step.living:
            dropped_totals[:, [token for token in self._request.end_tokens if token < totals.shape[-1]]] = -math.inf
        dropped = []
        for row, score in zip(rows, dropped_totals.max(axis=-1).tolist(), strict=True):
            reason: DropReason = "outscored" if row in drawn or self._stream is None else "not drawn"
            if row in with_ends:
                reason = "ended"
            best = score if score > -math.inf else None
            tokens = self.beams[row].tokens
            dropped.append(Dropped(reason, tokens, self.first + row, best, to_beat, self._number))
        return dropped

    def _close(self, step: GroupStep) -> None:
        """End the search if none of its living hypotheses could still rank among the finished ones."""
        if not step.living:
            return
        length = len(step.living[0].tokens)
        if self.finished.closes(step.living[0].score, length):
            step.living, step.unfinished = [], step.living
            for hypothesis in step.unfinished:
                best = self.finished.best_final_score(hypothesis.score, length)
                dropped = Dropped("search over", hypothesis.tokens, None, best, self.finished.to_beat, self._number)
                step.dropped.append(dropped)
