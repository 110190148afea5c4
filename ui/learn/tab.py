"""Learn: the lesson, whose chapters ask for what they show; which function answers them."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ui.frame import Frame, Tab
from ui.kit.component import component
from ui.kit.errors import for_people
from ui.kit.events import QUICK, field, reply
from ui.learn import course
from ui.runs.models import Models
from ui.runs.session import Session

_LESSONS = 4  # questions that are answered at the same time, of all visitors


class LearnTab(Tab):
    """The course: it keeps nothing of a visitor and takes no settings."""

    name = "Learn"
    element = "attend-lesson"
    takes_settings = False

    def lay_out(self, models: Models, *, first: bool) -> None:
        self.lesson = component("learn/learn.js", "ask", name="lesson", **course.frame())

    def wire(self, frame: Frame) -> None:
        models = frame.models

        def lesson_of(session: Session, event: gr.EventData, request: gr.Request) -> Any:
            if request.session_hash:
                frame.sessions_by_hash[request.session_hash] = session
            cached = models.with_embedded_cache(session.model.lesson)
            with for_people():
                chapter, inputs = field(event, "chapter", str), field(event, "inputs", dict)
                broken = {"error": "", "result": None}
                return reply(event, lambda: course.answer(cached, chapter, inputs, session.model.name), broken)
            return gr.skip()

        lessons = {**QUICK, "concurrency_limit": _LESSONS, "concurrency_id": "lessons"}
        self.lesson.ask(lesson_of, frame.session, self.lesson, trigger_mode="multiple", **lessons)
