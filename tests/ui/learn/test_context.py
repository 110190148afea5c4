"""The chapter on a word in its context: the lecture's numbers, what is recorded, and an encoder in use."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from model import catalog, names
from model.loaded import LoadedModel
from tests.helpers.folders import bert
from tests.ui.learn.asking import ask as course_asked
from tests.ui.learn.asking import refusal as course_refusal
from ui.learn import course
from ui.learn.chapters.context import RECORDED
from ui.runs.models import Models
from ui.runs.models.model_cache import when_loaded

ask, refusal = partial(course_asked, about="context"), partial(course_refusal, about="context")


def test_a_neighbour_moves_the_word_as_in_the_lecture(models: Models) -> None:
    """../shared/REFERENCE.md: 0.8 · (5, 7) + 0.2 · (0, 8) = (4.0, 7.2); 0.9 · (5, 7) + 0.1 · (6, 0) = (5.1, 6.3).
    Their cosine: (20.4 + 45.36) / √(67.84 · 65.7) = 0.985."""
    result = ask(models)
    assert result["sums"] == [[4.0, 7.2], [5.1, 6.3]] and result["alike"] == 0.985
    kept = ask(models, with_phone=[[1, 5, 7], [0, 6, 0]], with_fruit=[[1, 5, 7], [0, 0, 8]])
    assert kept["sums"] == [[5, 7], [5, 7]] and kept["alike"] == 1


@pytest.mark.parametrize("word", RECORDED["words"])
def test_what_is_recorded_agrees_with_itself_and_tells_meanings_apart(models: Models, word: str) -> None:
    result = ask(models, word=word)
    split, count = result["split"], len(result["sentences"])
    assert result["recorded"] and 0 < split < count and len(result["layers"]) == 7
    assert all(word in sentence.lower() for sentence in result["sentences"])
    for layer in result["layers"]:
        pairs = [(one, other) for one in range(count) for other in range(one)]
        for key, same in (("same", True), ("different", False)):
            expected = fmean(layer["cosines"][i][j] for i, j in pairs if ((i < split) == (j < split)) is same)
            assert layer[key] == pytest.approx(expected, abs=1e-3)
    last = result["layers"][-1]
    assert last["same"] > last["different"] + 0.1 and last["different"] > last["control"] + 0.3


def test_an_encoder_in_use_reads_sentences_of_ones_own(tmp_path: Path, models: Models) -> None:
    folder = str(bert(tmp_path / "bert"))
    live = Models(
        models.names, lambda name, _: catalog.load_encoder(name) if name == folder else models.get(name), any_name=True
    )
    assert ask(live, encoder=folder)["recorded"], "one that nobody has opened"
    encoder = when_loaded(live.load(folder))
    assert not isinstance(encoder, LoadedModel)
    assert ask(live)["encoders"][1:] == [[folder, "bert"]] and ask(live)["recorded"]
    own = {"word": "cat", "first": "the cat sat\na cat", "second": "Cat and dog\n\n  cat, banana \nthe cat"}
    result = ask(live, encoder=folder, **own)
    assert not result["recorded"] and result["split"] == 2 and len(result["sentences"]) == 5
    assert len(result["layers"]) == encoder.layer_count + 1 and len(result["layers"][0]["cosines"]) == 5
    example = ask(live, encoder=folder, word="apple")["first"]
    assert example.splitlines() == RECORDED["words"]["apple"]["first"], "the recorded word's sentences are the example"
    assert '"dog" is not in' in refusal(live, encoder=folder, **{**own, "word": "dog"})
    assert refusal(live, encoder=folder, **{**own, "first": "a cat"}) == (
        "The first meaning has 1 sentence: enter 2 to 6, one per line."
    )


def test_a_recording_replaces_what_cannot_be_computed(models: Models) -> None:
    """As in a link from somebody who had an encoder, which this visitor has not."""
    result = ask(models, encoder="bert-base-uncased", word="plant", first="a plant", second="the plant")
    assert (result["recorded"], result["missing"], result["word"]) == (True, "plant", "apple")
    assert result["first"].splitlines() == RECORDED["words"]["apple"]["first"]
    assert ask(models, word="bank")["missing"] == ""
    assert refusal(models, word=7) == "The word is 7, but must be text."


def test_without_a_model_that_continues_texts_their_exercise_says_so(tiny_translator: LoadedModel) -> None:
    translating = Models(("translator",), lambda *_: tiny_translator)
    assert ask(translating)["no_reader"] == ["no reader"]
    answer = course.answer(translating, "exercises", {"chapter": "context", "exercise": "closest", "answer": 0})
    assert answer["error"].startswith("This page doesn't offer attend-chat")


def test_the_last_encoder_stays_in_memory_for_the_next_question(tmp_path: Path, models: Models) -> None:
    folders = [str(bert(tmp_path / name)) for name in ("one", "two")]
    kept: dict[str, Any] = {}
    live = Models(models.names, lambda name, _: catalog.load_encoder(name), any_name=True).with_embedded_cache(kept)
    for folder in folders:
        when_loaded(live.load(folder))
        first = live.encoder(folder)
        assert kept == {folder: first} and live.encoder(folder) is first


@pytest.mark.skipif("attend-chat" not in names.embedded(), reason="attend-chat is not there")
def test_attend_chat_tells_its_four_texts_apart() -> None:
    """Two with the verb, two with the noun: any pair of the same meaning is more alike than any other, with room."""
    alike = ask(Models(("attend-chat",), lambda name, _: catalog.load(name)))["cosines"]
    assert min(alike[0][1], alike[2][3]) > 0.7 > 0.5 > max(alike[i][j] for i in (0, 1) for j in (2, 3))
