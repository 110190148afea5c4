"""The chapter on why attention was needed: its results for the page, and the requests it refuses."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
import torch

from model import catalog, names
from tests.ui.learn.asking import NONE
from tests.ui.learn.asking import ask as course_asked
from tests.ui.learn.asking import refusal as course_refusal
from ui.learn.chapters import why_attention
from ui.runs.models import Models

EMBEDDED = Models(names.embedded(), lambda name, _: catalog.load(name))


ask, refusal = partial(course_asked, EMBEDDED, "why_attention"), partial(course_refusal, EMBEDDED, "why_attention")


@pytest.fixture(scope="module")
def first() -> dict[str, Any]:
    return ask()


def test_the_papers_table_stands_there(first: dict[str, Any]) -> None:
    """Vaswani et al., 2017, table 1, and 50² · 512, 50 · 512² and 3 · 50 · 512² operations."""
    formulas = [[cell["formula"] for cell in row if isinstance(cell, dict)] for row in first["costs"]]
    assert formulas == [
        ["O(n² · d)", "O(1)", "O(1)"],
        ["O(n · d²)", "O(n)", "O(n)"],
        ["O(k · n · d²)", "O(1)", "O(log_k n)"],
        ["O(r · n · d)", "O(1)", "O(n/r)"],
    ]
    assert [row[2] for row in first["costs"][:3]] == ["1,280,000", "13,107,200", "39,321,600"]
    assert ask(length=1024)["ratio"] == "0.50"  # d / n = 512 / 1024


def test_curves_show_what_reaches_far(first: dict[str, Any]) -> None:
    gradients = {curve["name"]: curve["shares"] for curve in first["gradients"]}
    assert list(gradients) == ["untrained", "gru", "gru-attention", "attend-translate"]
    assert all(max(shares) == 1 for shares in gradients.values())
    assert gradients["untrained"][-1] < gradients["gru-attention"][-1] < gradients["attend-translate"][-1]
    noticed = {curve["name"]: curve["shares"] for curve in first["noticed"]}
    assert [len(shares) for shares in noticed.values()] == [8] * 3  # 0, 2, … 14 words between
    short = ask(between="noir")
    assert [curve["shares"] for curve in short["noticed"]] == [shares[:1] for shares in noticed.values()]


def test_times_are_measured_when_they_are_asked_for(first: dict[str, Any]) -> None:
    assert "timings" not in first
    rows = ask(measure=True)["timings"]
    assert [row[:3] for row in rows if row[1] == "120 tokens"] == [
        ["GRU", "120 tokens", 120],
        ["GRU with attention", "120 tokens", 120],
        ["attend-translate", "120 tokens", 5],  # its encoder's layers
    ]


def test_states_are_passed_on(first: dict[str, Any]) -> None:
    assert (first["words"][: first["read"]], first["read"]) == (["je", "suis", "étudiant"], 3)
    befores, afters = ([step[row] for step in first["steps"]] for row in (1, 5))
    assert befores[1:] == afters[:-1]
    longer = ask(source="le " * 8)
    assert [len(step[5]) for step in longer["steps"]] == [why_attention.WIDTH] * 12


def test_a_sentence_is_translated_by_all(first: dict[str, Any]) -> None:
    assert [one["name"] for one in first["translations"]] == ["gru", "gru-attention", "attend-translate"]
    for one in first["translations"]:
        assert one["text"] and one["source"] == first["translations"][0]["source"]
        if one["alignment"] is not None:
            assert len(one["alignment"]) == len(one["tokens"])
            sums = torch.tensor(one["alignment"]).sum(dim=-1)
            assert (sums - 1).abs().max() < 0.01
    assert [one["alignment"] is None for one in first["translations"]] == [True, False, False]
    assert ask(**first["inputs"]) == first
    assert len(json.dumps(first)) < 20_000


def test_without_attend_translate_there_are_the_other_two() -> None:
    without = course_asked(NONE, "why_attention", sentence="Bonjour !")
    assert [one["name"] for one in without["translations"]] == ["gru", "gru-attention"]


def test_the_record_is_complete(first: dict[str, Any]) -> None:
    recorded = first["recorded"]
    lengths = list(recorded["sentences"])
    assert all(list(bleu) == lengths for bleu in recorded["bleu"].values())
    assert (
        sum(count for length, count in recorded["sentences"].items() if length != "all") == recorded["sentences"]["all"]
    )


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ({"source": "a " * 9}, "The encoder's text has 9 words, but may have at most 8: shorten it."),
        ({"target": " "}, "The decoder's text is empty: type something."),
        ({"sentence": 5}, "The French sentence is 5, but must be text."),
        ({"sentence": "a" * 201}, "The French sentence has 201 characters, but the limit is 200: shorten it."),
        ({"sentence": "é漢" * 20}, "The French sentence has "),
        ({"sentence": "\ud800"}, "The text contains half a character"),
        ({"long": "é漢" * 24}, "The long sentence has "),
        ({"other": "hippopotame"}, "The two words take "),
        ({"between": "é漢 " * 30}, "The sentence has "),
        ({"meeting": 10}, "Meeting is 10, but must be a whole number from 2 to 9."),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(inputs: dict[str, Any], sentence: str) -> None:
    refused = refusal(**inputs)
    assert refused.startswith(sentence) and "\n" not in refused
