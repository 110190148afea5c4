"""The chapter on why attention was needed: its results for the page, and the requests it refuses."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch

from model import catalog, names
from ui.learn import course
from ui.learn.chapters import recurrence
from ui.runs.models import Models

EMBEDDED = Models(names.embedded(), lambda name, _: catalog.load(name))


def ask(**given: Any) -> dict[str, Any]:
    """Ask as the page does, through JSON both ways."""
    answer = course.answer(EMBEDDED, "recurrence", json.loads(json.dumps(given)))
    assert answer["error"] == "", answer["error"]
    return json.loads(json.dumps(answer["result"], allow_nan=False))


@pytest.fixture(scope="module")
def first() -> dict[str, Any]:
    return ask()


def test_it_begins_with_the_lectures_numbers(first: dict[str, Any]) -> None:
    """../shared/REFERENCE.md, "Attention, by hand"."""
    assert first["score"] == pytest.approx(0.62)
    assert first["weights"][0] == pytest.approx([0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581], abs=6e-5)
    assert first["products"][0] == pytest.approx([0.56, 0.14])
    assert first["context"][0] == pytest.approx([0.56 + 0.3 * 0.1, 0.14 + 0.3 * 0.9])
    assert first["dot"]["scores"][0][0] == pytest.approx(0.62)


def test_a_context_vector_is_mixed_as_in_the_lecture(first: dict[str, Any]) -> None:
    """../shared/REFERENCE.md: the vector of "student" = 0.15 · je + 0.05 · suis + 0.8 · étudiant, whose scores are the
    logarithms of the weights. With 7, 4 and 2 as second numbers: 1.05 + 0.2 + 1.6 = 2.85."""
    assert first["words"][:3] == ["je", "suis", "étudiant"]
    states = [[math.log(weight), number] for weight, number in ((0.15, 7), (0.05, 4), (0.8, 2))]
    found = ask(query=[[1, 0]], states=states)["dot"]
    assert found["weights"] == [[0.15, 0.05, 0.8]]
    assert found["context"][0][1] == 2.85


def test_states_are_passed_on(first: dict[str, Any]) -> None:
    assert (first["words"][: first["read"]], first["read"]) == (["je", "suis", "étudiant"], 3)
    befores, afters = ([step[row] for step in first["steps"]] for row in (1, 5))
    assert befores[1:] == afters[:-1]
    longer = ask(source="le " * 8)
    assert [len(step[5]) for step in longer["steps"]] == [recurrence.WIDTH] * 12


def test_a_sentence_is_translated_by_all(first: dict[str, Any]) -> None:
    assert [one["name"] for one in first["translations"]] == ["gru", "gru-attention", "attend-translate"]
    for one in first["translations"]:
        assert one["text"] and one["source"] == first["translations"][0]["source"]
        if one["alignment"] is not None:
            assert len(one["alignment"]) == len(one["tokens"])
            sums = torch.tensor(one["alignment"]).sum(dim=-1)
            assert (sums - 1).abs().max() < 0.01
    assert [one["alignment"] is None for one in first["translations"]] == [True, False, False]
    assert ask(**first["given"]) == first
    assert len(json.dumps(first)) < 20_000


def test_without_attend_translate_there_are_the_other_two() -> None:
    models = Models(("none",), lambda name, _: pytest.fail(f"this page has no models, but was asked for {name}"))
    answer = course.answer(models, "recurrence", {"sentence": "Bonjour !"})
    assert answer["result"] is not None
    assert [one["name"] for one in answer["result"]["translations"]] == ["gru", "gru-attention"]


def test_the_record_is_complete(first: dict[str, Any]) -> None:
    recorded = first["recorded"]
    lengths = list(recorded["sentences"])
    assert all(list(bleu) == lengths for bleu in recorded["bleu"].values())
    assert (
        sum(count for length, count in recorded["sentences"].items() if length != "all") == recorded["sentences"]["all"]
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"source": "a " * 9}, "The encoder's text has 9 words, but may have at most 8: shorten it."),
        ({"target": " "}, "The decoder's text is empty: type something."),
        ({"sentence": 5}, "The French sentence is 5, but must be text."),
        ({"sentence": "a" * 201}, "The French sentence has 201 characters, but the limit is 200: shorten it."),
        ({"sentence": "é漢" * 20}, "The French sentence has "),
        ({"sentence": "\ud800"}, "The text contains half a character"),
        ({"pair": [[1, 2]]}, "Pair must have 2 rows of 2 numbers: reload the page to start again."),
        ({"scores": [[1, 2, 3, 4, 5, None]]}, "Scores can't contain an empty cell"),
        ({"states": [[1e9, 0], [0, 0], [0, 0]]}, "States can't contain"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(given: dict[str, Any], sentence: str) -> None:
    answer = course.answer(EMBEDDED, "recurrence", given)
    assert answer["result"] is None and answer["error"].startswith(sentence) and "\n" not in answer["error"]
