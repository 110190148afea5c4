"""What the page offers about the run that is shown: which function answers which question of the record's script.

Every question has a number, and the reply carries it: what has been overtaken is not drawn.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from ui.inspector.toolbar import counterfactual as whatif
from ui.inspector.toolbar import record, replay
from ui.kit.component import component
from ui.kit.errors import for_people
from ui.kit.events import QUICK, field, reply
from ui.kit.packing import packed
from ui.runs.models import Models
from ui.runs.session import Session

MAX_NAME = 200  # characters of a file's


def build() -> gr.HTML:
    """The record of the run that is shown; its values are `RecordReply`s."""
    form = whatif.whatif_form()
    return component("inspector/toolbar/toolbar.js", "save", "change_settings", "open_file", name="record", form=form)


def wire(session: gr.State, view: gr.HTML, inspector: gr.HTML, models: Models) -> None:
    """
    Args:
        view: the record's component.
        inspector: where a run that is opened from a file appears.
    """

    def save(visitor: Session, event: gr.EventData) -> Any:
        return reply(event, lambda: {"file": record.saved(visitor, models, field(event, "run", str))})

    def change(visitor: Session, event: gr.EventData) -> Any:
        def answer() -> dict[str, Any]:
            run, settings = field(event, "run", str), field(event, "settings", dict)
            return {"whatif": whatif.answer(visitor, models, run, settings)}

        return reply(event, answer)

    def open_file(visitor: Session, event: gr.EventData) -> Any:
        with for_people(), visitor.lock:
            number = visitor.next_update()
            text, name = field(event, "text", str), field(event, "name", str)
            run = replay.opened(visitor, text, field(event, "number", int), name[:MAX_NAME])
            return packed({**run, "number": number})
        return gr.skip()

    view.save(save, session, view, trigger_mode="multiple", **QUICK)
    view.change_settings(change, session, view, **QUICK)  # one at a time: what comes twice was asked again
    view.open_file(open_file, session, inspector, trigger_mode="multiple", **QUICK)
