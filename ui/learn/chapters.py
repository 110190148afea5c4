"""The chapters of the lesson: each computes a result for the page's input, without a session or generated text."""

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

FIRST: Mapping[str, Mapping[str, Any]] = MappingProxyType(  # the initial values of the fields
    {
        "tokens": lesson_tokens.FIRST,
        "vocabulary": lesson_vocabulary.FIRST,
        "vectors": lesson_vectors.FIRST,
        "positions": lesson_positions.FIRST,
    }
)


def answer(models: Models, chapter: str, given: Given) -> LessonAnswer:
    """The result of a chapter, or an error message.

    Args:
        given: the input, as the page sent it; empty for the chapter's own example.
    """
    result, message = None, ""
    try:
        if chapter not in CHAPTERS:
            raise AttendError("This page is out of date: reload it.")
        result = CHAPTERS[chapter](models, given)
    except AttendError as error:
        message = str(error)
    return {"chapter": chapter, "error": message, "result": result}
