"""A run that grows: Steps of decoding go in; its tokens, its text and its trace come out.

Used by Chat, Write, Translate and the cards of Compare. Knows nothing of the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Self

from decoding.run.document import TokenOrigin
from decoding.run.trace import Trace
from decoding.step import FinishReason, Hypothesis, Step
from model.loaded import LoadedModel
from ui.runs.answer_text import AnswerText, common_prefix
from ui.runs.attention import attention_row, shape_of
from ui.runs.run import RunRecord, TokenRecord
from ui.runs.runs_contract import AnswerToken
from ui.runs.values import answer_tokens


class LiveRun:
    """A run, and the Steps that extend it.

    Attention is encoded at once and kept with the run's tokens; the trace gets every Step without it, since its tensors
    would keep those of all rows of a pass in memory.
    """

    def __init__(self, run: RunRecord, trace: Trace, text: AnswerText) -> None:
        """
        Args:
            trace: becomes the run's. If it has steps already, a text is continued: its prompt and tokens are the run's.
            text: of the tokens that are explained, as far as it is known.
        """
        self.run, self.text = run, text
        run.trace = trace
        self.settings, self.request = trace.settings, trace.request
        self.reason: FinishReason | None = None  # why decoding ended, unless it was interrupted
        self.seconds = 0.0  # of computing
        self._start = len(trace.request.attended)
        self._path = BestPath.of(trace)
        self._ended: dict[_Key, Hypothesis] = {}  # as in the trace; a search may return them much later

    @classmethod
    def of(cls, run: RunRecord, trace: Trace, loaded: LoadedModel) -> Self:
        """An answer, whose text is apart from its prompt's."""
        return cls(run, trace, AnswerText(loaded.tokenizer, trace.settings.stop_texts, begins=loaded.starts_new_text))

    @property
    def trace(self) -> Trace:
        """The run's trace, which may be dropped once the run has ended."""
        assert self.run.trace is not None
        return self.run.trace

    def add(self, steps: Sequence[Step]) -> int:
        """Bring the run up to date; returns the first token that differs from before."""
        if not steps:
            return len(self.run.tokens)
        for step in steps:
            attention = [hypothesis.choice.attention for hypothesis in step.hypotheses]
            bare = self._without_attention(step)
            self.trace.add(bare)
            self._path.add(bare, [None if weights is None else attention_row(weights) for weights in attention])
            self.run.shape = next((shape_of(weights) for weights in attention if weights is not None), self.run.shape)
            self.reason = step.finish_reason
        tokens = self._path.best
        agreed = common_prefix(self.run.ids[self._start :], [token.id for token in tokens])
        self.run.replace_from(self._start + agreed, tokens[agreed:])
        return self._start + agreed

    def answer(self, *, finished: bool) -> list[AnswerToken]:
        """The answer's tokens with their texts."""
        return answer_tokens(self.run.tokens[self.run.first :], self.text, finished=finished)

    def other_sequences(self) -> list[tuple[list[TokenRecord], Trace]]:
        """Tokens and trace of each text that the run returned besides the best. Their attention is computed again."""
        before: list[TokenRecord] = self.run.tokens[: self._start]
        origin: TokenOrigin = "search" if self.settings.beams else "chosen"
        return [
            ([*before, *(TokenRecord(choice.token, origin, choice) for choice in trace.choices())], trace)
            for trace in self.trace.other_sequences()
        ]

    def close(self) -> None:
        """Free what only a running search needs."""
        self._path = BestPath()
        self._ended.clear()

    def _without_attention(self, step: Step) -> Step:
        """The same step without attention, in which equal hypotheses are the same object."""
        bare = {_key(hypothesis): _bare(hypothesis) for hypothesis in step.hypotheses}
        known = self._ended | bare
        self._ended |= {key: hypothesis for key, hypothesis in bare.items() if hypothesis.finished}
        return replace(
            step,
            hypotheses=tuple(bare.values()),
            best=step.best and known.get(_key(step.best), _bare(step.best)),
            returned=tuple(_bare(hypothesis) for hypothesis in step.returned),
        )


def run_so_far(run: RunRecord) -> RunRecord:
    """A copy of a run that another thread may be writing, as if it had been stopped now."""
    if run.trace is None:
        return run
    trace = replace(run.trace, steps=list(run.trace.steps))
    path = BestPath.of(trace)
    return replace(run, tokens=[*run.tokens[: len(trace.request.attended)], *path.best], trace=trace)


class BestPath:
    """Follows the tokens of the best hypothesis, under any strategy."""

    def __init__(self, origin: TokenOrigin = "chosen") -> None:
        self._origin: TokenOrigin = origin
        self._living: list[tuple[TokenRecord, ...]] = [()]
        self._ended: dict[_Key, tuple[TokenRecord, ...]] = {}
        self.best: tuple[TokenRecord, ...] = ()

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """The path of a trace so far."""
        path = cls("search" if trace.settings.beams else "chosen")
        for step in trace.steps:
            path.add(step)
        return path

    def add(self, step: Step, rows: Sequence[str | None] = ()) -> None:
        """
        Args:
            rows: the encoded attention of each hypothesis, where it is known.
        """
        chains = {}
        for hypothesis, row in zip_longest(step.hypotheses, rows):
            record = TokenRecord(hypothesis.choice.token, self._origin, hypothesis.choice, row)
            chains[_key(hypothesis)] = (*self._living[hypothesis.parent], record)
        self._ended |= {
            _key(hypothesis): chains[_key(hypothesis)] for hypothesis in step.hypotheses if hypothesis.finished
        }
        self._living = [chains[_key(hypothesis)] for hypothesis in step.hypotheses if not hypothesis.finished]
        if step.best is not None:
            self.best = chains.get(_key(step.best)) or self._ended[_key(step.best)]


_Key = tuple[int, tuple[int, ...]]


def _key(hypothesis: Hypothesis) -> _Key:
    """Identifies a hypothesis among all those of a run."""
    return hypothesis.group, hypothesis.tokens


def _bare(hypothesis: Hypothesis) -> Hypothesis:
    if hypothesis.choice.attention is None:
        return hypothesis
    return replace(hypothesis, choice=replace(hypothesis.choice, attention=None))
