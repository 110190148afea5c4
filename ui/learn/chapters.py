"""The chapters of the lesson: each computes a result for the page's input, without a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from model.errors import AttendError
from ui.learn.attention import chapter as lesson_attention
from ui.learn.attention import exercises as attention_exercises
from ui.learn.block import chapter as lesson_block
from ui.learn.block import exercises as block_exercises
from ui.learn.context import chapter as lesson_context
from ui.learn.context import exercises as context_exercises
from ui.learn.exercise import Exercise
from ui.learn.exercise import answer as answer_exercise
from ui.learn.generation import chapter as lesson_generation
from ui.learn.generation import exercises as generation_exercises
from ui.learn.heads import chapter as lesson_heads
from ui.learn.heads import exercises as heads_exercises
from ui.learn.learn_contract import LessonAnswer
from ui.learn.positions import chapter as lesson_positions
from ui.learn.positions import exercises as positions_exercises
from ui.learn.recurrence import chapter as lesson_recurrence
from ui.learn.recurrence import exercises as recurrence_exercises
from ui.learn.sentences import chapter as lesson_sentences
from ui.learn.sentences import exercises as sentences_exercises
from ui.learn.today import chapter as lesson_today
from ui.learn.today import exercises as today_exercises
from ui.learn.tokens import chapter as lesson_tokens
from ui.learn.tokens import exercises as tokens_exercises
from ui.learn.training import chapter as lesson_training
from ui.learn.training import exercises as training_exercises
from ui.learn.validation import Given
from ui.learn.vectors import chapter as lesson_vectors
from ui.learn.vectors import exercises as vectors_exercises
from ui.learn.vocabulary import chapter as lesson_vocabulary
from ui.learn.vocabulary import exercises as vocabulary_exercises
from ui.runs.models import Models


@dataclass(frozen=True, slots=True)
class Chapter:
    """What the server knows of a chapter; `ui/learn/course.js` has its title and aim."""

    answer: Callable[[Models, Given], dict[str, Any]]
    exercises: tuple[Exercise, ...]
    first: Mapping[str, Any] = field(
        default_factory=dict
    )  # the initial values of its fields, where the page needs them


CHAPTERS: Mapping[str, Chapter] = MappingProxyType(
    {
        "tokens": Chapter(lesson_tokens.answer, tokens_exercises.EXERCISES, lesson_tokens.FIRST),
        "vocabulary": Chapter(lesson_vocabulary.answer, vocabulary_exercises.EXERCISES, lesson_vocabulary.FIRST),
        "vectors": Chapter(lesson_vectors.answer, vectors_exercises.EXERCISES, lesson_vectors.FIRST),
        "positions": Chapter(lesson_positions.answer, positions_exercises.EXERCISES, lesson_positions.FIRST),
        "attention": Chapter(lesson_attention.answer, attention_exercises.EXERCISES, lesson_attention.FIRST),
        "heads": Chapter(lesson_heads.answer, heads_exercises.EXERCISES, lesson_heads.FIRST),
        "block": Chapter(lesson_block.answer, block_exercises.EXERCISES),
        "recurrence": Chapter(lesson_recurrence.answer, recurrence_exercises.EXERCISES, lesson_recurrence.FIRST),
        "training": Chapter(lesson_training.answer, training_exercises.EXERCISES),
        "generation": Chapter(lesson_generation.answer, generation_exercises.EXERCISES, lesson_generation.FIRST),
        "sentences": Chapter(lesson_sentences.answer, sentences_exercises.EXERCISES),
        "context": Chapter(lesson_context.answer, context_exercises.EXERCISES, lesson_context.FIRST),
        "today": Chapter(lesson_today.answer, today_exercises.EXERCISES, lesson_today.FIRST),
    }
)


def answer(models: Models, chapter: str, given: Given) -> LessonAnswer:
    """The result of a chapter, or an error message.

    Args:
        given: the input, as the page sent it; empty for the chapter's own example. `exercises` in place of a chapter's
            name is for the exercises of the chapter that `given` names, see `ui.learn.exercise.answer`.
    """
    result, message = None, ""
    try:
        result = _exercises(models, given) if chapter == "exercises" else _chapter(chapter).answer(models, given)
    except AttendError as error:
        message = str(error)
    return {"chapter": chapter, "error": message, "result": result}


def _exercises(models: Models, given: Given) -> dict[str, Any]:
    chapter = _chapter(given.get("chapter"))
    return answer_exercise(chapter.exercises, partial(chapter.answer, models), given)


def _chapter(name: object) -> Chapter:
    if not isinstance(name, str) or name not in CHAPTERS:
        raise AttendError("This page is out of date: reload it.")
    return CHAPTERS[name]
