"""Beam search, beams that sample, and diverse groups of beams.

A search is one group of beams (`beam_group.py`) or several. In every step they take turns, and each avoids the tokens
that the groups before it took. One group has the semantics of transformers 5.23; several are those of
Vijayakumar et al. 2016 ("Diverse Beam Search", algorithm 1) with Hamming diversity. Knows nothing of models or text.

Shapes: R is the living rows of all groups, V the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from decoding.processors import Context, run_chain
from decoding.request import Request
from decoding.step import Hypothesis, Step
from decoding.stop import Stop
from decoding.strategies.base import StrategyOptions, usable_logits
from decoding.strategies.beam_group import BeamGroup, GroupStep, LivingBeam, ProcessedPass
from decoding.strategies.hypotheses import BeamHypotheses, EarlyStopping, best_first
from model.interface import Forward, Want
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

DIVERSITY = "diversity"  # the stage that keeps groups apart, which comes last


class BeamSearch:
    """The search of one request; processors run on log-probabilities, and their output is not renormalised."""

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
                hypothesis of an earlier group that takes it in the same step. End tokens cost nothing.
        """
        self.want = Want(attention=request.options.attention)
        self._request = request
        self._processors = options.processors
        self._num_return_sequences = num_return_sequences
        self._diversity_penalty = diversity_penalty
        names = ("model", *(processor.name for processor in options.processors))
        self._stages = (*names, DIVERSITY) if num_beam_groups > 1 else names
        self._tokens: tuple[tuple[int, ...], ...] = ((),)  # one for every living row
        stop = Stop.of(request, options.max_new_tokens, options.stop_texts)
        size = num_beams // num_beam_groups

        def group(number: int) -> BeamGroup:
            finished = BeamHypotheses(
                size,
                length_penalty=length_penalty,
                early_stopping=early_stopping,
                limit=stop.limit,
                forced_tokens=request.forced_tokens,
            )
            return BeamGroup(number, size, request, options, stop, finished)

        self._groups = tuple(group(number) for number in range(num_beam_groups))

    def advance(self, forward: Forward[Any]) -> Step:
        logits = usable_logits(forward.logits, len(self._tokens[0]))  # (R, V)
        context = Context(self._request.prompt, self._tokens)
        log_probabilities = logits.log_softmax(dim=-1)  # (R, V)
        outputs = run_chain(self._processors, log_probabilities, context)
        # The model's own stage shows its logits untouched; the softmax of either is the same distribution.
        processed = ProcessedPass(forward, log_probabilities, self._stages, (logits, *outputs[1:]), outputs[-1])
        steps: list[GroupStep] = []
        for group in self._groups:
            if group.beams:
                penalty = self._penalty(steps, logits.shape[-1]) if len(self._groups) > 1 else None
                steps.append(group.advance(processed, penalty))
        return self._merge(steps)

    def _penalty(self, steps: Sequence[GroupStep], vocabulary: int) -> Tensor:
        """What each token (V,) costs because hypotheses of earlier groups have taken it in this step."""
        counts = torch.zeros(vocabulary)  # (V,)
        for step in steps:
            for hypothesis in step.hypotheses:
                if hypothesis.tokens[-1] not in self._request.end_tokens:
                    counts[hypothesis.tokens[-1]] += 1
        return self._diversity_penalty * counts

    def _merge(self, steps: Sequence[GroupStep]) -> Step:
        """Combine the steps of all groups, and tell each which rows are now its own."""
        living = [hypothesis for step in steps for hypothesis in step.living]
        unfinished = [hypothesis for step in steps for hypothesis in step.unfinished]
        ended = [hypothesis for step in steps for hypothesis in step.ended]
        self._hand_out_rows(living)
        hypotheses = (*living, *unfinished, *ended)
        dropped = tuple(each for step in steps for each in step.dropped)
        if not living:
            ranked = best_first(hypothesis for group in self._groups for hypothesis in group.finished.kept)
            returned = tuple(ranked[: self._num_return_sequences])
            return Step(hypotheses, best=ranked[0], returned=returned, dropped=dropped)
        return Step(
            hypotheses,
            best=max(living, key=lambda hypothesis: hypothesis.score),
            feed=tuple(hypothesis.tokens[-1] for hypothesis in living),
            parents=tuple(hypothesis.parent for hypothesis in living),
            dropped=dropped,
        )

    def _hand_out_rows(self, living: Sequence[Hypothesis]) -> None:
        """Make the living hypotheses the rows of the next pass; those of one group are adjacent."""
        self._tokens = tuple(hypothesis.tokens for hypothesis in living)
        first = 0
        for number, group in enumerate(self._groups):
            group.first = first
            group.beams = tuple(
                LivingBeam(hypothesis.tokens, hypothesis.score, hypothesis.log_probability)
                for hypothesis in living
                if hypothesis.group == number
            )
            first += len(group.beams)
