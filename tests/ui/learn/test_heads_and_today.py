"""The chapters on several heads and on today's models: what the page gets, and what they refuse."""

from __future__ import annotations

import base64
from typing import Any

import pytest
import torch

from model import catalog, names
from tests.ui.learn.asking import NONE, ask, refusal
from ui.learn.chapters.today import PRESETS
from ui.runs.models import Models

OURS = ("attend-chat", "attend-translate")
EMBEDDED = pytest.mark.skipif(not set(OURS) <= set(names.embedded()), reason="the embedded models are not there")


@pytest.fixture(scope="module")
def ours() -> Models:
    return Models(OURS, lambda name, _: catalog.load(name))


def test_where_our_models_are_missing_the_rest_is_there(models: Models) -> None:
    heads, today = ask(NONE, "heads", split=3), ask(models, "today")
    assert heads["maps"] == {"one": None, "other": None} and not any(heads["kinds"].values())
    assert len(heads["stages"]["weights"]) == 3
    assert "chat.norm" not in today and today["shares"] and today["cache"]["name"] == models.default
    assert today["norms"]["LayerNorm"][0][2] == 0.0  # 3 is the mean of 1, 2, 3 and 6


@EMBEDDED
def test_what_each_head_gives_to_the_tokens_of_a_sentence_adds_up_to_one(ours: Models) -> None:
    attention = ask(ours, "sentences")["attention"]
    numbers = torch.frombuffer(bytearray(base64.b64decode(attention["weights"])), dtype=torch.int16)
    rows = numbers.double().view(attention["layers"] * attention["heads"], len(attention["tokens"])) / 32767
    torch.testing.assert_close(rows.sum(dim=-1), torch.ones(len(rows), dtype=torch.double), atol=1e-3, rtol=0)


def test_the_shapes_begin_with_those_of_keras() -> None:
    """../shared/REFERENCE.md: `MultiHeadAttention(num_heads=3, key_dim=2)` on width 16."""
    shapes = [shape for _, _, shape in ask(NONE, "heads")["learned"]]
    assert shapes == [*["(16, 3, 2)", "(3, 2)"] * 3, "(3, 2, 16)", "(16)"]


@EMBEDDED
def test_a_head_of_attend_chat_looks_up_the_name(ours: Models) -> None:
    """The pair that the chapter begins with: the token before, and from the second "called" the name's first token."""
    maps = ask(ours, "heads")["maps"]
    previous, lookup = maps["one"], maps["other"]
    tokens = [token.strip() for token in maps["tokens"]]
    back = [row[at - 1] for at, row in enumerate(previous) if at]
    assert sum(back) / len(back) > 0.6
    assert tokens[-1] == "called" and lookup[-1].index(max(lookup[-1])) == tokens.index("M") and max(lookup[-1]) > 0.5


@EMBEDDED
def test_a_chats_tokens_and_the_cache_of_its_model(ours: Models) -> None:
    today = ask(ours, "today", message="Hi!", tokens=100, measure=True)
    assert [token.strip() for token in today["chat_tokens"]] == ["<s>", "<user>", "Hi", "!", "<end>", "<assistant>"]
    assert today["cache"]["bytes"] == 2 * 6 * 8 * 32 * 100 * 4
    assert [row[0] for row in today["timings"]] == ["16 tokens", "64 tokens", "256 tokens"]
    assert (today["chat.norm_place"], today["translate.norm_place"]) == ("before", "after")
    assert today["chat.key_value_heads"] == "8, for 8 query heads"


@EMBEDDED
@pytest.mark.parametrize(
    ("chapter", "inputs", "sentence"),
    [
        ("heads", {"split": 4}, "Split is 4, but must be one of 1, 2, 3, 6."),
        ("heads", {"width": 4097}, "Width is 4097, but must be a whole number from 1 to 4,096."),
        ("heads", {"head_width": "2"}, "Head width is '2', but must be a whole number"),
        ("heads", {"one": [7, 1]}, "Layer is 7, but must be a whole number from 1 to 6."),
        ("heads", {"other": [1, 0]}, "Head is 0, but must be a whole number from 1 to 8."),
        ("heads", {"one": 5}, "reload it"),
        ("heads", {"one": [1, 2, 3]}, "reload it"),
        ("heads", {"sentence": "word " * 20}, "tokens, but at most 16 can be shown: shorten it."),
        ("heads", {"source": " "}, "The French sentence is empty"),
        ("heads", {"translation": "a" * 121}, "The translation has 121 characters, but the limit is 120"),
        ("heads", {"layer": 4}, "Layer is 4, but must be a whole number from 1 to 3."),
        ("today", {"vector": [[1, 2, 3]]}, "Vector must have 1 row of 4 numbers"),
        ("today", {"message": ""}, "Message is empty"),
        ("today", {"tokens": 0}, "Tokens is 0, but must be a whole number from 1 to 100,000."),
        ("today", {"model": "owner/name"}, "must be one of attend-chat, attend-translate"),
        ("today", {"measure": "yes"}, "Measure"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(
    ours: Models, chapter: str, inputs: dict[str, Any], sentence: str
) -> None:
    refused = refusal(ours, chapter, **inputs)
    assert sentence in refused and refused.endswith(".") and "\n" not in refused


@EMBEDDED
def test_a_text_does_more_for_the_sentence_that_follows_it(ours: Models) -> None:
    """As the chapter claims of both of its examples."""
    for name in ("next sentence", "classification"):
        rows = ask(ours, "today", **PRESETS[name])["judged"]
        first, second = (float(row[3].replace("−", "-")) for row in rows)
        assert first > 0.5 > -0.5 > second, name
    assert ask(ours, "today")["mixtral_all"] == "46.7"
