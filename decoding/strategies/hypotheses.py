"""The finished texts of one beam search: which are kept, and when no living text could still rank among them.

The rules are those of `BeamHypotheses` in transformers 5.23. Knows nothing of how a text was found.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from decoding.parameters.parameter import Parameter
from decoding.step import Dropped, Hypothesis

EarlyStopping = Literal["false", "true", "never"]

LENGTH_PENALTY = Parameter(
    name="length_penalty",
    label="Length penalty",
    default=1.0,
    help="A finished text's score is divided by its length to this power; higher values favour longer texts.",
    minimum=-3,
    maximum=3,
    step=0.1,
)
EARLY_STOPPING: Parameter[EarlyStopping] = Parameter(
    name="early_stopping",
    label="Early stopping",
    section="Several texts",
    default="false",
    help="When to stop, once as many texts have finished as there are beams: true stops at once, false when no "
    "unfinished text scores better so far, never when none could still become better.",
    neutral=None,
    choices=get_args(EarlyStopping),
)


class BeamHypotheses:
    """The best finished texts, ranked by score / length ** length_penalty.

    When it is full, `early_stopping` says how long the search goes on: "true" not at all; "false" until the best living
    text, as long as it is now, is no better than the worst here; "never" until it could not become better at any length
    (a positive penalty favours long texts, so it is taken as long as it may get; log-probabilities only fall).
    """

    def __init__(
        self, size: int, *, length_penalty: float, early_stopping: EarlyStopping, limit: int, forced_tokens: int = 0
    ) -> None:
        """
        Args:
            limit: how many tokens a text may have.
            forced_tokens: how many tokens before those of each text also count in its length.
        """
        self.kept: list[Hypothesis] = []  # best first
        self._size = size
        self._length_penalty = length_penalty
        self._early_stopping = early_stopping
        self._limit = limit
        self._forced_tokens = forced_tokens

    def final_score(self, score: float, length: int) -> float:
        """The rank of a finished text of this score and length: score / length ** length_penalty."""
        return score / (length + self._forced_tokens) ** self._length_penalty

    def add(self, ended: Iterable[Hypothesis]) -> list[Dropped]:
        """Add finished texts; returns those that no longer rank among the best."""
        ranked = best_first([*self.kept, *ended])
        self.kept, outranked = ranked[: self._size], ranked[self._size :]
        return [
            Dropped("outranked", text.tokens, None, text.final_score, self.kept[-1].final_score, text.group)
            for text in outranked
        ]

    def best_final_score(self, score: float, length: int) -> float:
        """The final score that a living text is assumed to reach at best."""
        at_any_length = self._early_stopping == "never" and self._length_penalty > 0
        return self.final_score(score, self._limit if at_any_length else length)

    @property
    def to_beat(self) -> float | None:
        """The final score that a living text must exceed to get in; None if no text can."""
        return None if self._early_stopping == "true" else self.kept[-1].final_score

    def closes(self, score: float, length: int) -> bool:
        """Whether the search is over, given the best living score and the length."""
        if len(self.kept) < self._size:
            return False
        return self.to_beat is None or self.best_final_score(score, length) <= self.to_beat


def best_first(finished: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Sorted by final score; among equals, the earlier ones first."""

    def rank(hypothesis: Hypothesis) -> float:
        assert hypothesis.final_score is not None, "only finished texts have a rank"
        return -hypothesis.final_score

    return sorted(finished, key=rank)
