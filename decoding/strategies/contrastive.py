"""Contrastive search (Su et al. 2022, "A Contrastive Framework for Neural Text Generation").

Of the k most probable tokens it takes the one that is both probable and unlike the text so far:

    score = (1 - penalty_alpha) * confidence - penalty_alpha * degeneration

Confidence is a token's probability. Degeneration is the greatest cosine similarity of its hidden state with that of any
token before it, so a candidate's can only be known by feeding it. That still takes one pass a token: all k are fed as
rows of one batch, and the row of the one that is taken already has the logits after it. Nothing is drawn.

Shapes: k candidates, N tokens of the text so far, W the model's width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from decoding.parameters.parameter import Parameter, SettingError, Settings
from decoding.processors import run_chain
from decoding.processors.truncation import TOP_K
from decoding.recorder import Recording, record
from decoding.request import Request
from decoding.step import ContrastiveCandidate, Hypothesis, Step
from decoding.strategies.base import StrategyOptions, StrategySpec, newest_attention, usable_logits
from decoding.strategies.generated_text import GeneratedText
from model.errors import AttendError
from model.interface import Forward, Want
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

DEFAULT_K, MAX_K = 4, 64  # candidates if top_k is 0, and at most
PENALTY_ALPHA = Parameter(
    name="penalty_alpha",
    label="Penalty α",
    default=0.6,
    help="How strongly contrastive search avoids tokens that resemble the text so far; 0 is greedy.",
    neutral=None,
    step=0.05,
)


@dataclass(frozen=True, slots=True)
class _Offer:
    """The candidates that the model reads before one of them is chosen."""

    candidates: tuple[tuple[int, float], ...]  # ids and confidences, in the order they were fed
    recording: Recording
    attention: Tensor | None


class ContrastiveSearch:
    """The search of one request; the first pass decides nothing, each later one a token."""

    def __init__(self, request: Request, options: StrategyOptions, *, k: int, penalty_alpha: float) -> None:
        """`k`: how many candidates are compared."""
        self.want = Want(attention=request.options.attention, hidden=True)
        self._options = options
        self._k = k
        self._penalty_alpha = penalty_alpha
        self._names = ("model", *(processor.name for processor in options.processors))
        self._offer: _Offer | None = None
        self._text = GeneratedText(request, options)
        self._directions = torch.empty(0)  # (N, W), one for each hidden state so far

    def advance(self, forward: Forward[Any]) -> Step:
        directions = _directions(forward)
        if self._offer is None:
            self._directions = directions[0]  # (N, W), of the prompt
            return self._feed_candidates(forward, 0)
        scored = self._score_candidates(self._offer, directions[:, 0])
        row = max(range(len(scored)), key=lambda index: scored[index].score)  # among equals the most probable
        taken = self._offer.recording.choice(scored[row].id, attention=self._offer.attention)
        hypothesis = self._text.append(replace(taken, contrastive_candidates=scored), self._offer.recording)
        self._directions = torch.cat((self._directions, directions[row]))  # (N + 1, W)
        if hypothesis.finished:
            return Step((hypothesis,), best=hypothesis, returned=(hypothesis,))
        return self._feed_candidates(forward, row, hypothesis)

    def _feed_candidates(self, forward: Forward[Any], row: int, decided: Hypothesis | None = None) -> Step:
        """Feed the candidates that may follow the text of this row."""
        logits = usable_logits(forward.logits[row : row + 1], len(self._text.tokens))  # (1, V)
        stages = run_chain(self._options.processors, logits, self._text.context)
        recording = record(self._names, stages, self._options.top_candidates)[0]
        best = recording.best(self._k)
        self._offer = _Offer(best, recording, newest_attention(forward, row, self._text.length))
        hypotheses = () if decided is None else (decided,)
        return Step(hypotheses, decided, feed=tuple(token for token, _ in best), parents=(row,) * len(best))

    def _score_candidates(self, offer: _Offer, fed: Tensor) -> tuple[ContrastiveCandidate, ...]:
        """The scores of the candidates, whose directions are `fed` (k, W)."""
        degenerations = (fed @ self._directions.T).amax(dim=-1).tolist()  # (k, N) -> (k,)
        alpha = self._penalty_alpha
        return tuple(
            ContrastiveCandidate(token, confidence, degeneration, (1 - alpha) * confidence - alpha * degeneration)
            for (token, confidence), degeneration in zip(offer.candidates, degenerations, strict=True)
        )


def _directions(forward: Forward[Any]) -> Tensor:
    """The hidden states of the tokens fed, normalised: (rows, fed, W) on the CPU."""
    if forward.hidden is None:
        raise AttendError(
            "Contrastive search compares hidden states, which this model does not provide: choose another decoding "
            "method or another model."
        )
    return torch.nn.functional.normalize(forward.hidden.to("cpu", torch.float32), dim=-1)


class Contrastive(StrategySpec):
    """As in transformers, top_k is the number of candidates here and no stage of the chain, so nothing is truncated."""

    name = "contrastive"
    label = "Contrastive"
    help = "Avoids tokens that resemble the text so far."
    parameters = (TOP_K, PENALTY_ALPHA)

    def check(self, settings: Settings) -> None:
        if settings[TOP_K] > MAX_K:
            raise SettingError(
                f"top_k is {settings[TOP_K]}, but contrastive search runs the model on every one of these tokens at "
                f"each step: choose {MAX_K} or fewer.",
                "top_k",
            )

    def rows(self, settings: Settings) -> int:
        return settings[TOP_K] or DEFAULT_K

    def resumable(self, settings: Settings) -> bool:
        return False  # it compares the hidden states of the whole text

    def build(self, settings: Settings, request: Request, options: StrategyOptions) -> ContrastiveSearch:
        # Every candidate is read, so even the last token needs a position.
        room = request.context_length - len(request.prompt)
        if room < 1:
            raise AttendError(
                f"The prompt fills the context of {request.context_length:,} tokens, but contrastive search reads each "
                "token before it chooses it: shorten the prompt or choose another decoding method."
            )
        options = replace(options, max_new_tokens=min(options.max_new_tokens, room))
        return ContrastiveSearch(request, options, k=self.rows(settings), penalty_alpha=settings[PENALTY_ALPHA])
