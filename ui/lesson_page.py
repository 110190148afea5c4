"""Which function answers the lesson's questions."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ui import lessons, views
from ui.errors import for_people
from ui.handlers import QUICK, field
from ui.layout import Parts
from ui.models import Models
from ui.session import Here, Session


def wire(parts: Parts, models: Models, here: Here) -> None:
    def lesson_of(session: Session, event: gr.EventData, request: gr.Request) -> Any:
        with for_people():
            if request.session_hash:
                here[request.session_hash] = session
            chapter, number = field(event, "chapter", str), field(event, "number", int)
            kept = models.kept_in(session.read)
            return views.packed(lessons.answer(kept, chapter, number, field(event, "given", dict)))
        return gr.skip()

    parts.lesson.ask(
        lesson_of, parts.session, parts.lesson, trigger_mode="multiple", **{**QUICK, "concurrency_limit": 4}
    )
