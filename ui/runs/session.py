"""One visitor: the conversation, the written text and the runs behind them, as plain records.

A session lives in gradio's `gr.State` and nowhere else, so visitors share nothing. Runs hold numbers and short
strings; `ui/runs/memory.py` limits how many. Knows nothing of gradio or of the screen.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from decoding.run.trace import Trace
from model.errors import AttendError
from model.inspection.intervention import Intervention
from ui.limits import Limits
from ui.runs.comparison import Comparison
from ui.runs.prompts import drawn_seed
from ui.runs.run import Mode, RunRecord, TokenRecord
from ui.runs.versions.conversation import Conversation, Turn

if TYPE_CHECKING:
    from model.encoder import Encoder
    from model.loaded import LoadedModel
    from model.names import Task

_PROCESS = secrets.token_hex(8)  # other pages have other visitors with the same id()


@dataclass(frozen=True, slots=True)
class Version:
    """A state for Undo and Redo in Write, with its trace; its attention is computed again."""

    text: str = ""
    model: str = ""
    tokens: tuple[TokenRecord, ...] = ()  # none for an empty box, and for a text that the model can't read
    shape: tuple[int, int] = (0, 0)
    trace: Trace | None = None
    key: str = ""  # the draft's
    interventions: tuple[Intervention, ...] = ()  # what was changed inside the model, which outlives the trace


@dataclass(slots=True)
class Draft:
    """What Write shows, and its history."""

    text: str = ""  # of the box when its run was made; any difference was typed since
    run: str | None = None
    key: str = ""  # names the text in the visitor's browser, once it is kept there; an emptied box begins another
    overtaken: str | None = None  # a text that a run continued before its preview was handled, which is now out of date
    typed: bool = True  # whether the last change was typing; all typing in a row is one change
    undo: list[Version] = field(default_factory=list)
    redo: list[Version] = field(default_factory=list)  # the next one is the last

    @property
    def is_empty(self) -> bool:
        """Whether the box is empty; a text that the model can't read has no run."""
        return self.run is None and not self.text


@dataclass(slots=True, eq=False)
class Translation:
    """What Translate shows."""

    text: str  # that was translated
    answer: Turn
    key: str = ""  # names it in the visitor's browser, once it is kept there


@dataclass(slots=True, eq=False)
class Choosing:
    """A visitor's request for another model."""

    name: str
    for_tab: bool = False  # whether a tab needs it, and nobody chose it in the list
    cancelled: bool = False  # whether the visitor no longer waits for it


@dataclass(slots=True)
class ChosenModel:
    """The visitor's model, and the one that is on its way; `ui/models/select.py` changes it."""

    name: str = ""
    last: dict[Task, str] = field(default_factory=dict)  # the ones chosen last, by what they are for
    languages: dict[str, tuple[str, str]] = field(default_factory=dict)  # of translators, where others were chosen
    language_choices: int = 0  # the number of the last choice of languages that was handled
    kept: object = None  # keeps the model in memory
    lesson: dict[str, LoadedModel | Encoder] = field(default_factory=dict)  # of the course, kept for its questions
    scoring: LoadedModel | None = None  # the second one that scores Write's text (ui/write/scores)
    encoder: Encoder | None = None  # shown instead of the tabs until a generating model is chosen
    coming: Choosing | None = None  # while another model is being loaded
    changed: bool = False  # whether the page has yet to show a newly loaded model


@dataclass(slots=True)
class ChosenTab:
    """What the switch was clicked to show; `ui/page/switch.py` changes it."""

    requested: str = ""  # the entry that was chosen last, even if the model does not support it
    task: Task | None = None  # what that tab's model must be for, until the visitor chooses a model
    clicks: int = 0  # at the last one handled


