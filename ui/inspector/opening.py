"""Runs in the inspector: opened ones, and one that grows. Knows nothing of gradio."""

from __future__ import annotations

from decoding.run.writer import ids_in
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.inspector.inspector_contract import InspectorValue
from ui.inspector.inspector_value import empty_inspector, inspector_value, labels, step_value
from ui.runs.attention_rows import prompt_choices, restore_attention
from ui.runs.documents.kept_document import complete_runs
from ui.runs.memory import limit_memory
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.run_values import OVERLAP
from ui.runs.runs_contract import RunMode
from ui.runs.session import Session

_PROMPT_CANDIDATES = 10  # recorded for tokens that are given, as in Write
_TYPED_ROWS, _TYPED_STEPS = 64_000, 160  # bytes of attention, and steps of 600 bytes, for a text that is being typed


def streamed(session: Session, run: RunRecord, since: int, loaded: LoadedModel, *, busy: bool) -> InspectorValue | None:
    """What is new in a run from token `since` on; None if the inspector shows another run."""
    if session.inspected_run != run.id:
        return None
    value = inspector_value(run, loaded.tokenizer, busy=busy, since=max(0, since - OVERLAP))
    del value["selected"]  # what grows leaves the visitor's selection where it is
    return value


def opened(session: Session, models: Models, run: RunRecord, selected: int | None = None) -> InspectorValue:
    """All of a run, with its attention computed again if it was dropped; `AttendError` if its model is not loaded and
    nothing else knows how its tokens are shown."""
    if run.stored is not None:
        complete_runs(session, models, run.id)  # the model may be there by now, for another visitor
    if run.stored is not None:
        session.inspected_run = run.id
        return inspector_value(run, run.stored, busy=False, selected=selected)
    loaded = models.require_loaded(run.model)
    session.inspected_run = run.id
    running = run.id in session.growing
    if not running:
        restore_attention(run, loaded.model, loaded.lock)
    value = inspector_value(run, loaded.tokenizer, busy=running, selected=selected)
    limit_memory(session)
    return value


def opened_if_loaded(session: Session, models: Models, run: RunRecord | None, mode: RunMode) -> InspectorValue:
    """All of a run; an empty inspector if there is none, or if its model is no longer loaded.

    Args:
        mode: the tab that shows it.
    """
    if run is not None and (models.is_loaded(run.model) or run.stored is not None):
        return opened(session, models, run)
    session.inspected_run = None
    return empty_inspector(mode, unloaded="" if run is None else models.display_name(run.model))


def typed(session: Session, run: RunRecord, loaded: LoadedModel, *, before: str | None, since: int) -> InspectorValue:
    """What has changed in a text that is being typed; if that is a lot, its newest part.

    Args:
        before: the run of the text as it was.
        since: how many tokens both have.
    """
    whole = session.inspected_run != before or not before
    session.inspected_run = run.id
    value = inspector_value(
        run, loaded.tokenizer, busy=False, since=0 if whole else since, max_rows=_TYPED_ROWS, max_steps=_TYPED_STEPS
    )
    limit_memory(session)
    if "since" in value and before:
        value["continues"] = before
    return value


def open_token(session: Session, models: Models, run: RunRecord, index: int, *, again: str) -> InspectorValue:
    """The run with one generated token selected; `AttendError` if the token is no longer stored.

    Args:
        index: counted from the first explained token.
        again: what the visitor can do to see it again, for the error message.
    """
    number = run.first + index
    if not run.first <= number < len(run.tokens):
        raise AttendError(f"This token is no longer stored: {again} to inspect it.")
    return opened(session, models, run, number)


def explained_prompt(session: Session, models: Models, run: str) -> InspectorValue | None:
    """The steps of an answer's prompt, with its newest tokens again; None where the inspector shows another run or the
    model is not loaded."""
    record = session.run(run)
    if session.inspected_run != run or record.forgotten or not models.is_loaded(record.model):
        return None
    loaded = models.require_loaded(record.model)
    choices = prompt_choices(record, loaded, candidates=_PROMPT_CANDIDATES)
    value = streamed(session, record, len(record.tokens), loaded, busy=run in session.growing)
    if value is not None:
        value["prompt_steps"] = [step_value(choice, "given") for choice in choices]
        value["labels"] |= labels(ids_in(value["prompt_steps"]), loaded.tokenizer)
    return value


def open_run(session: Session, models: Models, run: str) -> InspectorValue:
    """The whole of a run, for a page that missed an update."""
    value = opened(session, models, session.run(run))
    del value["selected"]  # the page knows it
    return value
