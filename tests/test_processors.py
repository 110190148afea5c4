"""Temperature, top-k and top-p: the published numbers, transformers' own filters to the bit, and slow obvious twins."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from transformers.generation.logits_process import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from decoding.processors import Context, Processor, Temperature, TopK, TopP, run_chain

NO_CONTEXT = Context(prompt=(0,), tokens=((),))
NO_IDS: Any = torch.zeros(1, 1, dtype=torch.long)  # transformers' filters take the text, and do not look at it

# closer, every, effort, forward, inches, moves, pizza, toward, you (Raschka, "Build a Large Language Model", chapter 5)
RASCHKA = [4.51, 0.89, -1.90, 6.75, 1.63, -1.62, -1.89, 6.28, 1.79]
CLOSER, FORWARD, TOWARD = 0, 3, 7


def probabilities(logits: Tensor) -> list[float]:
    return logits.double().softmax(-1)[0].tolist()


def after(processor: Processor, logits: list[float]) -> list[float]:
    return probabilities(processor(torch.tensor([logits]), NO_CONTEXT))


# --- published numbers -----------------------------------------------------------------------------------------------


def test_temperature_gives_the_published_numbers() -> None:
    # Raschka, chapter 5, to the six printed decimals
    plain = probabilities(torch.tensor([RASCHKA]))
    assert [plain[i] for i in (FORWARD, TOWARD, CLOSER)] == pytest.approx([0.572120, 0.357576, 0.060907], abs=1e-6)
    sharp = after(Temperature(0.1), RASCHKA)
    assert [sharp[i] for i in (FORWARD, TOWARD)] == pytest.approx([0.990987, 0.009013], abs=1e-6)
    assert after(Temperature(5.0), RASCHKA)[FORWARD] == pytest.approx(0.242052, abs=1e-6)


def test_top_k_gives_the_published_numbers() -> None:
    # weights 30, 15, 5, 1 with k = 3 become 60 %, 30 %, 10 %: 30 / 50, 15 / 50, 5 / 50
    assert after(TopK(3), [math.log(weight) for weight in (30, 15, 5, 1)]) == pytest.approx([0.6, 0.3, 0.1, 0.0])
    kept = after(TopK(3), RASCHKA)  # Raschka, chapter 5
    assert [kept[i] for i in (CLOSER, FORWARD, TOWARD)] == pytest.approx([0.061485, 0.577547, 0.360968], abs=1e-6)
    assert sum(p > 0 for p in kept) == 3


def test_the_nucleus_gives_the_published_numbers() -> None:
    assert sum(p > 0 for p in after(TopP(0.9), RASCHKA)) == 2  # 0.572 + 0.358 = 0.930 reaches 0.9
    # transformers' own tests of its filter (tests/generation/test_logits_process.py), p = 0.8, before renormalising
    for given_, kept in (([0.3, 0.1, 0.1, 0.5], [0.3, 0, 0, 0.5]), ([0.15, 0.3, 0.3, 0.25], [0, 0.3, 0.3, 0.25])):
        result = after(TopP(0.8), [math.log(p) for p in given_])
        assert result == pytest.approx([p / sum(kept) for p in kept], abs=1e-6)


# --- against transformers, bit for bit -------------------------------------------------------------------------------

# Few distinct values make ties, wide ones extremes; -inf is what an earlier stage has removed.
VALUES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-30, -1e4, 1e4, -math.inf]),
    st.floats(min_value=-30, max_value=30, width=32),
)
ROWS = st.lists(VALUES, min_size=1, max_size=80).filter(lambda row: max(row) > -math.inf)
FRACTIONS = st.one_of(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 1.0]), st.floats(0, 1))


def same(ours: Tensor, theirs: Tensor) -> None:
    assert torch.equal(ours, theirs), f"{ours} is not {theirs}"


@settings(max_examples=600, deadline=None)
@given(ROWS, FRACTIONS)
def test_top_p_keeps_what_transformers_keeps(row: list[float], p: float) -> None:
    logits = torch.tensor([row])
    same(TopP(p)(logits, NO_CONTEXT), TopPLogitsWarper(p)(NO_IDS, logits))


@settings(max_examples=300, deadline=None)
@given(ROWS, st.integers(1, 100))
def test_top_k_keeps_what_transformers_keeps(row: list[float], k: int) -> None:
    logits = torch.tensor([row])
    same(TopK(k)(logits, NO_CONTEXT), TopKLogitsWarper(k)(NO_IDS, logits))


@settings(max_examples=200, deadline=None)
@given(ROWS, st.floats(0.01, 2))
def test_temperature_divides_as_transformers_does(row: list[float], temperature: float) -> None:
    logits = torch.tensor([row])
    same(Temperature(temperature)(logits, NO_CONTEXT), TemperatureLogitsWarper(temperature)(NO_IDS, logits))


@pytest.mark.parametrize("vocabulary", [1, 2, 7, 1000, 4096, 50257])
@pytest.mark.parametrize("levels", [0, 3, 50])  # 0: all values differ; otherwise this many distinct ones, so ties
def test_whole_chains_equal_transformers_at_real_vocabularies(vocabulary: int, levels: int) -> None:
    generator = torch.Generator().manual_seed(vocabulary + levels)
    for _ in range(12 if vocabulary < 50_000 else 4):
        logits = torch.randn(3, vocabulary, generator=generator) * 3
        if levels:
            logits = (logits * levels / 12).round() * 12 / levels
        temperature, k, p = (
            0.8,
            int(torch.randint(1, 200, (), generator=generator)),
            float(torch.rand((), generator=generator)),
        )
        ours = run_chain([Temperature(temperature), TopK(k), TopP(p)], logits, NO_CONTEXT)
        alone = TopP(p)(logits, NO_CONTEXT)
        ids = NO_IDS.expand(3, 1)
        theirs = TopKLogitsWarper(k)(ids, TemperatureLogitsWarper(temperature)(ids, logits))
        same(ours[2], theirs)
        same(ours[3], TopPLogitsWarper(p)(ids, theirs))
        same(alone, TopPLogitsWarper(p)(ids, logits))


# --- against the slow and obvious ------------------------------------------------------------------------------------


def test_the_nucleus_is_the_smallest_set_that_reaches_p() -> None:
    """Python's own sort and sum, over random rows where rounding cannot decide."""
    generator = torch.Generator().manual_seed(5)
    for _ in range(200):
        logits = torch.randn(1, 30, generator=generator) * 2
        p = float(torch.rand((), generator=generator))
        expected, mass = set(), 0.0
        for token, probability in sorted(enumerate(probabilities(logits)), key=lambda pair: -pair[1]):
            if expected and mass >= p:
                break
            expected.add(token)
            mass += probability
        kept = TopP(p)(logits, NO_CONTEXT)[0]
        assert {token for token in range(30) if kept[token] > -math.inf} == expected


