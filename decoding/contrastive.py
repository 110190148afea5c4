"""Contrastive search (Su et al. 2022, "A Contrastive Framework for Neural Text Generation").

Of the k most probable tokens it takes the one that is both probable and unlike what stands in the text already:

    score = (1 - penalty_alpha) * confidence - penalty_alpha * degeneration

Confidence is a token's probability. Degeneration is the greatest cosine similarity of its hidden state with that of any
token before it, so a candidate's can only be known by feeding it. That still takes one pass a token: all k are fed as
rows of one batch, and the row of the one that is taken has already said what comes after it. Nothing is drawn.

Shapes: k candidates, N tokens of the text so far, W the model's width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from decoding.processors import Context, run_chain
from decoding.recorder import Recording, record
from decoding.step import Hypothesis, Step, Weighed
from decoding.stop import Stop
from decoding.strategy import Request, Terms, newest_attention, usable_logits
from model.errors import AttendError
from model.interface import Forward, Want


@dataclass(frozen=True, slots=True)
class _Offer:
    """What may follow the text, while the model looks at each of it."""

    candidates: tuple[tuple[int, float], ...]  # ids and confidences, in the order they were fed
    recording: Recording
    attention: Tensor | None


class ContrastiveSearch:
    """The search of one request; the first pass decides nothing, each later one a token."""

    def __init__(
        self,
        request: Request,
        terms: Terms,
        *,
        candidates: int,
        penalty_alpha: float,
    ) -> None:
        """`candidates` is the paper's k."""
        self.want = Want(attention=request.attention, hidden=True)
        self._request = request
        self._terms = terms
        self._stop = Stop.of(request, terms)
        self._candidates = candidates
        self._penalty_alpha = penalty_alpha
        self._names = ("model", *(processor.name for processor in terms.processors))
        self._offer: _Offer | None = None
        self._text = torch.empty(0)  # (N, W) directions of all hidden states so far
        self._tokens: tuple[int, ...] = ()
        self._score = 0.0
        self._log_probability = 0.0

    def advance(self, forward: Forward[Any]) -> Step:
        directions = _directions(forward)
        if self._offer is None:
            self._text = directions[0]  # (N, W), of the prompt
            return self._go_on(forward, 0)
        weighed = self._weigh(self._offer, directions[:, 0])
        row = max(range(len(weighed)), key=lambda place: weighed[place].score)  # of equals the most probable
        hypothesis = self._take(self._offer, weighed, row)
        self._text = torch.cat((self._text, directions[row]))  # (N + 1, W)
        if hypothesis.finished:
            return Step((hypothesis,), best=hypothesis, returned=(hypothesis,))
        return self._go_on(forward, row, hypothesis)

    def _go_on(self, forward: Forward[Any], row: int, decided: Hypothesis | None = None) -> Step:
        """Feed what may follow the text that ends in this row."""
        logits = usable_logits(forward.logits[row : row + 1], len(self._tokens))  # (1, V)
        stages = run_chain(self._terms.processors, logits, Context(self._request.prompt, (self._tokens,)))
        recording = record(self._names, stages, self._terms.top_candidates)[0]
        keys = len(self._request.prompt) + len(self._tokens)
        best = recording.best(self._candidates)
        self._offer = _Offer(best, recording, newest_attention(forward, row, keys))
        hypotheses = () if decided is None else (decided,)
        return Step(hypotheses, decided, feed=tuple(token for token, _ in best), parents=(row,) * len(best))

    def _weigh(self, offer: _Offer, fed: Tensor) -> tuple[Weighed, ...]:
        """`fed` holds the candidates' directions, (k, W)."""
        degenerations = (fed @ self._text.T).amax(dim=-1).tolist()  # (k, N) -> (k,)
        alpha = self._penalty_alpha
        return tuple(
            Weighed(token, confidence, degeneration, (1 - alpha) * confidence - alpha * degeneration)
            for (token, confidence), degeneration in zip(offer.candidates, degenerations, strict=True)
        )

    def _take(self, offer: _Offer, weighed: tuple[Weighed, ...], row: int) -> Hypothesis:
        token = weighed[row].id
        self._tokens += (token,)
        step_score = offer.recording.log_probability(token, stage=-1)
        self._score += step_score
        self._log_probability += offer.recording.log_probability(token, stage=0)
        return Hypothesis(
            tokens=self._tokens,
            score=self._score,
            step_score=step_score,
            log_probability=self._log_probability,
            parent=0,
            choice=replace(offer.recording.choice(token, attention=offer.attention), weighed=weighed),
            finish_reason=self._stop.reason(self._tokens),
        )


def _directions(forward: Forward[Any]) -> Tensor:
    """The hidden states of the tokens fed, made as long as 1: (rows, fed, W) on the CPU."""
    if forward.hidden is None:
        raise AttendError(
            "This model does not show its hidden states, which contrastive search compares: choose another strategy or "
            "another model."
        )
    return functional.normalize(forward.hidden.to("cpu", torch.float32), dim=-1)
