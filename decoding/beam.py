"""Beam search, with the semantics of transformers 5.23 (`early_stopping=False`).

Every step looks at the best continuations of all living hypotheses together. Those that end are banked with their score
divided by length ** length_penalty, the best of the others live on, and the search is over when no living hypothesis
could still beat the bank. Knows nothing of models or text.

Shapes: R is the living rows, V the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from decoding.processors import Context, Processor, run_chain
from decoding.recorder import record
from decoding.step import Hypothesis, Step
from decoding.stop import Stop
from decoding.strategy import Request, newest_attention, usable_logits
from model.interface import Forward, Want


@dataclass(frozen=True, slots=True)
class _Living:
    """What the search itself needs of a hypothesis."""

    tokens: tuple[int, ...] = ()
    score: float = 0.0  # a float32 sum, as in transformers: near ties fall the same way
    log_probability: float = 0.0


class BeamSearch:
    """The search of one request; processors run on log-probabilities, and what comes out is not renormalised."""

    def __init__(
        self,
        request: Request,
        *,
        num_beams: int,
        length_penalty: float,
        max_new_tokens: int,
        top_candidates: int,
        seed: int,
        processors: Sequence[Processor] = (),
    ) -> None:
        self.want = Want(attention=request.attention)
        self.seed = seed
        self._request = request
        self._stop = Stop.of(request, max_new_tokens)
        self._num_beams = num_beams
        self._length_penalty = length_penalty
        self._top_candidates = top_candidates
        self._processors = tuple(processors)
        self._stages = ("model", *(processor.name for processor in self._processors))
        self._living: tuple[_Living, ...] = (_Living(),)
        self._bank: list[tuple[float, Hypothesis]] = []  # (score / length ** penalty, hypothesis), best first

    def advance(self, forward: Forward[Any]) -> Step:
        before = self._living
        length = len(before[0].tokens) + 1  # of what this step produces
        logits = usable_logits(forward.logits, length - 1)  # (R, V)
        log_probabilities = logits.log_softmax(dim=-1)  # (R, V)
        context = Context(self._request.prompt, tuple(row.tokens for row in before))
        processed = run_chain(self._processors, log_probabilities, context)
        # The model's own stage shows its logits untouched; the softmax of either is the same distribution.
        recordings = record(self._stages, (logits, *processed[1:]), self._top_candidates)
        keys = len(self._request.prompt) + length - 1
        attention = [newest_attention(forward, row, keys) for row in range(len(before))]

        living: list[Hypothesis] = []
        ended: list[Hypothesis] = []
        for place, (score, row, token) in enumerate(self._continuations(processed[-1])):
            tokens = (*before[row].tokens, token)
            ends = self._stop.reason(tokens) is not None
            # Of the continuations that end, only the best num_beams count; of the others, as many as there are beams.
            if place >= self._num_beams if ends else len(living) == self._num_beams:
                continue
            hypothesis = Hypothesis(
                tokens=tokens,
                score=score,
                log_probability=before[row].log_probability + recordings[row].log_probability(token, stage=0),
                parent=row,
                choice=recordings[row].choice(token, attention=attention[row]),
                finished=ends,
            )
            (ended if ends else living).append(hypothesis)
        return self._decide(living, ended, length)

    def _continuations(self, log_probabilities: Tensor) -> list[tuple[float, int, int]]:
        """The best continuations of all rows together as (score, row, token), best first.

        Enough of them that num_beams could live on even if every row's end tokens were the best.
        """
        scores = torch.tensor([row.score for row in self._living], dtype=torch.float32)
        totals = (log_probabilities + scores[:, None]).flatten()  # (R * V,)
        wanted = max(2, 1 + len(self._request.end_tokens)) * self._num_beams
        best = totals.topk(min(wanted, totals.numel()))
        vocabulary = log_probabilities.shape[-1]
        pairs = zip(best.values.tolist(), best.indices.tolist(), strict=True)
        return [(score, index // vocabulary, index % vocabulary) for score, index in pairs if score > -math.inf]

    def _decide(self, living: list[Hypothesis], ended: list[Hypothesis], length: int) -> Step:
        """Bank what ended, and see whether the search is over."""
        divisor = length**self._length_penalty
        self._bank += [(hypothesis.score / divisor, hypothesis) for hypothesis in ended]
        self._bank.sort(key=lambda entry: -entry[0])
        del self._bank[self._num_beams :]
        self._living = tuple(_Living(row.tokens, row.score, row.log_probability) for row in living)
        full = len(self._bank) == self._num_beams
        if not living or (full and living[0].score / divisor <= self._bank[-1][0]):
            best = self._bank[0][1]
            return Step((*living, *ended), finish_reason=self._stop.reason(best.tokens), best=best)
        return Step(
            (*living, *ended),
            feed=tuple(row.tokens[-1] for row in living),
            parents=tuple(row.parent for row in living),
        )
