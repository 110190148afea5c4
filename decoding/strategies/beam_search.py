"""Beam search, beams that sample, and diverse groups of beams.

Every step takes the best continuations of all living hypotheses together, or draws some of them. Those that end go to
the list of finished texts, the best of the others live on, and the search is over when none of them could rank among
those any more. Diverse beams are several such searches, one group after the other in every step, each kept away from
the tokens that the groups before it took.

The first two have the semantics of transformers 5.23, the third is that of Vijayakumar et al. 2016 ("Diverse Beam
Search", algorithm 1) with Hamming diversity. Knows nothing of models or text.

Shapes: R is the living rows, r those of one group, V the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from decoding.processors import Context, run_chain
from decoding.recorder import Recording, Unexplained, record
from decoding.request import Request
from decoding.step import Dropped, DropReason, FinishReason, Hypothesis, Step
from decoding.stop import Stop
from decoding.strategies.base import StrategyOptions, newest_attention, usable_logits
from decoding.strategies.hypotheses import BeamHypotheses, EarlyStopping, best_first
from decoding.strategies.sampling import draw_without_replacement
from decoding.uniform import UniformStream
from model.interface import Forward, Want
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

DIVERSITY = "diversity"  # the stage that keeps groups apart, the last of their chain


@dataclass(frozen=True, slots=True)
class _Row:
    """What the search itself needs of a living hypothesis."""

    tokens: tuple[int, ...] = ()
    score: float = 0.0  # a float32 sum, as in transformers: near ties fall the same way
    log_probability: float = 0.0


class _Continuation(NamedTuple):
    """One more token for one of the rows."""

    score: float
    row: int
    token: int
    draw: float | None
    reason: FinishReason | None


@dataclass(slots=True)
class _Group:
    """One search: its living hypotheses among all rows, and its finished texts."""

    number: int
    finished: BeamHypotheses
    rows: range = range(1)  # before the first step, the prompt's; none once the search is over


@dataclass(slots=True)
class _GroupStep:
    """One step of one group."""

    living: list[Hypothesis]
    unfinished: list[Hypothesis] = field(default_factory=list)  # those that were living when the search ended
    ended: list[Hypothesis] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)

    @property
    def hypotheses(self) -> list[Hypothesis]:
        return [*self.living, *self.unfinished, *self.ended]


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass through the model and the chain."""

    forward: Forward[Any]
    log_probabilities: Tensor  # (R, V), the model's own
    stages: tuple[Tensor, ...]  # (R, V) each, as they are shown: the model's logits, then what the chain made of them
    final: Tensor  # (R, V) log-probabilities after the chain, not renormalised


