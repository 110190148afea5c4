"""What the page offers about the run that is shown: which function answers which question of the record's script.

Every question has a number, and the reply carries it: what has been overtaken is not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from ui import record, replay, views, whatif
from ui.contract import RecordReply
from ui.errors import for_people
from ui.handlers import QUICK, field
from ui.models import Models
from ui.session import Session


def wire(session: gr.State, shown: gr.HTML, inspector: gr.HTML, models: Models) -> None:
    """
    Args:
        shown: the record's component.
        inspector: where a run that is opened from a file appears.
    """

    def save(own: Session, event: gr.EventData) -> str:
        return _reply(event, lambda number: {"number": number, "file": record.saved(own, field(event, "run", str))})

    def change(own: Session, event: gr.EventData) -> str:
        def reply(number: int) -> RecordReply:
            run, settings = field(event, "run", str), field(event, "settings", dict)
            return {"number": number, "whatif": whatif.answer(own, models, run, settings)}

        return _reply(event, reply)

    def open_file(own: Session, event: gr.EventData) -> Any:
        with for_people():
            return views.packed(replay.opened(own, field(event, "text", str)))
        return gr.skip()

    shown.save(save, session, shown, **QUICK)
    shown.change_settings(change, session, shown, trigger_mode="always_last", **QUICK)
    shown.open_file(open_file, session, inspector, **QUICK)


def _reply(event: gr.EventData, answer: Callable[[int], RecordReply]) -> Any:
    """The answer to the question of this number; where it is refused, the number alone."""
    with for_people():
        number = field(event, "number", int)
        reply: RecordReply = {"number": number}
        with for_people():
            reply = answer(number)
        return views.packed(reply)
    return gr.skip()
