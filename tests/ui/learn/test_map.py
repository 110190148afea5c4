"""The map as the page gets it: every chapter stands on it, and a part is sent with its numbers, words and code."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model import catalog, names
from model.loaded import LoadedModel
from tests.helpers.paths import ROOT
from ui.learn import course
from ui.learn.map import parts
from ui.learn.text.markdown import TextError
from ui.runs.models import Models

TOLD = "My dog is called Max. My dog is called"
pytestmark = pytest.mark.skipif("attend-chat" not in names.embedded(), reason="the embedded models are not there")


@pytest.fixture(scope="module")
def models() -> Models:
    loaded: dict[str, LoadedModel] = {name: catalog.load(name) for name in names.embedded()}
    return Models([*loaded], lambda name, progress: loaded[name])


def answer(models: Models, in_use: str = "attend-chat", **inputs: Any) -> dict[str, Any]:
    answered = course.answer(models, "map", inputs, in_use)
    assert answered["error"] == "" and answered["result"] is not None
    return answered["result"]


def numbers(heat: dict[str, Any]) -> np.ndarray:
    """The matrix of a heat map, as the page reads it."""
    steps = np.frombuffer(base64.b64decode(heat["values"]), dtype="<i2").reshape(len(heat["rowNames"]), -1)
    return steps / 32767 * heat["largest"]


def test_each_chapter_stands_on_the_map_and_each_part_leads_to_a_chapter() -> None:
    forms = parts.forms()
    kinds = {
        form: {part["kind"] for side in sides for group in side["groups"] for row in group["rows"] for part in row}
        for form, sides in forms.items()
    }
    for chapter in course.CHAPTERS:
        place = parts.here(chapter)
        assert place is not None, f"{chapter} stands nowhere: name its parts in ui/learn/map/parts.py"
        assert set(place["kinds"]) & kinds[place["form"]] and set(place["kinds"]) <= parts.PARTS.keys()
    for kind, part in parts.PARTS.items():
        assert set(part.chapters) <= course.CHAPTERS.keys() and part.chapters, kind


def test_a_norm_after_the_addition_stands_beside_it() -> None:
    _, attention, *_ = parts.forms()["both"][0]["groups"]
    assert [part["kind"] for part in attention["rows"][-1]] == ["attention_add", "attention_norm"]


@pytest.mark.parametrize("name", names.embedded())
def test_the_numbers_in_the_boxes_add_up_to_the_total(name: str, models: Models) -> None:
    first = answer(models, name)
    layers = {side["name"]: side["layers"] for side in first["sides"]}
    repeated = {
        part["key"]: layers[side["name"]] if group["repeated"] else 1
        for side in first["sides"]
        for group in side["groups"]
        for row in group["rows"]
        for part in row
    }
    assert repeated.keys() == first["parts"].keys()
    boxes = sum(first["parts"][part]["parameters"] * times for part, times in repeated.items())
    assert boxes == first["total"] == sum(one.numel() for one in models.get(name).model.parameters())  # type: ignore[attr-defined]


def test_the_weights_of_a_head_are_those_of_the_model(models: Models) -> None:
    result = answer(models, sentence="My dog is called Max.", part="decoder.weights", layer=3, head=2)
    loaded = models.get("attend-chat")
    tokens = loaded.prompt("My dog is called Max.")
    expected = loaded.model.inspect(tokens).attention.decoder[0, 2, 1].numpy()
    (heat,) = result["detail"]["arrays"]
    assert np.abs(numbers(heat) - expected).max() < 1e-4
    assert heat["rowNames"] == heat["columnNames"] and heat["rowNames"][2:4] == ["dog", "is"]
    assert result["detail"]["place"] == "layer 3, head 2"
    assert result["detail"]["shape"] == f"heads × tokens × tokens = (8, {len(tokens)}, {len(tokens)})"
    assert result["detail"]["code"]["line"].startswith("return scores.softmax(dim=-1)")


def test_the_likeliest_tokens_come_first(models: Models) -> None:
    (heat,) = answer(models, part="decoder.probabilities", sentence=TOLD)["detail"]["arrays"]
    last, loaded = numbers(heat)[-1], models.get("attend-chat")
    probability = float(loaded.model.inspect(loaded.prompt(TOLD)).logits[-1].softmax(dim=-1).max())
    assert heat["columnNames"][0] == "Max" and last[0] == pytest.approx(probability, abs=1e-3)
    assert (np.diff(last) <= 0).all()


def test_every_part_answers_in_every_layer(models: Models) -> None:
    for name in names.embedded():
        for part in answer(models, name)["parts"]:
            detail = answer(models, name, part=part, layer=5 if name == "attend-translate" else 6)["detail"]
            assert detail["tokens"] if part.endswith(".tokens") else detail["arrays"], part
            assert detail["chapters"] and detail["does"], part
            assert (detail["code"] is None) == part.endswith(".probabilities"), part


@pytest.mark.parametrize("kind", parts.CODE)
def test_a_line_of_code_stands_where_it_says(kind: str) -> None:
    code = parts.code_of(kind)
    assert code is not None
    file = (ROOT / code["path"]).read_text(encoding="utf-8").splitlines()
    assert file[code["number"] - 1].strip() == code["line"] == code["source"][code["at"]].strip()
    assert sum(parts.CODE[kind][1] in line for line in code["source"]) == 1, "its words name one line"


def test_a_table_of_the_map_that_is_not_whole_is_named() -> None:
    with pytest.raises(TextError, match=r"^parts\.md has a row of 2 columns, but its table has 3: \| up \| here \|$"):
        list(parts._rows("| a | b | c |\n|--|--|--|\n| up | here |", 3))


def test_a_model_that_cant_be_opened_gives_way_to_one_that_can(models: Models, tiny: LoadedModel) -> None:
    class Closed:
        """A model without parts."""

    loaded = {"closed": replace(tiny, model=Closed()), "attend-chat": models.get("attend-chat")}  # type: ignore[arg-type]
    some = Models([*loaded], lambda name, progress: loaded[name])
    assert answer(some, "closed")["model"] == "attend-chat"
    assert "can't be opened" in course.answer(some, "map", {"model": "closed"}, "closed")["error"]


@pytest.mark.skipif("attend-translate" not in names.embedded(), reason="the translator is not there")
def test_a_chapter_with_an_encoder_opens_a_model_that_has_one(models: Models) -> None:
    first = answer(models, form="both", part="encoder.weights")
    assert (first["model"], first["part"]) == ("attend-translate", "encoder.weights")
    shared = "It shares its matrix with the {}, where it is counted."
    for name, part, owner in (
        ("attend-translate", "decoder.embedding", "encoder’s embedding"),
        ("attend-translate", "decoder.logits", "encoder’s embedding"),
        ("attend-chat", "decoder.logits", "embedding"),
    ):
        assert answer(models, model=name, part=part)["detail"]["parameters"] == shared.format(owner)
    kept = answer(models, model="attend-chat", form="both", part="encoder.weights")
    assert (kept["model"], kept["part"]) == ("attend-chat", "decoder.weights")
    assert answer(models, part="decoder.cross_keys_values")["part"] == "decoder.projections"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"part": "decoder.nothing"}, "Part is 'decoder.nothing', but must be one of decoder.tokens"),
        ({"layer": 7}, "Layer is 7, but must be a whole number from 1 to 6."),
        ({"model": "/etc"}, "Model is '/etc', but must be one of attend-chat"),
        ({"sentence": "one " * 30}, "but at most 24 can be shown"),
    ],
)
def test_other_values_are_refused(inputs: dict[str, Any], message: str, models: Models) -> None:
    answered = course.answer(models, "map", inputs, "attend-chat")
    assert answered["result"] is None and message in answered["error"]
