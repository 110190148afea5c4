"""What changes on the screen in Write. Knows nothing of gradio."""

from __future__ import annotations

from dataclasses import dataclass

from model.loaded import LoadedModel
from ui.inspector.inspector_value import empty_inspector
from ui.inspector.opening import opened, typed
from ui.page_update import PageUpdate
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.run_values import meter_value
from ui.runs.session import Session
from ui.write.retokenize import shared


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteUpdate(PageUpdate):
    """What changes in Write."""

    text: str | None = None  # of the box
    running: bool | None = None  # whether Stop is shown
    ended: bool | None = None  # whether the model has ended the text, so that nothing can follow it
    history: tuple[bool, bool] | None = None  # whether there is anything to undo, and to redo


def update_of(session: Session, models: Models, run: RunRecord) -> WriteUpdate:
    """Write with the draft's run, open in the inspector."""
    loaded = models.require_loaded(run.model)
    note = ended_by_model(run, loaded)
    return WriteUpdate(
        inspector=opened(session, models, run),
        meter=meter_value(len(run.tokens), loaded.model.context_length, note=note),
        text=session.draft.text,
        ended=note is not None,
        history=undo_and_redo(session),
    )


def typed_update(session: Session, before: RunRecord | None, run: RunRecord, loaded: LoadedModel) -> WriteUpdate:
    """Write with a text that is being typed.

    Args:
        before: the run of the text as it was.
    """
    note = ended_by_model(run, loaded)
    return WriteUpdate(
        inspector=typed(
            session,
            run,
            loaded,
            before=None if before is None or before is run or before.model != run.model else before.id,
            since=0 if before is None else shared(before.tokens, run.ids),
        ),
        meter=meter_value(len(run.tokens), loaded.model.context_length, note=note),
        ended=note is not None,
        history=undo_and_redo(session),
    )


def empty_update(session: Session, loaded: LoadedModel) -> WriteUpdate:
    """Write with an empty box."""
    session.inspected_run = None
    return WriteUpdate(
        inspector=empty_inspector("write"),
        meter=meter_value(len(loaded.prefix_tokens), loaded.model.context_length),
        text=session.draft.text,
        ended=False,
        history=undo_and_redo(session),
    )


def undo_and_redo(session: Session) -> tuple[bool, bool]:
    """Whether Undo and Redo can be pressed."""
    return (not session.busy and bool(session.draft.undo), not session.busy and bool(session.draft.redo))


def ended_by_model(run: RunRecord, loaded: LoadedModel) -> str | None:
    """A note where the text ends with an end token, so that nothing can follow it; else None."""
    return "the model ended its text here" if run.tokens[-1].id in loaded.end_tokens else None
