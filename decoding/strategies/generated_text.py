"""The text of a strategy that follows one continuation: its tokens and sums. Knows nothing of how they are chosen."""

from __future__ import annotations

from decoding.processors import Context
from decoding.recorder import Recording
from decoding.request import Request
from decoding.step import Choice, Hypothesis
from decoding.stop import Stop
from decoding.strategies.base import StrategyOptions


class GeneratedText:
    """The tokens chosen so far; a resumed request begins with those that it already has."""

    def __init__(self, request: Request, options: StrategyOptions) -> None:
        resumed = request.options.resumed
        self.tokens: tuple[int, ...] = () if resumed is None else resumed.tokens
        self._score = 0.0 if resumed is None else resumed.score
        self._log_probability = 0.0 if resumed is None else resumed.log_probability
        self._prompt = request.prompt
        self._stop = Stop.of(request, options.max_new_tokens, options.stop_texts)

    @property
    def context(self) -> Context:
        """What processors see of the text."""
        return Context(self._prompt, (self.tokens,))

    @property
    def length(self) -> int:
        """How many tokens the text has, including the prompt."""
        return len(self._prompt) + len(self.tokens)

    def append(self, choice: Choice, recording: Recording) -> Hypothesis:
        """The text with one more token, whose probabilities are in `recording`."""
        self.tokens += (choice.token,)
        step_score = recording.log_probability(choice.token, stage=-1)
        self._score += step_score
        self._log_probability += recording.log_probability(choice.token, stage=0)
        return Hypothesis(
            tokens=self.tokens,
            score=self._score,
            step_score=step_score,
            log_probability=self._log_probability,
            parent=0,
            choice=choice,
            finish_reason=self._stop.reason(self.tokens),
        )
