"""One visitor: the conversation, the written text and the runs behind them, as plain records.

A session lives in gradio's `gr.State` and nowhere else, so two visitors never meet. What the runs keep is numbers and
short strings. Of the oldest runs the attention is let go when a visitor's would pass `MOST_ATTENTION`, and is computed
again when such a run is opened; the trace is let go beyond `MOST_TRACED`, and does not come back. The file knows
nothing of gradio, of models or of how any of it is drawn.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from decoding.step import Choice
from decoding.trace import Trace
from model.errors import AttendError
from ui.contract import Way

if TYPE_CHECKING:
    from model.encoder import Encoder
    from model.loaded import LoadedModel
    from ui.compare import Comparison

MOST_ATTENTION = 32_000_000  # bytes a visitor, of encoded attention rows
MOST_TRACED = 20_000  # hypotheses a visitor, one a step or one a beam; at 2.3 KB each (`make bench`) about 46 MB
MOST_TURNS = 200  # messages kept of a conversation; far more than any context holds
MOST_UNDO = 50

Mode = Literal["chat", "write", "translate"]
State = Literal["done", "streaming", "stopped"]


@dataclass(frozen=True, slots=True)
class Seen:
    """One token of a run's context, with what explains it."""

    id: int
    way: Way  # how it came to stand there; "given" is typed by a person or put there by the chat format
    choice: Choice | None = None  # what it was chosen from; never holds attention, which is in `row`
    row: str | None = None  # the attention of the pass that led to it, encoded for the page

    @property
    def given(self) -> bool:
        return self.way == "given"


@dataclass(slots=True)
class Run:
    """A text that the model continued: the whole context, token by token."""

    id: str
    mode: Mode
    model: str
    tokens: list[Seen]
    shape: tuple[int, int] = (0, 0)  # layers and heads of its attention
    dropped: int = 0  # how many of the oldest messages its prompt had no room for
    # How its newest continuation came about: the trace's prompt and tokens together are all tokens of the run. None for
    # a text that nothing has continued, or that was changed since: such a text is another run.
    trace: Trace | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(token.id for token in self.tokens)

    @property
    def first(self) -> int:
        """The number of the first token from which on all are explained."""
        explained = itertools.takewhile(lambda token: token.choice is not None, reversed(self.tokens))
        return len(self.tokens) - sum(1 for _ in explained)

    @property
    def length(self) -> int:
        """How much of the context it takes: an encoder's source has room of its own."""
        return len(self.tokens) - (0 if self.trace is None else len(self.trace.request.source))

    @property
    def attention_bytes(self) -> int:
        return sum(len(token.row) for token in self.tokens if token.row is not None)

    @property
    def traced(self) -> int:
        """How many hypotheses its trace keeps."""
        return traced(self.trace)

    def forget_attention(self) -> None:
        self.tokens = [replace(token, row=None) for token in self.tokens]

    def replace_from(self, place: int, tokens: Sequence[Seen]) -> None:
        """Let these tokens stand from number `place` on, whatever stood there."""
        self.tokens = [*self.tokens[:place], *tokens]


def traced(trace: Trace | None) -> int:
    """How many hypotheses a trace keeps."""
    return 0 if trace is None else sum(len(step.hypotheses) for step in trace.steps)


@dataclass(slots=True)
class Turn:
    """One message of the conversation."""

    role: Literal["user", "assistant"]
    text: str
    tokens: list[tuple[str, float]] | None = None  # of an answer: text and the model's probability
    run: str | None = None
    state: State = "done"
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """A state that Write's Undo or Redo comes back to, its trace with it; its attention is computed again then."""

    text: str = ""
    model: str = ""
    tokens: tuple[Seen, ...] = ()  # none of an empty box
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
    asked: str = ""  # the entry of the switch that was chosen last, whether or not the model can do it
    clicks: int = 0  # of the switch, up to the one that asked for it
    moves: int = 0  # how often the switch was told where to stand
    choosing: Choosing | None = None  # while another is on its way
    unseen: bool = False  # whether the page is still to be shown with a model that has come

    @property
    def busy(self) -> bool:
        return self.stop is not None

    def refuse_while_busy(self) -> None:
        """`AttendError` while a run is going on."""
        if self.busy:
            raise AttendError("The model is still writing: press Stop first, or wait for the end.")

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

    def add_run(self, mode: Mode, model: str, tokens: Sequence[Seen]) -> Run:
        self.counter += 1
        run = Run(f"{mode}-{self.counter}", mode, model, list(tokens))
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
            raise AttendError("This answer's numbers are no longer here: retry it to see them.")
        return self.runs[identifier]

    def limit_attention(self, keep: Run, most: int = MOST_ATTENTION) -> None:
        """Let the attention of the oldest runs go until the rest fits; never that of `keep`, which is on screen."""
        total = sum(run.attention_bytes for run in self.runs.values())
        for run in self.runs.values():
            if total <= most:
                return
            if run is not keep:
                total -= run.attention_bytes
                run.forget_attention()

    def limit_traces(self, keep: Run, most: int = MOST_TRACED) -> None:
        """Let the traces of Write's oldest versions go, then those of the oldest runs, until the rest fits; never that
        of `keep`, which is on screen. What two of them share counts for both."""
        versions = (self.draft.undo, self.draft.redo)
        total = sum(run.traced for run in self.runs.values())
        total += sum(traced(version.trace) for version in itertools.chain(*versions))
        for states in versions:
            for place, version in enumerate(states):
                if total <= most:
                    return
                total -= traced(version.trace)
                states[place] = replace(version, trace=None)
        for run in self.runs.values():
            if total <= most:
                return
            if run is not keep:
                total -= run.traced
                run.trace = None

    def drop_unused_runs(self) -> None:
        """Forget runs that nothing can open: the conversation, its Undo, the translation, the draft, the comparison."""
        turns = itertools.chain(self.turns, self.former or (), [self.translation] if self.translation else ())
        used = {turn.run for turn in turns} | {self.draft.run}
        if self.comparison is not None:
            used |= {card.run.id for card in self.comparison.cards}
        self.runs = {identifier: run for identifier, run in self.runs.items() if identifier in used}


Here = weakref.WeakValueDictionary[str, Session]  # who is on the page and may leave it, by the name of their visit
