"""Beam search, beams that sample, and diverse groups of beams.

Every step looks at the best continuations of all living hypotheses together, or draws some of them. Those that end go
to the bank of finished texts, the best of the others live on, and the search is over when none of them could get into
the bank any more. Diverse beams are several such searches side by side, one group after the other in every step, each
kept away from what the groups before it said.

The first two have the semantics of transformers 5.23, the third is that of Vijayakumar et al. 2016 ("Diverse Beam
Search", algorithm 1) with Hamming diversity. Knows nothing of models or text.

Shapes: R is the living rows, r those of one group, V the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from decoding.bank import Bank, EarlyStopping, best_first
from decoding.processors import Context, run_chain
from decoding.recorder import Recording, Unexplained, record
from decoding.sampling import Draws, places_without_replacement
from decoding.step import Dropped, FinishReason, Hypothesis, Step
from decoding.stop import Stop
from decoding.strategy import Request, Terms, newest_attention, usable_logits
from model.interface import Forward, Want

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
    """One search: where its living hypotheses stand among all rows, and what it has finished."""

    number: int
    bank: Bank
    rows: range = range(1)  # before the first step, the prompt's; none once the search is over


@dataclass(slots=True)
class _Turn:
    """What one step made of one group."""

    lives_on: list[Hypothesis]
    left: list[Hypothesis] = field(default_factory=list)  # unfinished when the search ended
    ended: list[Hypothesis] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)

    @property
    def made(self) -> list[Hypothesis]:
        return [*self.lives_on, *self.left, *self.ended]


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
        terms: Terms,
        *,
        num_beams: int,
        length_penalty: float = 1.0,
        early_stopping: EarlyStopping = "false",
        num_return_sequences: int = 1,
        num_beam_groups: int = 1,
        diversity_penalty: float = 0.0,
        seed: int | None = None,
    ) -> None:
        """
        Args:
            num_beam_groups: a divisor of `num_beams`; with more than one, a token costs `diversity_penalty` for every
                hypothesis of an earlier group that takes it in the same step. Ends cost nothing.
            seed: where continuations are drawn, without replacement, instead of being the best.
        """
        self.want = Want(attention=request.attention)
        self._request = request
        self._terms = terms
        self._stop = Stop.of(request, terms)
        self._size = num_beams // num_beam_groups  # of a group
        self._returned = num_return_sequences
        self._diversity_penalty = diversity_penalty
        # Enough continuations that all beams could live on even if every row's end tokens were the best.
        self._wanted = max(2, 1 + len(request.end_tokens)) * self._size
        self._draws = None if seed is None else Draws(seed, request.drawn * self._wanted)
        stages = ["model", *(processor.name for processor in self._terms.processors)]
        self._stages = (*stages, DIVERSITY) if num_beam_groups > 1 else tuple(stages)
        self._rows: tuple[_Row, ...] = (_Row(),)
        self._groups = tuple(
            _Group(
                number,
                Bank(
                    self._size,
                    length_penalty=length_penalty,
                    early_stopping=early_stopping,
                    limit=self._stop.limit,
                    forced=request.forced,
                ),
            )
            for number in range(num_beam_groups)
        )

    def advance(self, forward: Forward[Any]) -> Step:
        logits = usable_logits(forward.logits, len(self._rows[0].tokens))  # (R, V)
        context = Context(self._request.prompt, tuple(row.tokens for row in self._rows))
        log_probabilities = logits.log_softmax(dim=-1)  # (R, V)
        processed = run_chain(self._terms.processors, log_probabilities, context)
        # The model's own stage shows its logits untouched; the softmax of either is the same distribution.
        seen = _Pass(forward, log_probabilities, (logits, *processed[1:]), processed[-1])
        said = torch.zeros(logits.shape[-1])  # (V,) how often earlier groups have taken each token in this step
        turns: list[_Turn] = []
        for group in self._groups:
            if group.rows:
                turns.append(self._turn(group, seen, said))
                for one in turns[-1].made:
                    if one.tokens[-1] not in self._request.end_tokens:
                        said[one.tokens[-1]] += 1
        return self._step(turns)

    def _step(self, turns: Sequence[_Turn]) -> Step:
        """What all groups have made, and which rows they have from now on."""
        living = [one for turn in turns for one in turn.lives_on]
        left = [one for turn in turns for one in turn.left]
        ended = [one for turn in turns for one in turn.ended]
        self._rows = tuple(_Row(one.tokens, one.score, one.log_probability) for one in living)
        for group in self._groups:
            places = [place for place, one in enumerate(living) if one.group == group.number]
            group.rows = range(places[0], places[-1] + 1) if places else range(0)
        hypotheses = (*living, *left, *ended)
        dropped = tuple(one for turn in turns for one in turn.dropped)
        if not living:
            banked = best_first(one for group in self._groups for one in group.bank.kept)
            return Step(hypotheses, best=banked[0], returned=tuple(banked[: self._returned]), dropped=dropped)
        return Step(
            hypotheses,
            best=max(living, key=lambda one: one.score),
            feed=tuple(one.tokens[-1] for one in living),
            parents=tuple(one.parent for one in living),
            dropped=dropped,
        )

    def _turn(self, group: _Group, seen: _Pass, said: Tensor) -> _Turn:
        """One group's share of a step."""
        first, last = group.rows.start, group.rows.stop
        stages, final = [stage[first:last] for stage in seen.stages], seen.final[first:last]  # (r, V)
        if self._stages[-1] == DIVERSITY:
            final = final - self._diversity_penalty * said
            stages.append(final)
        scores = torch.tensor([self._rows[row].score for row in group.rows])  # (r,) float32
        totals = final + scores[:, None]  # (r, V)
        offered = self._continuations(totals, first)
        # Of the continuations that end, only those among the first count; of the others, as many as there are beams.
        ending = [one for place, one in enumerate(offered) if one.reason and place < self._size]
        going = [one for one in offered if not one.reason]
        going = sorted(going, key=lambda one: -one.score)[: self._size]

        used = sorted({one.row for one in (*going, *ending)})
        picked = [row - first for row in used]
        recordings: Sequence[Recording | Unexplained]
        if self._request.explained:
            recordings = record(self._stages, [stage[picked] for stage in stages], self._terms.top_candidates)
        else:
            recordings = [Unexplained(seen.log_probabilities[row]) for row in used]
        keys = len(self._request.prompt) + len(self._rows[first].tokens)
        told = {
            row: (recording, newest_attention(seen.forward, row, keys))
            for row, recording in zip(used, recordings, strict=True)
        }

        added = final.numpy()  # (r, V); one number at a time comes out of NumPy much faster

        def hypothesis(one: _Continuation) -> Hypothesis:
            row, (recording, attention) = self._rows[one.row], told[one.row]
            length = len(row.tokens) + 1
            return Hypothesis(
                tokens=(*row.tokens, one.token),
                score=one.score,
                step_score=float(added[one.row - first, one.token]),
                log_probability=row.log_probability + recording.log_probability(one.token, stage=0),
                parent=one.row,
                choice=recording.choice(one.token, draw=one.draw, attention=attention),
                finish_reason=one.reason,
                final_score=group.bank.final_score(one.score, length) if one.reason else None,
                group=group.number,
            )

        turn = _Turn([hypothesis(one) for one in going], ended=[hypothesis(one) for one in ending])
        outranked = group.bank.add(turn.ended)
        turn.dropped = [*self._died(group, turn, totals, offered), *outranked] if self._request.explained else []
        self._close(group, turn)
        return turn

    def _continuations(self, totals: Tensor, first: int) -> list[_Continuation]:
        """The best continuations of a group's rows together, best first; or those drawn, in the order of the draws."""
        flat, vocabulary = totals.flatten(), totals.shape[-1]  # (r * V,)

        def judged(indices: Sequence[int], draws: Sequence[float | None]) -> list[_Continuation]:
            continuations = []
            for score, index, draw in zip(flat.numpy()[indices].tolist(), indices, draws, strict=False):
                row, token = divmod(index, vocabulary)
                if score > -math.inf:
                    reason = self._stop.reason((*self._rows[first + row].tokens, token))
                    continuations.append(_Continuation(score, first + row, token, draw, reason))
            return continuations

        if self._draws is not None:
            draws = [self._draws.next() for _ in range(self._wanted)]  # as many in every step, needed or not
            return judged(places_without_replacement(draws, flat.double().softmax(dim=-1).numpy()), draws)
        count = min(self._wanted, flat.numel())
        while True:
            offered = judged(flat.topk(count).indices.tolist(), [None] * count)
            going = sum(not one.reason for one in offered)
            enough = going >= self._size or len(offered) < count or count == flat.numel()
            if enough or not self._stop.stop_texts or len(self._rows[first].tokens) + 1 >= self._stop.limit:
                return offered
            count = min(4 * count, flat.numel())  # stop texts may end more of them than there are end tokens

    def _died(self, group: _Group, turn: _Turn, totals: Tensor, offered: Sequence[_Continuation]) -> list[Dropped]:
        """The living hypotheses of the step before that nothing continues."""
        dead = sorted(set(group.rows) - {one.parent for one in turn.lives_on})
        if not dead or not self._rows[dead[0]].tokens:  # the empty text is nobody's hypothesis
            return []
        with_ends = {one.parent for one in turn.ended}
        drawn = {one.row for one in offered}
        survivors = turn.lives_on or turn.ended
        going_on = totals[[row - group.rows.start for row in dead]]  # (dead rows, V), a copy
        if turn.lives_on:
            going_on[:, [token for token in self._request.end_tokens if token < totals.shape[-1]]] = -math.inf
        dropped = []
        for row, score in zip(dead, going_on.amax(dim=-1).tolist(), strict=True):
            reason = (
                "ended" if row in with_ends else "outscored" if row in drawn or self._draws is None else "not drawn"
            )
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

    def _close(self, group: _Group, turn: _Turn) -> None:
        """End the group's search where none of its living hypotheses could get into the bank any more."""
        if not turn.lives_on:
            return
        length = len(turn.lives_on[0].tokens)
        if group.bank.closes(turn.lives_on[0].score, length):
            turn.lives_on, turn.left = [], turn.lives_on
            to_beat = group.bank.to_beat
            turn.dropped += [
                Dropped("search over", one.tokens, None, group.bank.outlook(one.score, length), to_beat, group.number)
                for one in turn.left
            ]
