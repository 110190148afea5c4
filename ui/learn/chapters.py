"""The chapters of the lesson: what each answers to what the page asked; no text is generated, no session is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from model.errors import AttendError
from ui.learn.attention import chapter as lesson_attention
from ui.learn.block import chapter as lesson_block
from ui.learn.contract import LessonAnswer
from ui.learn.positions import chapter as lesson_positions
from ui.learn.sentences import chapter as lesson_sentences
from ui.learn.tokens import chapter as lesson_tokens
from ui.learn.training import chapter as lesson_training
from ui.learn.validation import Given
from ui.learn.vectors import chapter as lesson_vectors
from ui.learn.vocabulary import chapter as lesson_vocabulary
from ui.runs.models import Models

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


def answer(models: Models, chapter: str, given: Given) -> LessonAnswer:
    """What a chapter shows, or in one sentence why what was asked for cannot be shown.

    Args:
        given: what was asked, as the page sent it; nothing asks for the chapter's own example.
    """
    result, message = None, ""
    try:
        if chapter not in CHAPTERS:
            raise AttendError("This page is out of date: reload it.")
        result = CHAPTERS[chapter](models, given)
    except AttendError as error:
        message = str(error)
    return {"chapter": chapter, "error": message, "result": result}
