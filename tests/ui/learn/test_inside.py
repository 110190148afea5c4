"""The chapter on what happens inside: the numbers of its tables, and what it refuses."""

from __future__ import annotations

from functools import partial

import pytest

from lesson.inside import MAX_TOKENS, look_inside, patch_word
from model import catalog, names
from model.errors import AttendError
from tests.ui.learn.asking import NONE
from tests.ui.learn.asking import ask as course_asked
from tests.ui.learn.asking import refusal as course_refusal
from ui.learn.chapters.inside import HEAD, LAYER, OTHER, READER, SENTENCE
from ui.runs.models import Models

EMBEDDED = pytest.mark.skipif(READER not in names.embedded(), reason="the embedded model is not there")


ask, refusal = partial(course_asked, about="inside"), partial(course_refusal, about="inside")


@pytest.fixture(scope="module")
def ours() -> Models:
    return Models((READER,), lambda name, _: catalog.load(name))


def test_without_its_model_the_chapter_says_so() -> None:
    result = ask(NONE)
    assert result["reader"] == ["missing"] and result["effects"] is None and result["with_head"] == []


def test_tiny_numbers_give_finite_ones_or_are_refused() -> None:
    assert ask(NONE, two_shares=[[0.6, 1e-310]])["change"] == -713.3  # ln 1e-310 − ln 0.6 = −713.801 + 0.511
    assert ask(NONE, three_differences=[[1e-6, 0, 1e6]])["restored"] == 1e12
    refused = refusal(NONE, three_differences=[[1e-310, 0, 1]])
    assert refused.startswith("The differences of both sentences must be at least 0.000001 apart")


@EMBEDDED
def test_the_first_example_shows_what_the_text_says(ours: Models) -> None:
    """The answer is the name; the head that starts switched off is the one that it needs most; the name's vector
    carries the answer below, the last token's above."""
    result = ask(ours)
    loaded = ours.get(READER)
    likeliest = loaded.model.prefill(loaded.prompt(SENTENCE)).logits[0].softmax(dim=-1)
    assert result["with_head"][0][0]["token"] == loaded.tokenizer.label(int(likeliest.argmax()))
    assert result["switched_off"]["before"] == pytest.approx(likeliest.max().item(), rel=1e-3)
    assert result["answer"] == "Max" and result["other_answer"] == "Tom"
    effects = [
        (value, layer, head) for layer, row in enumerate(result["effects"], 1) for head, value in enumerate(row, 1)
    ]
    assert min(effects)[1:] == (LAYER, HEAD)
    word = result["other_tokens"].index("Tom")
    places = result["places"]
    assert places[0][word] > 0.9 and places[-1][-1] == pytest.approx(1.0, abs=1e-3)
    # After the last layer only the last token counts, and nothing before the changed word differs.
    assert all(abs(share) < 1e-3 for share in places[-1][:-1]) and all(abs(row[0]) < 1e-3 for row in places)


@EMBEDDED
def test_a_switched_off_head_is_off(ours: Models) -> None:
    """The bars without a head are those of a model whose output projection lacks the head's columns."""
    loaded = catalog.load(READER)  # changed below
    one = look_inside(loaded, SENTENCE, (4, 3), count=3)
    width = loaded.model.config.head_width  # type: ignore[attr-defined]
    loaded.model.blocks[4].attention.o_proj.weight.data[:, 3 * width : 4 * width] = 0.0  # type: ignore[attr-defined]
    loaded.model.compiled = None  # type: ignore[attr-defined]
    slow = loaded.model.logits(one.tokens, (0,))[0].softmax(dim=-1)
    assert [share for _, share in one.without] == pytest.approx(
        [slow[token].item() for token, _ in one.without], abs=1e-5
    )


@EMBEDDED
def test_texts_that_cannot_be_looked_into_are_refused(ours: Models) -> None:
    loaded = ours.get(READER)
    for text, other, words in (
        (SENTENCE, "My dog is called Mimi. My dog is called", "equal length"),
        (SENTENCE, SENTENCE, "change the word"),
        ("word " * (MAX_TOKENS + 1), OTHER, f"at most {MAX_TOKENS}"),
    ):
        with pytest.raises(AttendError, match=words):
            patch_word(loaded, text, other)
    assert refusal(ours, layer=7)
