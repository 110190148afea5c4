"""The records of one step of decoding, in plain numbers.

Every strategy returns the same three records: a `Choice` (one token and all that led to it), a `Hypothesis`
(one continuation so far) and a `Step` (what the loop must do next). Greedy decoding and sampling have one hypothesis a
step, beams have several, and a step of contrastive search that only feeds candidates has none. No record holds a
full-vocabulary tensor, so a long run stays small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from model.errors import AttendError

if TYPE_CHECKING:
    from torch import Tensor

FinishReason = Literal["stop", "length", "stop_text", "cancelled"]


class CandidateRecord(NamedTuple):  # a tuple, since ten of them are made for every token
    """A token that could have been chosen, with its probability after every stage."""

    id: int
    probabilities: tuple[float, ...]  # per stage, the model's own first; 0 from the stage that removed it


@dataclass(frozen=True, slots=True)
class ContrastiveCandidate:
    """A candidate of contrastive search and the two terms of its score."""

    id: int
    confidence: float  # its probability after every processor
    degeneration: float  # the greatest cosine similarity of its hidden state with one before it, -1 to 1
    score: float  # both combined; the candidate with the highest is chosen


@dataclass(frozen=True, slots=True)
class LayerContrast:
    """Under dola: the layer whose prediction was subtracted, and the divergences that selected it."""

    layer: int  # 0 is the embeddings
    divergences: tuple[tuple[int, float], ...]  # each candidate layer, and its divergence from the last in bits, 0 to 1


@dataclass(frozen=True, slots=True)
class Choice:
    """One token, and the distribution it was chosen from."""

    token: int
    rank: int  # from 1, by the model's own probability, ties by id
    draw: float | None  # in [0, 1): the uniform number that chose a sampled token; None where nothing was drawn
    stages: tuple[str, ...]  # "model", then the name of every processor in the order they ran
    kept: tuple[int, ...]  # tokens with a finite logit after each stage
    candidates: tuple[CandidateRecord, ...]  # best first by the model's probability, and always the chosen token
    rest: tuple[float, ...]  # probability of all other tokens together, per stage
    # The share of the previous stage's probability that each stage kept; 1 where it removed nothing.
    mass: tuple[float, ...]
    stage_entropy: tuple[float, ...]  # bits, of the distribution after each stage
    contrastive_candidates: tuple[ContrastiveCandidate, ...] = ()  # under contrastive search, most probable first
    contrast: LayerContrast | None = None  # under dola
    attention: Tensor | None = None  # (layers, heads, keys) float16 on the CPU; the query is the token before it

    @property
    def chosen(self) -> CandidateRecord:
        """The candidate that was chosen; `AttendError` where candidates were not recorded (see `Request.explained`)."""
        for candidate in self.candidates:
            if candidate.id == self.token:
                return candidate
        raise AttendError(
            f"The candidates for token {self.token} were not recorded, so its probability is unknown: run it again "
            "with explained=True."
        )

    @property
    def entropy(self) -> float:
        """Bits, of the model's own distribution."""
        return self.stage_entropy[0]

    @property
    def probability(self) -> float:
        """The model's own probability of the token."""
        return self.chosen.probabilities[0]

    @property
    def final_probability(self) -> float:
        """The probability it was chosen with, after every processor."""
        return self.chosen.probabilities[-1]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One continuation: living, or finished in this step."""

    tokens: tuple[int, ...]  # generated so far, without the prompt; ends with the end token when finished by it
    score: float  # the search's own sum, before any length penalty (nats)
    step_score: float  # what the newest token added to it
    log_probability: float  # the model's own sum (nats)
    parent: int  # its index among the previous step's living hypotheses
    choice: Choice  # its newest token
    finish_reason: FinishReason | None = None  # why it is complete; None while it lives
    final_score: float | None = None  # of a finished one in a search: its rank, length penalty included
    group: int = 0  # of diverse beams or of parallel samples; texts within one differ

    @property
    def finished(self) -> bool:
        return self.finish_reason is not None


DropReason = Literal["outscored", "not drawn", "ended", "search over", "outranked"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A hypothesis that a search has dropped, and why.

    - outscored: none of its continuations was among the best that live on;
    - not drawn: beams that sample drew none of its continuations;
    - ended: all that continues it are finished texts, which the search keeps;
    - search over: it could still be continued, but its search has finished;
    - outranked: finished, but the search keeps only its best finished texts.
    """

    reason: DropReason
    tokens: tuple[int, ...]  # the hypothesis, as it stood when it was made
    row: int | None  # its index among the previous step's living hypotheses; None where it was none of them
    # For the first three reasons, the score of its best unfinished continuation, or None. For the rest, its final score
    # (if unfinished, an upper bound).
    score: float | None
    to_beat: float | None  # what the score would have had to exceed; None where no score would have helped
    group: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One iteration of the loop: what was decided, and what to feed next."""

    # The living ones first, in the order of `feed`; then those that a finished search leaves open; then the ended.
    hypotheses: tuple[Hypothesis, ...]
    # The first one returned or, until the end, the best so far; it may have ended earlier. None where the strategy only
    # fed candidates: such a step has no hypotheses, and the loops do not yield it.
    best: Hypothesis | None
    feed: tuple[int, ...] = ()  # one token for each row of the next pass; empty when finished
    parents: tuple[int, ...] = ()  # for each of them the row of the previous pass that it continues
    returned: tuple[Hypothesis, ...] = ()  # the result, best first; set in the last step
    dropped: tuple[Dropped, ...] = ()  # by a search in this step

    @property
    def finished(self) -> bool:
        return bool(self.returned)

    @property
    def finish_reason(self) -> FinishReason | None:
        """The finish reason of the hypothesis returned first."""
        return self.returned[0].finish_reason if self.returned else None
