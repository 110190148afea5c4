"""What lectures print of the GPT-2 family is kept as printed; a text has the product of its tokens' probabilities."""

from __future__ import annotations

import math

import pytest

from lesson.generation.probability import text_probability
from lesson.generation.recorded import RECORDINGS, repeated, write_greedily
from model.loaded import LoadedModel

LIFE, DREAM = RECORDINGS


def test_the_recordings_are_what_the_lectures_print() -> None:
    """../shared/REFERENCE.md, "With distilgpt2" and "With GPT-2 124M"; the checkpoints are held to the same numbers in
    `tests/model/huggingface/test_published.py`."""
    shares = [[p for _, p in step] for step in LIFE.steps]
    assert shares[0] == [0.1513, 0.0890, 0.0650, 0.0557, 0.0513, 0.0199, 0.0157, 0.0153, 0.0118, 0.0112]
    assert [row[:3] for row in shares[1:]] == [
        [0.2613, 0.0408, 0.0191],
        [0.0404, 0.0314, 0.0283],
        [0.2249, 0.1128, 0.0959],
        [0.2281, 0.1354, 0.1226],
    ]
    assert LIFE.prompt + "".join(step[0][0] for step in LIFE.steps) == "The meaning of life is to be understood as a"
    assert dict(step[0] for step in DREAM.steps) == {
        " of": 0.17, " being": 0.0968, " a": None, " doctor": 0.0286, ".": None,
    }  # fmt: skip
    assert "".join(step[0][0] for step in DREAM.steps) == DREAM.loop == " of being a doctor."


def test_greedy_candidates_are_the_softmax_of_the_model_s_logits(tiny: LoadedModel) -> None:
    text = write_greedily(tiny, "Once upon a time", most=6)
    prompt = tiny.prompt("Once upon a time")
    tokens: list[int] = []
    for step in text.steps:
        probabilities = tiny.model.inspect([*prompt, *tokens]).logits[-1].double().softmax(dim=-1)
        best = probabilities.topk(10)
        assert [label for label, _ in step] == [tiny.tokenizer.label(token) for token in best.indices.tolist()]
        assert [p for _, p in step] == pytest.approx(best.values.tolist(), abs=1e-5)
        tokens.append(int(best.indices[0]))
    assert text.text == tiny.text_of([token for token in tokens if token not in tiny.end_tokens])


def test_repetition_is_counted_in_stretches_of_four_words() -> None:
    """In "a b c d a b c d a", the last two of six stretches were there. The recorded loop has 18 words and a period
    of 7: of 15 stretches, all after the first 7. "to" before it makes one more that returns."""
    assert repeated("a b c d a b c d a") == (2, 6)
    assert repeated("too short") == (0, 0)
    assert repeated(LIFE.loop) == (15 - 7, 18 - 3)
    assert repeated(LIFE.loop_prompt + LIFE.loop) == (15 - 7 + 1, 6 + 18 - 3)


def test_a_text_s_probability_is_the_product_of_its_tokens() -> None:
    """von Platen's tree: nice, woman; and the perplexity of equal choices is their number."""
    assert text_probability([0.5, 0.4]).probability == pytest.approx(0.2)
    many = text_probability([0.01] * 400)  # too small for a double
    assert many.probability == 0 and many.power_of_ten == pytest.approx(-800) and many.perplexity == pytest.approx(100)
    assert text_probability([]).perplexity == 1 and text_probability([0.5, 0]).log == -math.inf
