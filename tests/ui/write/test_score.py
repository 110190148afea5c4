"""`/score` as a program calls it."""

from __future__ import annotations

from typing import Any

import pytest

from decoding.run.score import score_text
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.runs.models import Models
from ui.write.score import score_endpoint


def test_texts_are_scored_in_their_order(models: Models, tiny: LoadedModel) -> None:
    texts = ["The quick fox.", "And the dog."]
    answer = score_endpoint(models)(texts, tiny.name)
    assert answer == {"scores": [score_text(tiny, text).document() for text in texts]}
    assert score_endpoint(models)(texts[0], tiny.name) == {"scores": answer["scores"][:1]}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"texts": []}, "must be a text or a list of 1 to 64 texts"),
        ({"texts": ["x"] * 65}, "must be a text or a list of 1 to 64 texts"),
        ({"texts": {"a": 1}}, "must be a text or a list of 1 to 64 texts"),
        ({"texts": ["a", 5]}, "Text 2 must be text"),
        ({"texts": " "}, "Text 1 is empty"),
        ({"texts": "a", "stride": -1}, "stride is -1"),
        ({"texts": "a", "model": "other"}, "There is no model 'other' here"),
    ],
)
def test_a_wrong_call_is_refused(models: Models, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(AttendError) as refused:
        score_endpoint(models)(**changes)
    assert sentence in str(refused.value)
