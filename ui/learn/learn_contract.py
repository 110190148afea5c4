"""Values sent to the chapters of Learn."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class LessonAnswer(TypedDict):
    """What a chapter of the lesson answered; made by `ui.learn.course.answer`."""

    error: str  # why it could not answer; "" where it could
    result: dict[str, Any] | None  # as the chapter's own file says; None leaves what is shown


class LessonValue(TypedDict):
    """The reply to a question of the lesson, whose event is `ask {chapter, number, inputs}`: the number alone, if
    something went wrong, and otherwise the fields of a `LessonAnswer`."""

    number: int
    error: NotRequired[str]
    result: NotRequired[dict[str, Any] | None]
