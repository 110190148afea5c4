"""The chapters of the lesson: what each answers to what the page asked; no text is generated, no session is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from model.errors import AttendError
from ui import (
    lesson_attention,
    lesson_block,
    lesson_positions,
    lesson_sentences,
    lesson_tokens,
    lesson_training,
    lesson_vectors,
    lesson_vocabulary,
)
from ui.contract import LessonValue
from ui.lesson_checks import Given
from ui.models import Models

CHAPTERS: Mapping[str, Callable[[Models, Given], dict[str, Any]]] = MappingProxyType(
    {
        "tokens": lesson_tokens.answer,
        "vocabulary": lesson_vocabulary.answer,
        "vectors": lesson_vectors.answer,
        "positions": lesson_positions.answer,
        "attention": lesson_attention.answer,
        "block": lesson_block.answer,
        "training": lesson_training.answer,
        "sentences": lesson_sentences.answer,
    }
)

FIRST: Mapping[str, Mapping[str, Any]] = MappingProxyType(  # what fields hold before anything was asked
    {
        "tokens": lesson_tokens.FIRST,
        "vocabulary": lesson_vocabulary.FIRST,
        "vectors": lesson_vectors.FIRST,
        "positions": lesson_positions.FIRST,
    }
)


def answer(models: Models, chapter: str, number: int, given: Given) -> LessonValue:
    """What a chapter shows, or in one sentence why what was asked for cannot be shown.

    Args:
        number: of the question, by which the page knows which one this answers.
        given: what was asked, as the page sent it; nothing asks for the chapter's own example.
    """
    result, said = None, ""
    try:
        if chapter not in CHAPTERS:
            raise AttendError("The page asked for a chapter that this version does not have: reload it.")
        result = CHAPTERS[chapter](models, given)
    except AttendError as error:
        said = str(error)
    return {"chapter": chapter, "number": number, "said": said, "result": result}
