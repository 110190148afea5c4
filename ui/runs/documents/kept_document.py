"""A document: one conversation, text, translation or comparison, as the visitor's browser keeps it.

The browser asks for it after a run and names the runs that it already has. When the document is opened, it sends back
what it kept, which is hostile input. `ui/history` is the page's side of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import TypedDict

from decoding.run.reader import checked, unpack
from decoding.run.run_document import InvalidDocument, Label, Name
from model.errors import AttendError
from model.text.languages import unmarked
from ui.runs.documents.runs import packed_run, parsed_run, read_run, run_name
from ui.runs.live_run import run_so_far
from ui.runs.memory import TraceBudget
from ui.runs.models import Models
from ui.runs.run import Mode, RunRecord
from ui.runs.session import Session

SCHEMA = "attend.document/1"
MAX_TITLE = 80  # characters
MAX_BYTES = 16_000_000  # of all runs of a document, unpacked


class KeptDocument(TypedDict):
    """A document as the visitor's browser keeps it."""

    schema: Literal["attend.document/1"]
    kind: Mode
    key: Label
    model: Name
    content: dict[str, Any]  # which the tab checks
    runs: dict[Label, str]  # packed, by the names that the content has for them


@dataclass(frozen=True, slots=True)
class Document:
    """A document for the browser to keep."""

    kind: Mode
    key: str  # its permanent name
    title: str  # its first words
    model: str  # the visitor's
    content: Mapping[str, Any]  # what the tab adds: texts, settings, names of runs
    runs: Sequence[RunRecord | str]  # those that the content names; only the name of one that the browser alone has

    def value(self, models: Models, known: Collection[str]) -> dict[str, Any]:
        """The document for the page.

        Args:
            known: the names of the runs that the page has already.
        """
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "key": self.key,
            "title": self.title,
            "model": self.model,
            "content": dict(self.content),
            "names": [run if isinstance(run, str) else run_name(run) for run in self.runs],
            "runs": _packed([run for run in self.runs if isinstance(run, RunRecord)], models, known),
        }


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A document that came back, with its runs."""

    key: str
    model: str
    content: Mapping[str, Any]
    runs: Mapping[str, RunRecord]  # by the names that the content has for them


def runs_so_far(session: Session, *, cleared: bool = False) -> dict[str, RunRecord]:
    """The session's runs in their current state.

    Args:
        cleared: whether they are of a text that was cleared, perhaps while it grew, so its last token may still arrive.
    """
    runs = list(session.runs.items())
    return {name: run_so_far(run) if cleared or name in session.growing else run for name, run in runs}


def first_words(text: str) -> str:
    """A title for a text: its first words."""
    words = " ".join(text[: 4 * MAX_TITLE].split())
    return words if len(words) <= MAX_TITLE else f"{words[: MAX_TITLE - 1].rstrip()}…"


def open_document(
    session: Session, models: Models, value: object, put: Callable[[Session, OpenedDocument], None]
) -> None:
    """Open a document in its tab; `AttendError` if it is not valid, which changes nothing.

    Args:
        put: puts it in place of what the tab shows, unless something in it is impossible.
    """
    try:
        put(session, read_document(session, models, value))
    except (InvalidDocument, AttendError) as error:
        reason = str(error).rstrip(".")
        if isinstance(error, AttendError):
            reason = reason.partition(": ")[0]  # the way out is another here
        raise AttendError(f"This can't be opened ({reason}): delete it from the history or import it again.") from error


def read_document(session: Session, models: Models, value: object) -> OpenedDocument:
    """Read a document, whose runs are not in the session yet."""
    document = checked(KeptDocument, value)
    runs = _read_runs(session, models, document["kind"], document["runs"])
    return OpenedDocument(document["key"], document["model"], document["content"], runs)


def _packed(runs: Sequence[RunRecord], models: Models, known: Collection[str]) -> dict[str, str]:
    """The runs that the page doesn't have and that still have explanations, by their names."""
    packed = {}
    for run in runs:
        name = run_name(run)
        loaded = models.get(run.model) if models.is_loaded(run.model) else None
        tokenizer = run.stored if loaded is None else loaded.tokenizer
        if name not in known and not run.forgotten and tokenizer is not None:
            packed[name] = packed_run(run, tokenizer) if run.stored is None else run.stored.packed
    return packed


def _read_runs(session: Session, models: Models, kind: Mode, listed: Mapping[str, str]) -> dict[str, RunRecord]:
    """The runs that can be read; `InvalidDocument` if one is damaged or they are too large together."""
    runs: dict[str, RunRecord] = {}
    left, budget = MAX_BYTES, TraceBudget(session.limits.session_bytes)
    for name, packed in listed.items():
        written = unpack(packed, left)
        left -= len(written)
        with suppress(InvalidDocument, AttendError):  # without its run an answer keeps its words
            kept = parsed_run(written)
            model = str(kept["run"].get("model"))
            loaded = models.get(model) if models.is_loaded(model) else None
            runs[name] = read_run(kept, session.next_run_id(kind), kind, loaded, packed=packed)
            budget.add(runs[name])
    return runs


def complete_runs(session: Session, models: Models, last: str | None) -> None:
    """Finish reading the runs whose model was loaded meanwhile, unless another model has its name now.

    Args:
        last: the run in view, whose steps are dropped last if all of them take too much memory.
    """
    budget = TraceBudget(session.limits.session_bytes)
    for run in sorted(session.runs.values(), key=lambda run: run.id == last):
        if run.stored is not None and models.is_loaded(run.model):
            with suppress(InvalidDocument, AttendError):  # it may name languages that the model doesn't have
                kept = parsed_run(unpack(run.stored.packed, MAX_BYTES))
                read = read_run(kept, run.id, run.mode, models.get(run.model))
                run.tokens, run.trace, run.stored = read.tokens, read.trace, None
                budget.add(run)
                restore_languages(session, run)


def restore_languages(session: Session, run: RunRecord) -> None:
    """If this is the run of the translation in view, let its translator keep its languages, once the model has checked
    them."""
    model, languages = unmarked(run.model)
    translation = session.translation
    is_shown = translation is not None and translation.answer.run == run.id
    if is_shown and run.stored is None and languages is not None:
        session.model.languages[model] = languages
