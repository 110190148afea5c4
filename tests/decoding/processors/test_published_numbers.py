"""Temperatures and filters give the published numbers."""

from __future__ import annotations

import math

import pytest
import torch

from decoding.processors import (
    DynamicTemperature,
    EpsilonCutoff,
    EtaCutoff,
    MinP,
    Processor,
    Temperature,
    TopA,
    TopH,
    TopK,
    TopNSigma,
    TopP,
    TypicalP,
    run_chain,
)
from tests.decoding.processors.test_filters import NO_CONTEXT, probabilities

# closer, every, effort, forward, inches, moves, pizza, toward, you (Raschka, "Build a Large Language Model", chapter 5)
RASCHKA = [4.51, 0.89, -1.90, 6.75, 1.63, -1.62, -1.89, 6.28, 1.79]
CLOSER, FORWARD, TOWARD = 0, 3, 7


def after(processor: Processor, logits: list[float]) -> list[float]:
    return probabilities(processor(torch.tensor([logits]), NO_CONTEXT))


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


# transformers' own tests of its filters, as probabilities before renormalising
@pytest.mark.parametrize(
    ("processor", "given_", "kept"),
    [
        (MinP(0.05), [0.9, 0.0274, 0.047, 0.0274], [0.9, 0, 0.047, 0]),
        (TypicalP(0.5), [0.97, 0.01, 0.01, 0.01], [0.97, 0, 0, 0]),
        (TypicalP(0.5), [0.4, 0.2, 0.2, 0.2], [0, 0.2, 0.2, 0.2]),
        (EpsilonCutoff(0.1), [0.87, 0.099, 0.001, 0.03], [0.87, 0, 0, 0]),
        (EtaCutoff(0.0625), [0.01, 0.04, 0.9, 0.05], [0, 0, 0.9, 0]),
        (EtaCutoff(0.0625), [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.8, 0.1]),
        (TopH(0.7), [0.4, 0.3, 0.2, 0.1], [0.4, 0.3, 0, 0]),
        # by hand: 0.5 * 0.6 ** 2 = 0.18
        (TopA(0.5), [0.6, 0.2, 0.17, 0.03], [0.6, 0.2, 0, 0]),
    ],
)
def test_filters_give_the_published_numbers(processor: Processor, given_: list[float], kept: list[float]) -> None:
    result = after(processor, [math.log(p) if p else -math.inf for p in given_])
    assert result == pytest.approx([p / sum(kept) for p in kept], abs=1e-6)


def test_top_n_sigma_measures_from_the_highest_logit() -> None:
    # mean of 2, 0, 0, -2 is 0, variance (4 + 0 + 0 + 4) / 4 = 2, sigma 1.414: at n = 1, from 2 - 1.414 = 0.586 on
    logits = torch.tensor([[2.0, 0.0, 0.0, -2.0, -math.inf]])
    assert (TopNSigma(1.0)(logits, NO_CONTEXT) > -math.inf).tolist() == [[True, False, False, False, False]]
    assert (TopNSigma(1.5)(logits, NO_CONTEXT) > -math.inf).tolist() == [
        [True, True, True, False, False]
    ]  # from -0.121
    for temperature in (0.3, 1.9):  # the same at any temperature
        hot = run_chain([Temperature(temperature), TopNSigma(1.5)], logits, NO_CONTEXT)[-1]
        assert int((hot > -math.inf).sum()) == 3


def test_the_dynamic_temperature_follows_the_entropy() -> None:
    # two equal tokens are as unsure as two can be: the high end, 1.5; one certain token: the low end, 0.5
    assert DynamicTemperature(0.5, 1.5)(torch.tensor([[3.0, 3.0]]), NO_CONTEXT).tolist() == [[2.0, 2.0]]
    assert DynamicTemperature(0.5, 1.5)(torch.tensor([[0.0, -200.0]]), NO_CONTEXT).tolist() == [[0.0, -400.0]]
    # of 4, two equal: 1 bit of 2, half way: 0.5 + 1 * 0.5 = 1; with exponent 2: 0.5 + 0.25 = 0.75
    half = torch.tensor([[3.0, 3.0, -200.0, -200.0]])
    assert DynamicTemperature(0.5, 1.5)(half, NO_CONTEXT)[0, 0] == pytest.approx(3.0)
    assert DynamicTemperature(0.5, 1.5, 2.0)(half, NO_CONTEXT)[0, 0] == pytest.approx(4.0)
    # removed tokens do not count, and one that is left alone stays what it was
    few = torch.tensor([[3.0, 3.0, -math.inf], [3.0, -math.inf, -math.inf]])
    assert DynamicTemperature(0.5, 1.5)(few, NO_CONTEXT)[:, 0].tolist() == [2.0, 3.0]
    # at the low end 0 a certain token takes all, and nothing divides by 0
    assert torch.isfinite(DynamicTemperature(0.0, 2.0)(torch.tensor([[0.0, -200.0]]), NO_CONTEXT)).all()