class BeamSearch:
    """The search of one request; processors run on log-probabilities, and what comes out is not renormalised."""

    def __init__(
        self,
        request: Request,
        options: StrategyOptions,
        *,
        num_beams: int,
        length_penalty: float = 1.0,
        early_stopping: EarlyStopping = "false",
        num_return_sequences: int = 1,
        num_beam_groups: int = 1,
        diversity_penalty: float = 0.0,
    ) -> None:
        """With a seed, continuations are drawn without replacement; without, the best are taken.

        Args:
            num_beam_groups: a divisor of `num_beams`; with more than one, a token costs `diversity_penalty` for every
                hypothesis of an earlier group that takes it in the same step. Ends cost nothing.
        """
        self.want = Want(attention=request.attention)
        self._request = request
        self._options = options
        self._stop = Stop.of(request, options.max_new_tokens, options.stop_texts)
        self._size = num_beams // num_beam_groups  # of a group
        self._returned = num_return_sequences
        self._diversity_penalty = diversity_penalty
        # Enough continuations that all beams could live on even if every row's end tokens were the best.
        self._wanted = max(2, 1 + len(request.end_tokens)) * self._size
        self._stream = None
        if options.seed is not None:
            self._stream = UniformStream(options.seed, skip=request.draws_used * self._wanted)
        stages = ["model", *(processor.name for processor in self._options.processors)]
        self._stages = (*stages, DIVERSITY) if num_beam_groups > 1 else tuple(stages)
        self._rows: tuple[_Row, ...] = (_Row(),)
        self._groups = tuple(
            _Group(
                number,
                BeamHypotheses(
                    self._size,
                    length_penalty=length_penalty,
                    early_stopping=early_stopping,
                    limit=self._stop.limit,
                    forced_tokens=request.forced_tokens,
                ),
            )
            for number in range(num_beam_groups)
        )

    def advance(self, forward: Forward[Any]) -> Step:
        logits = usable_logits(forward.logits, len(self._rows[0].tokens))  # (R, V)
        context = Context(self._request.prompt, tuple(row.tokens for row in self._rows))
        log_probabilities = logits.log_softmax(dim=-1)  # (R, V)
        processed = run_chain(self._options.processors, log_probabilities, context)
        # The model's own stage shows its logits untouched; the softmax of either is the same distribution.
        passed = _Pass(forward, log_probabilities, (logits, *processed[1:]), processed[-1])
        taken = torch.zeros(logits.shape[-1])  # (V,) how often earlier groups have taken each token in this step
        steps: list[_GroupStep] = []
        for group in self._groups:
            if group.rows:
                steps.append(self._advance_group(group, passed, taken))
                for one in steps[-1].hypotheses:
                    if one.tokens[-1] not in self._request.end_tokens:
                        taken[one.tokens[-1]] += 1
        return self._merge(steps)

    def _merge(self, steps: Sequence[_GroupStep]) -> Step:
        """The step of all groups together; sets the rows that each has from now on."""
        living = [one for step in steps for one in step.living]
        unfinished = [one for step in steps for one in step.unfinished]
        ended = [one for step in steps for one in step.ended]
        self._rows = tuple(_Row(one.tokens, one.score, one.log_probability) for one in living)
        for group in self._groups:
            rows = [row for row, one in enumerate(living) if one.group == group.number]
            group.rows = range(rows[0], rows[-1] + 1) if rows else range(0)
        hypotheses = (*living, *unfinished, *ended)
        dropped = tuple(one for step in steps for one in step.dropped)
        if not living:
            ranked = best_first(one for group in self._groups for one in group.finished.kept)
            return Step(hypotheses, best=ranked[0], returned=tuple(ranked[: self._returned]), dropped=dropped)
        return Step(
            hypotheses,
            best=max(living, key=lambda one: one.score),
            feed=tuple(one.tokens[-1] for one in living),
            parents=tuple(one.parent for one in living),
            dropped=dropped,
        )

    def _advance_group(self, group: _Group, passed: _Pass, taken: Tensor) -> _GroupStep:
        first, last = group.rows.start, group.rows.stop
        stages, final = [stage[first:last] for stage in passed.stages], passed.final[first:last]  # (r, V)
        if self._stages[-1] == DIVERSITY:
            final = final - self._diversity_penalty * taken
            stages.append(final)
        scores = torch.tensor([self._rows[row].score for row in group.rows])  # (r,) float32
        totals = final + scores[:, None]  # (r, V)
        offered = self._continuations(totals, first)
        # Of the continuations that end, only those among the first count; of the others, as many as there are beams.
        ending = [one for one in offered[: self._size] if one.reason]
        going = [one for one in offered if not one.reason]
        going = sorted(going, key=lambda one: -one.score)[: self._size]

        used = sorted({one.row for one in (*going, *ending)})
        picked = [row - first for row in used]
        recordings: Sequence[Recording | Unexplained]
        if self._request.explained:
            recordings = record(self._stages, [stage[picked] for stage in stages], self._options.top_candidates)
        else:
            recordings = [Unexplained(passed.log_probabilities[row]) for row in used]
        keys = len(self._request.prompt) + len(self._rows[first].tokens)
        recorded = {
            row: (recording, newest_attention(passed.forward, row, keys))
            for row, recording in zip(used, recordings, strict=True)
        }

        added = final.numpy()  # (r, V); one number at a time comes out of NumPy much faster

        def hypothesis(one: _Continuation) -> Hypothesis:
            row, (recording, attention) = self._rows[one.row], recorded[one.row]
            length = len(row.tokens) + 1
            return Hypothesis(
                tokens=(*row.tokens, one.token),
                score=one.score,
                step_score=float(added[one.row - first, one.token]),
                log_probability=row.log_probability + recording.log_probability(one.token, stage=0),
                parent=one.row,
                choice=recording.choice(one.token, draw=one.draw, attention=attention),
                finish_reason=one.reason,
                final_score=group.finished.final_score(one.score, length) if one.reason else None,
                group=group.number,
            )

        step = _GroupStep([hypothesis(one) for one in going], ended=[hypothesis(one) for one in ending])
        outranked = group.finished.add(step.ended)
        step.dropped = (
            [*self._not_continued(group, step, totals, offered), *outranked] if self._request.explained else []
        )
        self._close(group, step)
        return step

    def _continuations(self, totals: Tensor, first: int) -> list[_Continuation]:
        """The best continuations of a group's rows together, best first; or those drawn, in the order of the draws."""
        flat, vocabulary = totals.flatten(), totals.shape[-1]  # (r * V,)

        def scored(indices: Sequence[int], draws: Sequence[float | None]) -> list[_Continuation]:
            continuations = []
            for score, index, draw in zip(flat.numpy()[indices].tolist(), indices, draws, strict=False):
                row, token = divmod(index, vocabulary)
                if score > -math.inf:
                    reason = self._stop.reason((*self._rows[first + row].tokens, token))
                    continuations.append(_Continuation(score, first + row, token, draw, reason))
            return continuations

        if self._stream is not None:
            draws = [self._stream.next() for _ in range(self._wanted)]  # as many in every step, needed or not
            return scored(draw_without_replacement(draws, flat.double().softmax(dim=-1).numpy()), draws)
        count = min(self._wanted, flat.numel())
        while True:
            offered = scored(flat.topk(count).indices.tolist(), [None] * count)
            going = sum(not one.reason for one in offered)
            enough = going >= self._size or len(offered) < count or count == flat.numel()
            if enough or not self._stop.stop_texts or len(self._rows[first].tokens) + 1 >= self._stop.limit:
                return offered
            count = min(4 * count, flat.numel())  # stop texts may end more of them than there are end tokens

    def _not_continued(
        self, group: _Group, step: _GroupStep, totals: Tensor, offered: Sequence[_Continuation]
    ) -> list[Dropped]:
        """The living hypotheses of the previous step that nothing continues."""
        dead = sorted(set(group.rows) - {one.parent for one in step.living})
        if not dead or not self._rows[dead[0]].tokens:  # before the first token there is no hypothesis
            return []
        with_ends = {one.parent for one in step.ended}
        drawn = {one.row for one in offered}
        survivors = step.living or step.ended
        going_on = totals[[row - group.rows.start for row in dead]]  # (dead rows, V), a copy
        if step.living:
            going_on[:, [token for token in self._request.end_tokens if token < totals.shape[-1]]] = -math.inf
        dropped = []
        for row, score in zip(dead, going_on.amax(dim=-1).tolist(), strict=True):
            reason: DropReason = "outscored" if row in drawn or self._stream is None else "not drawn"
            if row in with_ends:
                reason = "ended"
            dropped.append(
                Dropped(
                    reason,
                    self._rows[row].tokens,
                    row,
                    score if score > -math.inf else None,
                    min(one.score for one in survivors),
                    group.number,
                )
            )
        return dropped

    def _close(self, group: _Group, step: _GroupStep) -> None:
        """End the group's search where none of its living hypotheses could rank among the finished ones any more."""
        if not step.living:
            return
        length = len(step.living[0].tokens)
        if group.finished.closes(step.living[0].score, length):
            step.living, step.unfinished = [], step.living
            to_beat = group.finished.to_beat
            step.dropped += [
                Dropped(
                    "search over",
                    one.tokens,
                    None,
                    group.finished.best_final_score(one.score, length),
                    to_beat,
                    group.number,
                )
                for one in step.unfinished
            ]