class SessionLock:
    """A re-entrant lock. Deep-copying gives a new one: gradio copies the initial session for every visitor."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    @contextmanager
    def if_free(self) -> Iterator[bool]:
        """Hold the lock if nobody else does; says whether it is held."""
        acquired = self._lock.acquire(blocking=False)
        try:
            yield acquired
        finally:
            if acquired:
                self._lock.release()

    def __deepcopy__(self, _: object) -> SessionLock:
        return SessionLock()


@dataclass(slots=True, weakref_slot=True)
class Session:
    """The state of one visitor's page."""

    conversation: Conversation = field(default_factory=Conversation)
    system: str = ""  # the system prompt in its box, even if the model supports none
    sent: int = 0  # how many messages from Chat's box were accepted, which the page then takes out of it
    cleared: Conversation | None = None  # the conversation that was cleared last, for its Undo
    translation: Translation | None = None  # what Translate shows
    cleared_translation: Translation | None = None  # the one that was cleared last, for the history
    draft: Draft = field(default_factory=Draft)
    runs: dict[str, RunRecord] = field(default_factory=dict)  # oldest first
    inspected_run: str | None = None  # the id of the run that the inspector shows
    file: tuple[str, str] | None = None  # the name of the run that was opened from a file last, and what the file has
    stop: threading.Event | None = None  # set to end the current run; None if there is none
    seed: int = -1  # of the last run of the tab in view; -1 if there is none, or if it drew nothing
    counter: int = 0
    bytes: int = 0  # of what explains its texts, when they were last counted
    counted: float = 0.0  # when that was, by the monotonic clock
    growing: tuple[str, ...] = ()  # the runs that are being extended
    comparison: Comparison | None = None  # what Compare shows
    model: ChosenModel = field(default_factory=ChosenModel)
    tab: ChosenTab = field(default_factory=ChosenTab)
    updates: int = 0  # of the page, so far
    causes: int = 0  # how often the visitor has gone on to another question about causes (ui/inspector/why)
    scores: int = 0  # how often the visitor has scored or stopped scoring a text (ui/write/scores)
    opened: dict[str, int] = field(default_factory=dict)  # number of the last document opened, by its tab's mode
    lock: SessionLock = field(default_factory=SessionLock)  # a visitor's events are handled one at a time
    limits: Limits = Limits()

    @classmethod
    def using(cls, model: str, **parts: Any) -> Session:
        """A session whose visitor has this model.

        Args:
            parts: other fields.
        """
        return cls(model=ChosenModel(model), **parts)

    @property
    def turns(self) -> list[Turn]:
        """The messages in view."""
        return self.conversation.turns

    @property
    def visitor(self) -> str:
        """Identifies the visitor to a scheduler, which may serve several pages, while the page is open."""
        return f"{_PROCESS}-{id(self)}"

    @property
    def busy(self) -> bool:
        return self.stop is not None

    def refuse_while_running(self) -> None:
        """`AttendError` during a run."""
        if self.busy:
            mode = next((self.runs[run].mode for run in self.growing if run in self.runs), "")  # perhaps another tab's
            where = f" in {mode.title()}" if mode else ""
            raise AttendError(f"The model is still writing{where}: press Stop or wait until it has finished.")

    def refuse_while_busy(self) -> None:
        """`AttendError` during a run, and while the tab waits for its model."""
        self.refuse_while_running()
        if self.model.coming is not None and self.model.coming.for_tab:
            raise AttendError(f"{self.model.coming.name} is still loading: try again in a moment.")

    def begin(self) -> threading.Event:
        """Claim the session for one run; `AttendError` during another."""
        self.refuse_while_busy()
        self.stop = threading.Event()
        return self.stop

    def cancel(self) -> None:
        """End the current run, if any; the session is free at once."""
        if self.stop is not None:
            self.end(self.stop)

    def halt(self) -> None:
        """Let the current run, if any, end with its next token."""
        if self.stop is not None:
            self.stop.set()

    def end(self, stop: threading.Event) -> None:
        """Release the session after a run; does nothing if another run has claimed it since."""
        stop.set()
        if self.stop is stop:
            self.stop, self.growing = None, ()

    def next_update(self) -> int:
        """The number of the next update of the page; the page ignores older ones."""
        self.updates += 1
        return self.updates

    def add_run(
        self, mode: Mode, model: str, tokens: Sequence[TokenRecord], *, source: tuple[int, ...] = ()
    ) -> RunRecord:
        run = RunRecord(self.next_run_id(mode), mode, model, list(tokens), source=source)
        self.runs[run.id] = run
        return run

    def next_run_id(self, mode: Mode) -> str:
        self.counter += 1
        return f"{mode}-{self.counter}"

    @property
    def draft_version(self) -> Version:
        """The current state of the draft."""
        run = self.runs.get(self.draft.run or "")
        if run is None:
            return Version(self.draft.text, key=self.draft.key)
        bare = tuple(replace(token, row=None) for token in run.tokens)
        return Version(self.draft.text, run.model, bare, run.shape, run.trace, self.draft.key, run.interventions)

    def remember_draft(self, version: Version | None = None, *, typed: bool = False) -> None:
        """Call before the draft changes: Undo will restore its current state, or this version of it. Clears Redo."""
        if not (typed and self.draft.typed):
            self.draft.undo = [*self.draft.undo, version or self.draft_version][-self.limits.undo :]
            self.draft.redo = []
        self.draft.typed = typed

    @property
    def newest_answer(self) -> RunRecord | None:
        """The run behind the last message, if that is an answer."""
        turns = self.turns
        return self.runs.get(turns[-1].run or "") if turns else None

    @property
    def dropped(self) -> int:
        """How many of the oldest turns no longer fit into the context."""
        answer = self.newest_answer
        return answer.dropped if answer else 0

    def run(self, identifier: str | None) -> RunRecord:
        """The run with this name; `AttendError` if there is none."""
        if identifier is None or identifier not in self.runs:
            raise AttendError("The details of this answer are no longer stored: retry it to see them.")
        return self.runs[identifier]

    def take_seed(self) -> int:
        """Make the seed of the run in the inspector the one that Reuse, links and copied code repeat, even if another
        tab has written since; -1 without such a run."""
        run = self.runs.get(self.inspected_run or "")
        cards = self.comparison.cards if run and run.mode == "compare" and self.comparison else ()
        settings = [each.trace.settings for each in [card.run for card in cards] or [run] if each and each.trace]
        self.seed = drawn_seed(*settings) if settings else -1
        return self.seed

    def drop_unused_runs(self) -> None:
        """Forget runs that nothing can open. The conversation in all versions, the translation, those that were cleared
        last, the draft and the comparison, with its removed cards, keep theirs."""
        conversations = [each for each in (self.conversation, self.cleared) if each]
        translations = [each for each in (self.translation, self.cleared_translation) if each]
        turns = itertools.chain(*(each.all_turns() for each in conversations), (each.answer for each in translations))
        used = {turn.run for turn in turns} | {self.draft.run}
        if self.comparison is not None:
            used |= {card.run.id for card in (*self.comparison.cards, *self.comparison.removed)}
        self.runs = {identifier: run for identifier, run in self.runs.items() if identifier in used}


async def halt(session: Session) -> None:
    """Stop: a coroutine, since Gradio runs those at once, while functions wait for a thread of their own."""
    session.halt()


# The sessions of open pages, by the hash that Gradio gives each visit.
SessionsByHash = weakref.WeakValueDictionary[str, Session]
