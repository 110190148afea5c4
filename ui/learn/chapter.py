"""A chapter of the course: what it asks for and computes, what its text can show of that, and its exercises."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ui.learn.exercises.exercise import Exercise, check_text, declared
from ui.learn.inputs import Input, Inputs, read_all
from ui.learn.text.chapter_text import ChapterText, read_text
from ui.learn.text.slots import DRAWING, EXPLANATION, PREDICTION, RESET, VALUE, Slot
from ui.runs.models import Models

TEXTS, DRAWINGS = (Path(__file__).parent / "chapters" / kind for kind in ("texts", "drawings"))
_EXPORT = re.compile(r"^export (?:function |const |\{ )(\w+)", re.MULTILINE)  # of a script


@dataclass(frozen=True, slots=True)
class Chapter:
    """What `chapters/NAME.py` computes; `texts/NAME.md` there has its words, and `drawings/NAME.js` its drawings."""

    compute: Callable[[Models, Inputs], dict[str, Any]]  # from the inputs, those checked that can be without a model
    inputs: Mapping[str, Input]
    values: str  # the names of the computed values that the text shows, with spaces between them
    exercises: Mapping[str, Exercise]
    slots: Mapping[str, Slot] = field(default_factory=dict)  # buttons, cases, and others that are neither
    facts: Mapping[str, str] = field(default_factory=dict)  # numbers that its text quotes

    def read_text(self, name: str) -> ChapterText:
        text = read_text(TEXTS / f"{name}.md", self._all_slots(name), self.facts, tuple(self.exercises))
        for one, exercise in self.exercises.items():
            check_text(exercise, text.exercises[one], f"The exercise {{{{{one}}}}} of {name}.md")
        return text

    def _all_slots(self, name: str) -> dict[str, Slot]:
        """All that its text must have."""
        script = DRAWINGS / f"{name}.js"
        exports = _EXPORT.findall(script.read_text(encoding="utf-8")) if script.exists() else []
        drawings = {name: DRAWING for name in exports if name not in ("explain", "lit")}
        if "explain" in exports:
            drawings["explanation"] = EXPLANATION
        inputs = {name: one.slot for name, one in self.inputs.items() if one.slot}
        predictions = {name: PREDICTION for name, exercise in self.exercises.items() if exercise.predicted}
        values = dict.fromkeys(self.values.split(), VALUE)
        return {"reset": RESET, **values, **inputs, **drawings, **predictions, **self.slots}

    @property
    def first(self) -> dict[str, Any]:
        """The values of its own example, as far as they don't depend on the models."""
        return {name: one.first for name, one in self.inputs.items() if one.first is not None}

    def answer(self, models: Models, inputs: Inputs) -> dict[str, Any]:
        """The values of its inputs, and what is computed from them."""
        values = read_all(self.inputs, inputs)
        return {**values, **self.compute(models, {**inputs, **values})}

    def result(self, models: Models, inputs: Inputs) -> dict[str, Any]:
        """The answer for the page, which names its inputs apart, too."""
        return self.named(self.answer(models, inputs))

    def named(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """An answer with its inputs apart."""
        return {**answer, "inputs": {name: answer[name] for name in self.inputs if name in answer}}

    def page(self, text: ChapterText) -> dict[str, Any]:
        """All that the page needs before the first result."""
        return {
            "blocks": text.blocks,
            "slots": {name: {"kind": slot.kind, **slot.options} for name, slot in text.slots.items()},
            "first": self.first,
            "exercises": [declared(name, exercise, text.exercises[name]) for name, exercise in self.exercises.items()],
        }
