"""Learn: the lesson, whose chapters ask for what they show; which function answers them."""

from __future__ import annotations

from typing import Any

from ui.frame import Frame, Tab
from ui.kit.component import component
from ui.learn import course
from ui.learn.learn_contract import LessonAnswer
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
        frame.ask(self.lesson, "ask", answer_lesson, concurrency_limit=_LESSONS, concurrency_id="lessons")


def answer_lesson(session: Session, models: Models, chapter: str, inputs: dict[str, Any]) -> LessonAnswer:
    """The answer of a chapter, whose models stay in memory for the visitor's next questions."""
    cached = models.with_embedded_cache(session.model.lesson)
    return course.answer(cached, chapter, inputs, session.model.name)
