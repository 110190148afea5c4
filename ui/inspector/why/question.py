"""A question about the causes of one token: who asks, which token of which run it is, and the lock for long answers.

Knows nothing of gradio.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from model.errors import AttendError
from model.inspection.ablation import Ablation
from model.inspection.inspector import Inspector, opened
from model.inspection.intervention import Intervention, interventions_of
from model.inspection.patching import Patching
from model.inspection.words import LeftOut
from model.loaded import FairLock, LoadedModel
from ui.inspector.toolbar.replay import is_replay, reopened
from ui.inspector.why.why_contract import WhyReply
from ui.kit.packing import significant
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session

LONGEST = 2_000  # tokens of a text that is looked into

AnswerT = TypeVar("AnswerT")
StepT = TypeVar("StepT", Ablation, LeftOut, Patching)
Progress = Generator[WhyReply, None, AnswerT]  # yields how much is done of how much, and returns the answer


@dataclass(frozen=True, slots=True)
class ExplainedToken:
    """One token of a run, and the model that is asked why it stands there."""

    run: RunRecord
    loaded: LoadedModel
    inspector: Inspector
    number: int  # of the token in the run, its source included

    @property
    def source(self) -> tuple[int, ...]:
        return self.run.source

    @property
    def text(self) -> tuple[int, ...]:
        """All of the decoder's text that the model can read: not the token that comes after a full context."""
        return self.run.ids[len(self.source) :][: self.loaded.model.context_length]

    @property
    def position(self) -> int:
        """The token's position in the decoder's text."""
        return self.number - len(self.source)

    @property
    def before(self) -> tuple[int, ...]:
        """What the model had read when it predicted the token."""
        return self.run.ids[len(self.source) : self.number]

    @property
    def token(self) -> int:
        return self.run.ids[self.number]

    def labels(self, ids: Iterable[int]) -> dict[str, str]:
        """What tokens are called."""
        return {str(token): self.loaded.tokenizer.label(token) for token in sorted(set(ids))}

    def check_size(self, length: int) -> None:
        """`AttendError` for a text of so many tokens that looking into it would take too much memory."""
        length, longest = max(length, len(self.source)), min(LONGEST, self.inspector.longest())
        if length > longest:
            raise AttendError(
                f"The text has {length:,} tokens, but at most {longest:,} of this model's can be looked into at once: "
                "ask about an earlier token or a shorter text."
            )

    def refuse_changed(self) -> None:
        """`AttendError` for a text that was written with parts of the model switched off."""
        if self.run.interventions:
            raise AttendError(
                "This text was written with parts of the model switched off, and this view only explains the whole "
                "model: write the text again without that setting, or look at the layers' guesses."
            )


@dataclass(frozen=True, slots=True)
class Question:
    """One question, with what the page's script sent."""

    session: Session
    models: Models
    fields: Mapping[str, Any]

    def target(self) -> ExplainedToken:
        """The token in question; `AttendError` for a run that is not this visitor's, or whose model can't be opened."""
        run = self.run()
        number = run.first + self.whole("index")
        if not max(run.first, len(run.source) + 1) <= number < len(run.tokens):
            raise AttendError("Nothing predicted this token: select one that the model wrote.")
        loaded = self.models.require_loaded(run.model)
        target = ExplainedToken(run, loaded, opened(loaded.model).inspector(), number)
        target.check_size(target.position)
        return target

    def run(self) -> RunRecord:
        self.session.refuse_while_running()
        identifier = self.fields.get("run")
        if is_replay(identifier):
            return reopened(self.session, self.models, identifier)
        return self.session.run(identifier if isinstance(identifier, str) else None)

    def whole(self, name: str, default: int | None = None) -> int:
        """A whole number that the script sent."""
        value = self.fields.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise AttendError("This page is out of date: reload it.")
        return value

    def token(self, name: str, target: ExplainedToken) -> int | None:
        """A token that the script sent, or None."""
        if self.fields.get(name) is None:
            return None
        token, size = self.whole(name), target.loaded.model.vocabulary_size
        if not 0 <= token < size:
            raise AttendError(f"There is no token {token}: the model has tokens 0 to {size - 1:,}.")
        return token

    def changes(self) -> tuple[Intervention, ...]:
        """The parts that the script wants changed; `AttendError` for none, too many and what names no part."""
        if not (values := self.fields.get("changes")):
            raise AttendError("Nothing is switched off yet: choose a head or a layer first.")
        return interventions_of(values)


def last_step(steps: Iterator[StepT], lock: FairLock) -> Progress[StepT | None]:
    """The last step of a long computation, if it has any; the lock is only held while one is computed, so that others
    come in between."""
    last = None
    while True:
        with lock:
            step = next(steps, None)
        if step is None:
            return last
        last = step
        yield {"progress": (step.done, step.total)}


def short(values: Iterable[float]) -> list[float]:
    """Numbers in the four digits that pictures and tables show."""
    return [significant(value, 4) for value in values]
