"""Which function answers the lesson's questions."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ui import lessons, views
from ui.errors import for_people
from ui.handlers import QUICK, field
from ui.models import Models


def wire(lesson: gr.HTML, models: Models) -> None:
    def lesson_of(event: gr.EventData) -> Any:
        with for_people():
            chapter, number = field(event, "chapter", str), field(event, "number", int)
            return views.packed(lessons.answer(models, chapter, number, field(event, "given", dict)))
        return gr.skip()

    lesson.ask(lesson_of, None, lesson, trigger_mode="multiple", **{**QUICK, "concurrency_limit": 4})
