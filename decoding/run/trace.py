"""The record of a run: it collects the run's `Step`s and writes them as a run document.

Has no model: only its name, and a tokenizer that labels its tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from decoding.call import DecodeCall
from decoding.request import Request, TokenLabels
from decoding.run.run_document import SCHEMA, RunDocument, StepEntry, TokenOrigin
from decoding.run.writer import ids_in, intervention_entry, search_entries, step_entry
from decoding.settings import DecodingSettings
from decoding.step import Choice, FinishReason, Hypothesis, Step
from decoding.stop import before_stop, first_stop


@dataclass(slots=True)
class Trace:
    """One run so far. A run that was stopped early is valid, too: its finish reason is "cancelled"."""

    model: str
    prompt: str  # as the user wrote it
    request: Request
    settings: DecodingSettings  # with the seed that was used, where anything was drawn
    tokenizer: TokenLabels  # labels the tokens, for display
    messages: Sequence[Mapping[str, str]] = ()  # the conversation, where there was one, its system prompt first
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.settings.seeded() is not self.settings:
            raise ValueError("a run that draws is recorded with the seed it used: give the settings a definite one")

    def resumed(self, settings: DecodingSettings) -> Self:
        """A copy of a run that ended at its length limit or by the user, to be continued.

        Args:
            settings: the run's, with a greater length; they must be `resumable`.
        """
        *before, last = self.steps
        assert last.best is not None
        living = replace(last.best, finish_reason=None)
        reopened = Step((living,), best=living, feed=(living.tokens[-1],), parents=(0,))
        return replace(self, settings=settings, steps=[*before, reopened])

    def call(self, visitor: str = "", *, attention: bool = True) -> DecodeCall:
        """The call that decodes the steps after those it already has."""
        options = replace(self.request.options, attention=attention, resumed=self.best)
        return DecodeCall(self.model, self.request.input_ids, (self.settings,), options, visitor)

    def add(self, step: Step) -> None:
        self.steps.append(step)

    def collect(self, steps: Iterable[Step]) -> Self:
        """Take all steps of a run."""
        for step in steps:
            self.add(step)
        return self

    @property
    def best(self) -> Hypothesis | None:
        """The first hypothesis returned or, until then, the best so far."""
        return self.steps[-1].best if self.steps else None

    @property
    def sequences(self) -> tuple[Hypothesis, ...]:
        """The hypotheses returned, best first; none during the run."""
        return self.steps[-1].returned if self.steps else ()

    @property
    def ids(self) -> tuple[int, ...]:
        return () if self.best is None else self.best.tokens

    @property
    def origin(self) -> TokenOrigin:
        """Where its tokens come from."""
        return "search" if self.settings.beams else "chosen"

    @property
    def text(self) -> str:
        """The continuation, up to a stop text."""
        return before_stop(self.request.decode(self.ids), self.settings.stop_texts)

    @property
    def stop_text(self) -> str | None:
        """The stop text that ended it; None where it contains none."""
        return first_stop(self.request.decode(self.ids), self.settings.stop_texts)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of all sequences, each up to its stop text."""
        texts = (self.request.decode(hypothesis.tokens) for hypothesis in self.sequences)
        return tuple(before_stop(text, self.settings.stop_texts) for text in texts)

    @property
    def finish_reason(self) -> FinishReason:
        reason = self.steps[-1].finish_reason if self.steps else None
        return reason or "cancelled"

    @property
    def is_unfinished(self) -> bool:
        """Whether it ended before the model did: at the length limit, or by the user."""
        return bool(self.ids) and self.finish_reason in ("length", "cancelled")

    def choices(self) -> list[Choice]:
        """The choices of `ids`, first to last, found from the best hypothesis back through its parents."""
        return [] if self.best is None else [hypothesis.choice for hypothesis in self._path(self.best)]

    def _path(self, hypothesis: Hypothesis) -> list[Hypothesis]:
        """A hypothesis and all that it continues, first to last."""
        path = [hypothesis]
        # A hypothesis of n tokens was made in the n-th step; it may have ended before the last.
        for step in reversed(self.steps[: len(hypothesis.tokens) - 1]):
            path.append(step.hypotheses[path[-1].parent])
        return path[::-1]

    def other_sequences(self) -> list[Self]:
        """The record of each sequence but the first: for a sample, that of a run with its seed alone; for a search, the
        same search as if it had returned this sequence first."""
        return [self._of(hypothesis) for hypothesis in self.sequences[1:]]

    def _of(self, returned: Hypothesis) -> Self:
        if self.settings.beams:
            *before, last = self.steps
            others = (hypothesis for hypothesis in self.sequences if hypothesis is not returned)
            return replace(self, steps=[*before, replace(last, best=returned, returned=(returned, *others))])
        alone = [replace(hypothesis, parent=0, group=0) for hypothesis in self._path(returned)]
        steps = [Step((each,), best=each, feed=(each.tokens[-1],), parents=(0,)) for each in alone[:-1]]
        end = Step((alone[-1],), best=alone[-1], returned=(alone[-1],))
        return replace(self, settings=self.settings.each_sample()[returned.group], steps=[*steps, end])

    @property
    def is_search(self) -> bool:
        """Whether it followed several texts at once; its document then has their hypotheses."""
        return self.settings.beams or any(len(step.hypotheses) != 1 for step in self.steps)

    def document(self, steps: list[StepEntry] | None = None) -> RunDocument:
        """The run in plain values, without its attention.

        Args:
            steps: those that explain its last tokens; by default those of the tokens that were generated.

        Raises:
            AttendError: where candidates were not recorded.
        """
        if steps is None:
            steps = [step_entry(choice, self.origin) for choice in self.choices()]
        search = search_entries(self.steps) if self.is_search else []
        named = ids_in(steps, search).union(self.request.attended, *(one.tokens for one in self.sequences))
        document: RunDocument = {
            "schema": SCHEMA,
            "model": self.model,
            "prompt": {"text": self.prompt, "ids": list(self.request.prompt)},
            "settings": self.settings.to_dict(),
            "seed": self.settings.seed if self.settings.drawn else None,
            "text": self.text,
            "ids": list(self.ids),
            "finish_reason": self.finish_reason,
            "steps": steps,
            "labels": {str(token): self.tokenizer.label(token) for token in sorted(named)},
            "special": sorted(filter(self.tokenizer.is_special, {*self.request.attended, *self.ids})),
        }
        if self.messages:
            document["prompt"]["messages"] = [dict(message) for message in self.messages]
        if self.request.source:
            document["source"] = list(self.request.source)
        if self.request.options.draws_used:  # the seed alone would not repeat a continued run
            document["draws_used"] = self.request.options.draws_used
        if self.request.options.interventions:
            document["interventions"] = [intervention_entry(one) for one in self.request.options.interventions]
        if search:
            document["search"] = search
        if len(self.sequences) > 1:
            document["sequences"] = [
                {
                    "text": text,
                    "ids": list(hypothesis.tokens),
                    "score": hypothesis.score,
                    "final_score": hypothesis.final_score,
                    "log_probability": hypothesis.log_probability,
                    "finish_reason": hypothesis.finish_reason,
                }
                for hypothesis, text in zip(self.sequences, self.texts, strict=True)
            ]
        return document
