"""A chapter of the course: what it computes, what its text can show of that, and its exercises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ui.learn.exercises.exercise import Exercise, check_text, declared
from ui.learn.text.chapter_text import ChapterText, read_text
from ui.learn.text.slots import INPUTS, Slot
from ui.learn.validation import Given
from ui.runs.models import Models

FOLDER = Path(__file__).parent / "chapters"


@dataclass(frozen=True, slots=True)
class Chapter:
    """What `chapters/NAME.py` computes; `chapters/NAME.md` has its words."""

    answer: Callable[[Models, Given], dict[str, Any]]
    slots: Mapping[str, Slot]
    exercises: Mapping[str, Exercise]
    first: Mapping[str, Any] = field(default_factory=dict)  # the values of its inputs that a link need not carry
    facts: Mapping[str, Callable[[], str]] = field(default_factory=dict)  # numbers that its text quotes

    def read_text(self, name: str) -> ChapterText:
        text = read_text(FOLDER / f"{name}.md", self.slots, tuple(self.facts), tuple(self.exercises))
        for one, exercise in self.exercises.items():
            check_text(exercise, text.exercises[one], f"The exercise {{{{{one}}}}} of {name}.md")
        return text

    def result(self, models: Models, given: Given) -> dict[str, Any]:
        """What is computed from the inputs, which are in it as `given`."""
        result = self.answer(models, given)
        return {"given": {name: result[name] for name in self.inputs() if name in result}, **result}

    def inputs(self) -> tuple[str, ...]:
        """The names of all values that a reader can change."""
        of_slots = (
            (slot.options.get("edits") or name).partition(".")[0]
            for name, slot in self.slots.items()
            if slot.kind in INPUTS
        )
        return tuple(dict.fromkeys([*self.first, *of_slots]))

    def page(self, text: ChapterText) -> dict[str, Any]:
        """All that the page needs before the first result."""
        return {
            "blocks": text.blocks,
            "slots": {name: {"kind": slot.kind, **slot.options} for name, slot in self.slots.items()},
            "first": self.first,
            "exercises": [declared(exercise, text.exercises[name]) for name, exercise in self.exercises.items()],
        }
