"""The course: its chapters in order, and the answers to what its page asks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from model.errors import AttendError
from ui.learn.chapter import Chapter
from ui.learn.chapters import (
    attention,
    attention_by_hand,
    block,
    context,
    generation,
    heads,
    inside,
    positions,
    sentences,
    today,
    tokens,
    training,
    vectors,
    vocabulary,
    why_attention,
)
from ui.learn.exercises.exercise import Exercises, sheet
from ui.learn.exercises.exercise import answer as answer_exercise
from ui.learn.inputs import Inputs
from ui.learn.learn_contract import LessonAnswer
from ui.learn.map import parts
from ui.learn.map.answer import answer as answer_map
from ui.learn.text.chapter_text import ChapterText
from ui.runs.models import Models

IN_ORDER = (
    *(tokens, vocabulary, vectors, positions, why_attention, attention, attention_by_hand, heads),
    *(block, sentences, training, generation, context, inside, today),
)
CHAPTERS: Mapping[str, Chapter] = MappingProxyType(
    {module.__name__.rpartition(".")[2]: module.CHAPTER for module in IN_ORDER}
)


@cache
def texts() -> Mapping[str, ChapterText]:
    """The text of every chapter; `TextError` if one doesn't fit what its chapter computes."""
    return MappingProxyType({name: chapter.read_text(name) for name, chapter in CHAPTERS.items()})


def frame() -> dict[str, Any]:
    """What the frame is made of: what it says of every chapter and of the map, and the map's small forms."""
    chapters = {
        key: {"title": text.title, "aim": text.aim, "minutes": text.minutes, "here": parts.here(key)}
        for key, text in texts().items()
    }
    return {"chapters": chapters, "map": parts.MAP_WORDS, "forms": parts.forms()}


def answer(models: Models, chapter: str, inputs: Inputs, in_use: str = "") -> LessonAnswer:
    """The result of a chapter, or an error message.

    Args:
        chapter: its name; or `text` for the text of the chapter that `inputs` names, `exercises` for an attempt at one
            of its exercises, see `ui.learn.exercises.exercise.answer`, `sheet` for all of them, `solved` or not, or
            `map` for the map of a model.
        inputs: the input, as the page sent it; empty for the chapter's own example.
        in_use: the visitor's model.
    """
    result, message = None, ""
    try:
        if chapter == "text":
            name = _known(inputs.get("chapter"))
            result = CHAPTERS[name].page(texts()[name])
        elif chapter == "exercises":
            name = _known(inputs.get("chapter"))
            result = answer_exercise(exercises(name), partial(CHAPTERS[name].answer, models), inputs)
        elif chapter == "sheet":
            name = _known(inputs.get("chapter"))
            compute, solved = partial(CHAPTERS[name].answer, models), inputs.get("solved") is True
            result = {"title": texts()[name].title, "exercises": sheet(exercises(name), compute, solved=solved)}
        elif chapter == "map":
            result = answer_map(models, inputs, in_use or models.default, CHAPTERS)
        else:
            result = CHAPTERS[_known(chapter)].result(models, inputs)
    except AttendError as error:
        message = str(error)
    return {"error": message, "result": result}


def exercises(name: str) -> Exercises:
    chapter, text = CHAPTERS[name], texts()[name]
    return {one: (exercise, text.exercises[one]) for one, exercise in chapter.exercises.items()}


def _known(name: object) -> str:
    if not isinstance(name, str) or name not in CHAPTERS:
        raise AttendError("This page is out of date: reload it.")
    return name
