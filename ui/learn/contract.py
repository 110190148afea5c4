"""Values sent to the chapters of Learn."""

from __future__ import annotations

from typing import Any, TypedDict


class LessonAnswer(TypedDict):
    """What a chapter of the lesson answered; made by `ui.learn.chapters.answer`."""

    chapter: str
    said: str  # why what was asked for cannot be shown; "" where it can
    result: dict[str, Any] | None  # as the chapter's own file says; None leaves what is shown


class LessonValue(LessonAnswer):
    """The reply to a question of the lesson, whose event is `ask {chapter, number, given}`."""

    number: int
