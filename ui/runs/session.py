"""One visitor: the conversation, the written text and the runs behind them, as plain records.

A session lives in gradio's `gr.State` and nowhere else, so two visitors never meet. What the runs keep is numbers and
short strings, and how much of that is kept `ui/runs/memory.py` decides. Knows nothing of gradio, of models or of how
any of it is drawn.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from decoding.trace import Trace
from model.errors import AttendError
from ui.runs.comparison import Comparison
from ui.runs.contract import AnswerState
from ui.runs.run import Mode, Run, TokenRecord

if TYPE_CHECKING:
    from model.encoder import Encoder
    from model.loaded import LoadedModel

MOST_TURNS = 200  # messages kept of a conversation; far more than any context holds
MOST_UNDO = 50


@dataclass(slots=True)
class Turn:
    """One message of the conversation."""

    role: Literal["user", "assistant"]
    text: str
    tokens: list[tuple[str, float]] | None = None  # of an answer: text and the model's probability
    run: str | None = None
    state: AnswerState = "done"
    note: str | None = None
    version: int = 0  # how often it has been brought up to date


@dataclass(frozen=True, slots=True)
class Version:
    """A state that Write's Undo or Redo comes back to, its trace with it; its attention is computed again then."""

    text: str = ""
    model: str = ""
    tokens: tuple[TokenRecord, ...] = ()  # none of an empty box
    shape: tuple[int, int] = (0, 0)
    trace: Trace | None = None


@dataclass(slots=True)
class Draft:
    """What Write shows, and the ways back."""

    text: str = ""  # as it stands in the box; whatever differs from it was typed since
    run: str | None = None
    typed: bool = True  # whether the last change was typing, which is one change however long it goes on
    undo: list[Version] = field(default_factory=list)
    redo: list[Version] = field(default_factory=list)  # the next one last


@dataclass(slots=True, eq=False)
class Choosing:
    """A model on its way to a visitor."""

    name: str
    given_up: bool = False  # whether the visitor waits for it no longer


class SessionLock:
    """A re-entrant lock. Deep-copying gives a new one: gradio copies the initial session for every visitor."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __deepcopy__(self, _: object) -> SessionLock:
        return SessionLock()


@dataclass(slots=True, weakref_slot=True)
class Session:
    """Everything that one visitor has on the page."""

    turns: list[Turn] = field(default_factory=list)
    system: str = ""  # the system prompt that stands in its box, whether or not the model takes one
    former: list[Turn] | None = None  # the conversation that was cleared or replaced last, for its Undo
    translation: Turn | None = None  # what Translate shows; what was translated stands in its box
    draft: Draft = field(default_factory=Draft)
    runs: dict[str, Run] = field(default_factory=dict)  # oldest first
    shown: str | None = None  # the run that the inspector shows
    stop: threading.Event | None = None  # of the run that is going on
    seed: int = -1  # that the last run drew from; -1 if it drew nothing
    counter: int = 0
    growing: tuple[str, ...] = ()  # the runs that what is going on lengthens
    comparison: Comparison | None = None  # what Compare shows
    model: str = ""  # that this visitor uses
    languages: tuple[str, str] | None = None  # between which it translates for them; None as it comes
    holds: object = None  # what keeps it in memory
    read: dict[str, LoadedModel] = field(default_factory=dict)  # by the lesson, to be at hand for the next question
    encoder: Encoder | None = None  # that is looked into in the place of all else, until a model that writes is chosen
    requested_tab: str = ""  # the entry of the switch that was chosen last, whether or not the model can do it
    clicks: int = 0  # of the switch, up to the one that asked for it
    updates: int = 0  # of the page, begun so far
    lock: SessionLock = field(default_factory=SessionLock)  # lets a visitor's events be answered one after the other
    choosing: Choosing | None = None  # while another is on its way
    model_changed: bool = False  # whether the page is still to be shown with a model that has come

    @property
    def busy(self) -> bool:
        return self.stop is not None

    def refuse_while_busy(self) -> None:
        """`AttendError` while a run is going on."""
        if self.busy:
            raise AttendError("The model is still writing: press Stop or wait until it has finished.")

    def begin(self) -> threading.Event:
        """Claim the session for one run; `AttendError` while another is going on."""
        self.refuse_while_busy()
        self.stop = threading.Event()
        return self.stop

    def cancel(self) -> None:
        """End the run that is going on, if there is one; the session is free at once."""
        if self.stop is not None:
            self.end(self.stop)

    def halt(self) -> None:
        """Let the run that is going on, if there is one, end with its next token."""
        if self.stop is not None:
            self.stop.set()

    def end(self, stop: threading.Event) -> None:
        """Give it back; harmless when it is not the run's any more."""
        stop.set()
        if self.stop is stop:
            self.stop, self.growing = None, ()

    def next_update(self) -> int:
        """The number of a new update of the page, which ignores older ones."""
        self.updates += 1
        return self.updates

    def add_run(self, mode: Mode, model: str, tokens: Sequence[TokenRecord], *, source: tuple[int, ...] = ()) -> Run:
        self.counter += 1
        run = Run(f"{mode}-{self.counter}", mode, model, list(tokens), source=source)
        self.runs[run.id] = run
        return run

    @property
    def draft_version(self) -> Version:
        """The written text as it stands."""
        run = self.runs.get(self.draft.run or "")
        if run is None:
            return Version()
        bare = tuple(replace(token, row=None) for token in run.tokens)
        return Version(self.draft.text, run.model, bare, run.shape, run.trace)

    def remember_draft(self, version: Version | None = None, *, typed: bool = False) -> None:
        """Before the written text changes: make it as it stands, or this version of it, the state that Undo comes back
        to; there is no Redo any more."""
        if not (typed and self.draft.typed):
            self.draft.undo = [*self.draft.undo[-(MOST_UNDO - 1) :], version or self.draft_version]
            self.draft.redo = []
        self.draft.typed = typed

    @property
    def newest_answer(self) -> Run | None:
        """The run behind the last message, if that is an answer."""
        return self.runs.get(self.turns[-1].run or "") if self.turns else None

    @property
    def dropped(self) -> int:
        """How many of the oldest turns are no longer in the context."""
        return self.newest_answer.dropped if self.newest_answer else 0

    def run(self, identifier: str | None) -> Run:
        """`AttendError` for a run that is not there, whoever made up its name."""
        if identifier is None or identifier not in self.runs:
            raise AttendError("The details of this answer are no longer stored: retry it to see them.")
        return self.runs[identifier]

    def drop_unused_runs(self) -> None:
        """Forget runs that nothing can open: the conversation, its Undo, the translation, the draft, the comparison."""
        turns = itertools.chain(self.turns, self.former or (), [self.translation] if self.translation else ())
        used = {turn.run for turn in turns} | {self.draft.run}
        if self.comparison is not None:
            used |= {card.run.id for card in self.comparison.cards}
        self.runs = {identifier: run for identifier, run in self.runs.items() if identifier in used}


# Who is on the page and may leave it, by the hash that Gradio gives their visit.
SessionsByHash = weakref.WeakValueDictionary[str, Session]