@settings(max_examples=200, deadline=None)
@given(ROWS, st.integers(1, 5), FRACTIONS, st.floats(1e-4, 2))
def test_the_most_probable_token_survives_any_chain_and_its_input_stays_as_it_was(
    row: list[float], k: int, p: float, temperature: float
) -> None:
    logits = torch.tensor([row])
    before = logits.clone()
    stages = run_chain([Temperature(temperature), TopK(k), TopP(p)], logits, NO_CONTEXT)
    assert torch.equal(logits, before)  # processors are pure
    assert stages[-1].max() > -math.inf
    assert stages[-1][0, int(stages[-1].argmax())] == stages[1].max()


def test_the_order_of_the_chain_is_the_order_of_the_tuple() -> None:
    # A temperature of 2 flattens (.6 .3 .1) to (.473 .334 .193): half the mass is one token before it, two after.
    logits = torch.tensor([[math.log(p) for p in (0.6, 0.3, 0.1)]])
    flat_first = run_chain([Temperature(2.0), TopP(0.5)], logits, NO_CONTEXT)[-1]
    filter_first = run_chain([TopP(0.5), Temperature(2.0)], logits, NO_CONTEXT)[-1]
    assert int((flat_first > -math.inf).sum()) == 2
    assert int((filter_first > -math.inf).sum()) == 1


@pytest.mark.parametrize(
    "make", [lambda: Temperature(0.0), lambda: Temperature(math.nan), lambda: TopK(0), lambda: TopP(1.1)]
)
def test_a_processor_refuses_what_it_cannot_do(make: type) -> None:
    with pytest.raises(ValueError):
        make()
