"""A run that grows: Steps of decoding go in; its tokens, its text and its trace come out.

Used by Chat, Write, Translate and the cards of Compare. Knows nothing of the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from decoding.run.trace import Trace
from decoding.step import FinishReason, Hypothesis, Step
from model.loaded import LoadedModel
from ui.runs.answer_text import AnswerText, common_prefix
from ui.runs.attention_rows import attention_row, shape_of
from ui.runs.run import RunRecord, TokenRecord
from ui.runs.run_values import answer_tokens
from ui.runs.runs_contract import AnswerToken
from ui.runs.stream import Ending

_MAX_OF_A_STOP_TEXT = 24  # characters, in a note


class LiveRun:
    """A run, and the Steps that extend it.

    Attention is encoded at once and kept with the run's tokens; the trace gets every Step without it, since its tensors
    would keep those of all rows of a pass in memory.
    """

    def __init__(self, run: RunRecord, trace: Trace, text: AnswerText) -> None:
        """
        Args:
            trace: becomes the run's. If it has steps already, a text is continued: its prompt and tokens are the run's.
            text: the text so far of the tokens that are explained.
        """
        self.run, self.text = run, text
        run.trace = trace
        self.settings, self.request = trace.settings, trace.request
        self.ending: Ending | None = None  # why the run ended; None while it grows
        self.seconds = 0.0  # of computing
        self._start = len(trace.request.attended)
        self._living: list[_Tokens] = [explained_tokens(trace)]  # of each text that the next step can continue
        self._ended: dict[_Key, tuple[Hypothesis, _Tokens]] = {}  # the search may return them much later

    @property
    def trace(self) -> Trace:
        """The run's trace, which may be dropped once the run has ended."""
        assert self.run.trace is not None
        return self.run.trace

    @property
    def reason(self) -> FinishReason | None:
        """Why decoding ended; None if it goes on or was interrupted."""
        trace = self.run.trace
        return trace.steps[-1].finish_reason if trace is not None and trace.steps else None

    @property
    def note(self) -> str | None:
        """Why the text ended, if that is not obvious."""
        if self.ending == "time":
            return "stopped at the time limit"
        if self.ending == "finished" and self.reason == "stop_text" and (stop := self.trace.stop_text) is not None:
            visible = stop.replace("\n", "↵")  # the text ends before it, so it is not shown there
            return f"stopped at “{visible[:_MAX_OF_A_STOP_TEXT]}{'…' if len(visible) > _MAX_OF_A_STOP_TEXT else ''}”"
        if self.ending == "finished" and self.reason == "length":
            full = self.run.length > self.request.context_length
            return "reached the context limit" if full else "reached the length limit"
        return None

    def add(self, steps: Sequence[Step], ending: Ending | None = None) -> int:
        """Bring the run up to date; returns the first token that differs from before.

        Args:
            ending: why no more steps will follow; None if some may.
        """
        tokens: Sequence[TokenRecord] = self.run.tokens[self._start :]
        for step in steps:
            tokens = self._add(step)
        agreed = common_prefix(self.run.ids[self._start :], [token.id for token in tokens])
        self.run.replace_from(self._start + agreed, tokens[agreed:])
        self.ending = "finished" if self.reason is not None else ending  # Stop may have come as the text ended
        if ending is not None:  # which frees what only a running search needs
            self._living, self._ended = [], {}
        return self._start + agreed

    def answer(self) -> list[AnswerToken]:
        """The answer's tokens with their texts."""
        return answer_tokens(self.run.tokens[self.run.first :], self.text, finished=self.ending is not None)

    def _add(self, step: Step) -> _Tokens:
        """Add a step to the trace, where equal hypotheses are the same object; returns the tokens of the best text."""
        texts: dict[_Key, tuple[Hypothesis, _Tokens]] = {}
        for hypothesis in step.hypotheses:
            weights, bare = hypothesis.choice.attention, _bare(hypothesis)
            row = None if weights is None else attention_row(weights)
            token = TokenRecord(bare.choice.token, self.trace.origin, bare.choice, row)
            texts[_key(bare)] = bare, (*self._living[bare.parent], token)
            self.run.shape = self.run.shape if weights is None else shape_of(weights)
        self._living = [tokens for text, tokens in texts.values() if not text.finished]
        self._ended |= {key: text for key, text in texts.items() if text[0].finished}
        assert step.best is not None
        best, tokens = (self._ended | texts)[_key(step.best)]
        returned = tuple(_bare(hypothesis) for hypothesis in step.returned)
        self.trace.add(
            replace(step, hypotheses=tuple(text for text, _ in texts.values()), best=best, returned=returned)
        )
        return tokens


def answer_text(trace: Trace, loaded: LoadedModel) -> AnswerText:
    """The text of an answer, which is apart from its prompt's."""
    return AnswerText(loaded.tokenizer, trace.settings.stop_texts, begins=loaded.starts_new_text)


def explained_tokens(trace: Trace) -> tuple[TokenRecord, ...]:
    """The tokens that were generated, without their attention."""
    return tuple(TokenRecord(choice.token, trace.origin, choice) for choice in trace.choices())


def run_so_far(run: RunRecord) -> RunRecord:
    """A copy of a run that another thread may be writing, as if it had been stopped now."""
    if run.trace is None:
        return run
    trace = replace(run.trace, steps=list(run.trace.steps))
    return replace(run, tokens=[*run.tokens[: len(trace.request.attended)], *explained_tokens(trace)], trace=trace)


_Tokens = tuple[TokenRecord, ...]
_Key = tuple[int, tuple[int, ...]]


def _key(hypothesis: Hypothesis) -> _Key:
    """Identifies a hypothesis among all those of a run."""
    return hypothesis.group, hypothesis.tokens


def _bare(hypothesis: Hypothesis) -> Hypothesis:
    if hypothesis.choice.attention is None:
        return hypothesis
    return replace(hypothesis, choice=replace(hypothesis.choice, attention=None))
