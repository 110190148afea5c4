"""Runs the texts of one prompt: their traces grow in the same passes, and their tokens come one by one.

Several samples of a prompt have consecutive seeds and a trace each; a search returns its best texts at its end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from decoding.call import DecodeCall
from decoding.run.token_texts import TokenTexts
from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from decoding.step import Choice
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from ui.runs.models import Models
from ui.runs.stream import stream
from ui.runs.traces import new_trace

FINISH_REASONS = {"stop": "stop", "stop_text": "stop", "length": "length", "cancelled": "length"}


@dataclass(frozen=True, slots=True)
class Written:
    """A token of a text."""

    index: int  # of the text
    text: str  # what the token adds to it
    token: int
    choice: Choice | None  # None for the first token of an echoed prompt, which nothing predicts


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is continued, as ids and as a text for the record."""

    ids: tuple[int, ...]
    text: str
    messages: Sequence[Mapping[str, str]] = ()


class Choices:
    """The texts that continue one prompt."""

    def __init__(
        self,
        loaded: LoadedModel,
        prompt: Prompt,
        settings: DecodingSettings,
        count: int,
        *,
        first: int = 0,
        attention: bool = False,
        interventions: tuple[Intervention, ...] = (),
    ) -> None:
        """
        Args:
            settings: with a definite seed.
            count: how many texts are wanted.
            first: the index of the first.
            attention: whether to record it.

        `AttendError` for settings that the model can't follow.
        """
        self._loaded, self._count, self.first, self._attention = loaded, count, first, attention
        self.indexes = range(first, first + count)
        samples = replace(settings, num_return_sequences=count) if settings.drawn or settings.beams else settings
        each = samples.each_sample() if settings.drawn and not settings.beams else [samples]
        self.prompt = prompt
        self.traces = [
            new_trace(loaded, prompt.ids, one, text=prompt.text, messages=prompt.messages, interventions=interventions)
            for one in each
        ]
        begins = loaded.starts_new_text
        self._texts: list[TokenTexts[Choice]] = [
            TokenTexts(loaded.tokenizer.detokenizer(begins=begins), one.stop_texts) for one in each
        ]
        self._read = [0] * len(each)  # steps of each trace whose tokens were given out or wait for their text

    def run(self, models: Models, visitor: str, end: float) -> Generator[list[Written], None, None]:
        """Decode to the end; yields the tokens that became certain, or none, at every update.

        Args:
            end: when the time is up, by the monotonic clock.
        """
        settings, numbers = tuple(trace.settings for trace in self.traces), range(len(self.traces))
        call: DecodeCall = replace(self.traces[0].call(visitor), settings=settings, attention=self._attention)
        arriving = stream(models.decode(call), stop=threading.Event(), time_limit=end - time.monotonic())
        with closing(arriving):
            for arrived in arriving:
                for decoded in arrived.steps:
                    for number, step in decoded.steps.items():
                        self.traces[number].add(step)
                yield [] if self._searched else [written for number in numbers for written in self._certain(number)]
        if self._searched:
            for index, trace in enumerate(self.finished(), start=self.first):
                yield written_tokens(self._loaded, trace, index)
        else:
            for number, texts in enumerate(self._texts):
                yield [*self._written(number, _before_stop(texts, texts.finish()))]

    def finished(self) -> list[Trace]:
        """The traces of all texts, in their order; where nothing is drawn, all texts are the same."""
        first = self.traces[0]
        traces = [first, *first.other_sequences()] if self._searched else self.traces
        return traces if len(traces) > 1 else traces * self._count

    @property
    def settings(self) -> DecodingSettings:
        """The settings of the first text."""
        return self.traces[0].settings

    @property
    def rows(self) -> int:
        """How many rows of a pass it takes at most."""
        return sum(trace.settings.rows for trace in self.traces)

    @property
    def _searched(self) -> bool:
        """Whether the texts may change until the end."""
        return self.settings.beams

    def _certain(self, number: int) -> Iterator[Written]:
        steps = self.traces[number].steps
        for step in steps[self._read[number] :]:
            assert step.best is not None
            token, last = step.best.tokens[-1], step.finished
            yield from self._written(number, self._texts[number].push(token, step.best.choice, last=last))
        self._read[number] = len(steps)

    def _written(self, number: int, tokens: Sequence[tuple[str, Choice]]) -> Iterator[Written]:
        indexes = [number] if len(self.traces) > 1 else range(self._count)  # all texts are the same
        return (Written(self.first + index, text, choice.token, choice) for text, choice in tokens for index in indexes)


def written_tokens(loaded: LoadedModel, trace: Trace, index: int) -> list[Written]:
    """All tokens of a finished text, each with the text that it adds."""
    texts: TokenTexts[Choice] = TokenTexts(
        loaded.tokenizer.detokenizer(begins=loaded.starts_new_text), trace.settings.stop_texts
    )
    whole = texts.whole([(choice.token, choice) for choice in trace.choices()])
    return [Written(index, text, choice.token, choice) for text, choice in _before_stop(texts, whole)]


def _before_stop(texts: TokenTexts[Choice], last: list[tuple[str, Choice]]) -> list[tuple[str, Choice]]:
    """The last tokens of an answer, without those of its stop text."""
    while texts.stopped and last and not last[-1][0]:
        last.pop()
    return last
