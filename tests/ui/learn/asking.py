"""The course, asked by the tests as the page asks it, through JSON both ways."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ui.learn import course
from ui.runs.models import Models

# A page without any model of ours, for what needs none.
NONE = Models(("none",), lambda name, _: pytest.fail(f"this needs no model, but asked for {name}"))


def ask(models: Models, about: str, **inputs: Any) -> dict[str, Any]:
    """The result; the test fails for a refusal."""
    answer = course.answer(models, about, json.loads(json.dumps(inputs)))
    assert answer["error"] == "", answer["error"]
    return json.loads(json.dumps(answer["result"], allow_nan=False))


def refusal(models: Models, about: str, **inputs: Any) -> str:
    """The sentence with which it refuses."""
    answer = course.answer(models, about, inputs)
    assert answer["result"] is None
    return answer["error"]
