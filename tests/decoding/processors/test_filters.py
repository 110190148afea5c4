"""Temperatures and filters: numbers by hand, transformers bit for bit, and slow, obvious definitions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from transformers.generation.logits_process import (
    EpsilonLogitsWarper,
    EtaLogitsWarper,
    LogitsProcessor,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopHLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

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
from decoding.settings import DecodingSettings
from tests.helpers.tiny import NO_CONTEXT, make_request

NO_IDS: Any = torch.zeros(1, 1, dtype=torch.long)  # transformers' filters take the text, and do not look at it


def probabilities(logits: Tensor) -> list[float]:
    return logits.double().softmax(-1)[0].tolist()


# --- by hand ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("processor", "weights", "kept"),
    [
        (Temperature(0.5), [3, 2, 1], [9, 4, 1]),
        (TopK(3), [30, 15, 5, 1], [30, 15, 5, 0]),
        # transformers' own tests of its filters
        (TopP(0.8), [0.3, 0.1, 0.1, 0.5], [0.3, 0, 0, 0.5]),
        (TopP(0.8), [0.15, 0.3, 0.3, 0.25], [0, 0.3, 0.3, 0.25]),
        (MinP(0.05), [0.9, 0.0274, 0.047, 0.0274], [0.9, 0, 0.047, 0]),
        (TypicalP(0.5), [0.97, 0.01, 0.01, 0.01], [0.97, 0, 0, 0]),
        (TypicalP(0.5), [0.4, 0.2, 0.2, 0.2], [0, 0.2, 0.2, 0.2]),
        (EpsilonCutoff(0.1), [0.87, 0.099, 0.001, 0.03], [0.87, 0, 0, 0]),
        (EtaCutoff(0.0625), [0.01, 0.04, 0.9, 0.05], [0, 0, 0.9, 0]),
        (EtaCutoff(0.0625), [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.8, 0.1]),
        (TopH(0.7), [0.4, 0.3, 0.2, 0.1], [0.4, 0.3, 0, 0]),
        # 0.5 * 0.6 ** 2 = 0.18
        (TopA(0.5), [0.6, 0.2, 0.17, 0.03], [0.6, 0.2, 0, 0]),
        # logits 2, 0, 0 and -2 have a sigma of √((4 + 4) / 4) = 1.414: at n = 1 they count from 0.586 on
        (TopNSigma(1.0), [math.exp(2), 1, 1, math.exp(-2), 0], [1, 0, 0, 0, 0]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_each_leaves_what_it_should(processor: Processor, weights: list[float], kept: list[float]) -> None:
    logits = torch.tensor([[math.log(weight) if weight else -math.inf for weight in weights]])
    assert probabilities(processor(logits, NO_CONTEXT)) == pytest.approx([each / sum(kept) for each in kept], abs=1e-6)


# --- against transformers, bit for bit -------------------------------------------------------------------------------

# Few distinct values make ties, wide ones extremes; -inf is what an earlier stage has removed.
VALUES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-30, -1e4, 1e4, -math.inf]),
    st.floats(min_value=-30, max_value=30, width=32),
)
ROWS = st.lists(VALUES, min_size=1, max_size=80).filter(lambda row: max(row) > -math.inf)
FRACTIONS = st.one_of(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 1.0]), st.floats(0, 1))


def same(ours: Tensor, reference: Tensor) -> None:
    assert torch.equal(ours, reference), f"{ours} is not {reference}"


SMALL = st.one_of(st.sampled_from([3e-4, 2e-3, 0.05, 0.1, 0.25, 0.5]), st.floats(1e-6, 0.99))


@pytest.mark.parametrize(
    ("ours", "reference", "values"),
    [
        (Temperature, TemperatureLogitsWarper, st.floats(0.01, 2)),
        (TopK, TopKLogitsWarper, st.integers(1, 100)),
        (TopP, TopPLogitsWarper, FRACTIONS),
        (MinP, MinPLogitsWarper, SMALL),
        (TypicalP, TypicalLogitsWarper, SMALL),
        (TopH, TopHLogitsWarper, SMALL),
        (EpsilonCutoff, EpsilonLogitsWarper, SMALL),
        (EtaCutoff, EtaLogitsWarper, SMALL),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_each_equals_that_of_transformers(
    ours: Callable[[float], Processor],
    reference: Callable[[float], LogitsProcessor],
    values: st.SearchStrategy[float],
) -> None:
    @settings(max_examples=100, deadline=None)
    @given(ROWS, values)
    def check(row: list[float], value: float) -> None:
        logits = torch.tensor([row])
        same(ours(value)(logits, NO_CONTEXT), reference(value)(NO_IDS, logits))  # type: ignore[operator]

    check()


@pytest.mark.parametrize("levels", [0, 3, 50])  # 0: all values differ; otherwise this many distinct ones, so ties
@pytest.mark.parametrize("vocabulary", [1, 7, 1000, 50257])
def test_whole_chains_equal_transformers_at_real_vocabularies(vocabulary: int, levels: int) -> None:
    generator = torch.Generator().manual_seed(vocabulary + levels)
    for _ in range(6 if vocabulary < 50_000 else 2):
        logits = torch.randn(3, vocabulary, generator=generator) * 3
        if levels:
            logits = (logits * levels / 12).round() * 12 / levels
        temperature, k = 0.8, int(torch.randint(1, 200, (), generator=generator))
        p = float(torch.rand((), generator=generator))
        ours = run_chain([Temperature(temperature), TopK(k), TopP(p)], logits, NO_CONTEXT)
        alone = TopP(p)(logits, NO_CONTEXT)
        ids = NO_IDS.expand(3, 1)
        reference = TopKLogitsWarper(k)(ids, TemperatureLogitsWarper(temperature)(ids, logits))
        same(ours[2], reference)
        same(ours[3], TopPLogitsWarper(p)(ids, reference))
        same(alone, TopPLogitsWarper(p)(ids, logits))
        for processor, other in (
            (MinP(p), MinPLogitsWarper(p)),
            (TypicalP(p), TypicalLogitsWarper(p)),
            (TopH(p), TopHLogitsWarper(p)),
            (EpsilonCutoff(p / 100), EpsilonLogitsWarper(p / 100)),
            (EtaCutoff(p / 100), EtaLogitsWarper(p / 100)),
        ):
            same(processor(logits, NO_CONTEXT), other(ids, logits))  # type: ignore[arg-type]
            same(processor(reference, NO_CONTEXT), other(ids, reference))  # type: ignore[arg-type]


# --- against the slow and obvious ------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(ROWS, st.floats(0, 1))
def test_top_a_is_its_definition(row: list[float], a: float) -> None:
    """RWKV-LM: remove every token whose probability is below a * (highest probability) ** 2."""
    exact = probabilities(torch.tensor([row]))
    limit = a * max(exact) ** 2
    kept = TopA(a)(torch.tensor([row]), NO_CONTEXT)[0]
    for p, logit, left in zip(exact, row, kept.tolist(), strict=True):
        if not math.isclose(p, limit, rel_tol=1e-9):  # there, rounding may decide
            assert (left > -math.inf) == (p >= limit and logit > -math.inf)


@settings(max_examples=100, deadline=None)
@given(ROWS, st.floats(0.01, 5))
def test_top_n_sigma_is_its_definition(row: list[float], n: float) -> None:
    """Keep logits of at least max - n * sigma, sigma over the tokens that are left (llama.cpp)."""
    left = [logit for logit in row if logit > -math.inf]
    limit = max(left) - n * statistics.pstdev(left)
    kept = TopNSigma(n)(torch.tensor([row]), NO_CONTEXT)[0].tolist()
    assert kept[row.index(max(row))] > -math.inf
    for logit, result in zip(row, kept, strict=True):
        if not math.isclose(logit, limit, rel_tol=1e-9, abs_tol=1e-9):
            assert (result > -math.inf) == (logit >= limit)


@settings(max_examples=100, deadline=None)
@given(ROWS, st.floats(0, 1), st.floats(0, 1), st.floats(0.1, 5))
def test_the_dynamic_temperature_is_its_definition(row: list[float], low: float, more: float, exponent: float) -> None:
    """low + (high - low) * (entropy / log(tokens left)) ** exponent (koboldcpp), summed token by token."""
    high = max(low + more, 1e-3)
    left = [p for p, logit in zip(probabilities(torch.tensor([row])), row, strict=True) if logit > -math.inf]
    temperature = 1.0
    if len(left) > 1:
        entropy = -sum(p * math.log(p) for p in left if p > 0)
        temperature = max(1e-4, low + (high - low) * (entropy / math.log(len(left))) ** exponent)
    result = DynamicTemperature(low, high, exponent)(torch.tensor([row]), NO_CONTEXT)
    assert torch.allclose(result, torch.tensor([row]) / temperature, rtol=1e-4)


@settings(max_examples=80, deadline=None)
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


def test_a_processor_refuses_what_it_cannot_do() -> None:
    kinds = (Temperature, TopK, TopH, EpsilonCutoff, TopNSigma)
    refused: list[tuple[Callable[..., object], tuple[float, ...]]] = [(kind, (0,)) for kind in kinds]
    refused += [(Temperature, (math.nan,)), (TopP, (1.1,)), (MinP, (-0.1,)), (TypicalP, (math.nan,))]
    refused += [(EtaCutoff, (1.0,)), (TopA, (2.0,))]
    refused += [(DynamicTemperature, values) for values in ((1.0, 0.5), (0.0, 0.0), (0.5, 1.0, 0.0))]
    for kind, values in refused:
        with pytest.raises(ValueError):
            kind(*values)


# --- as many as beams that sample need -------------------------------------------------------------------------------


@pytest.mark.parametrize("fewest", [2, 3, 6])
def test_filters_leave_the_fewest_that_transformers_leaves(fewest: int) -> None:
    """With settings that would leave one token or a few, on logits without ties."""
    generator = torch.Generator().manual_seed(fewest)
    for _ in range(15):
        logits = torch.randn(2, 40, generator=generator) * 3
        for ours, reference in (
            (TopK(1, fewest), TopKLogitsWarper(1, min_tokens_to_keep=fewest)),
            (TopP(0.01, fewest), TopPLogitsWarper(0.01, min_tokens_to_keep=fewest)),
            (MinP(0.99, fewest), MinPLogitsWarper(0.99, min_tokens_to_keep=fewest)),
            (TypicalP(0.01, fewest), TypicalLogitsWarper(0.01, min_tokens_to_keep=fewest)),
            (EpsilonCutoff(0.99, fewest), EpsilonLogitsWarper(0.99, min_tokens_to_keep=fewest)),
            (EtaCutoff(0.99, fewest), EtaLogitsWarper(0.99, min_tokens_to_keep=fewest)),
        ):
            kept = ours(logits, NO_CONTEXT)
            same(kept, reference(NO_IDS, logits))  # type: ignore[operator]
            assert (torch.isfinite(kept).sum(dim=-1) >= fewest).all()
        best = TopK(fewest)(logits, NO_CONTEXT)
        for many, default in ((TopA(1.0, fewest), TopA(1.0)), (TopNSigma(0.01, fewest), TopNSigma(0.01))):
            same(many(logits, NO_CONTEXT), torch.maximum(default(logits, NO_CONTEXT), best))
    few = torch.tensor([[1.0, 2.0]])
    for ours in (TopK(1, 6), TopP(0.1, 6), MinP(1.0, 6), TypicalP(0.1, 6), EpsilonCutoff(0.9, 6), TopA(1.0, 6)):
        same(ours(few, NO_CONTEXT), few)


@pytest.mark.parametrize(
    ("strategy", "ends", "fewest"), [("sample", 3, 1), ("beam", 3, 1), ("beam_sample", 0, 2), ("beam_sample", 3, 4)]
)
def test_only_beams_that_sample_need_more_than_one(strategy: str, ends: int, fewest: int) -> None:
    """As in transformers: the number of end tokens plus one, and at least two."""
    settings = DecodingSettings.from_dict({"strategy": strategy, "top_k": 1, "top_p": 0.5, "seed": 1})
    chain = settings.options(make_request(end_tokens=range(ends))).processors
    assert chain == (TopK(1, fewest), TopP(0.5, fewest))
