"""XTC: what it excludes, how often, and its own stream of random numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding.processors import Xtc
from decoding.request import Request
from decoding.settings import DecodingSettings
from decoding.step import Choice
from decoding.uniform import UniformStream, mix, uniform_at
from model.interface import LanguageModel
from tests.helpers.tiny import NO_CONTEXT, TinyModel, decode, make_request

NEVER = -math.inf


def logits_of(probabilities: Sequence[float]) -> torch.Tensor:
    return torch.tensor([[math.log(p) if p else NEVER for p in probabilities]])


def left(logits: torch.Tensor) -> list[bool]:
    return (logits[0] > NEVER).tolist()


def choices(model: LanguageModel, chosen: DecodingSettings, request: Request | None = None) -> list[Choice]:
    return [step.hypotheses[0].choice for step in decode(model, chosen, request)]


def test_of_the_top_choices_only_the_least_probable_stays() -> None:
    logits = logits_of([0.4, 0.3, 0.15, 0.1, 0.05])
    assert left(Xtc(0.14, 1.0, seed=1)(logits, NO_CONTEXT)) == [False, False, True, True, True]
    assert left(Xtc(0.35, 1.0, seed=1)(logits, NO_CONTEXT)) == [True] * 5  # one top choice alone is no choice
    assert left(Xtc(0.5, 1.0, seed=1)(logits, NO_CONTEXT)) == [True] * 5
    assert left(Xtc(0.0, 1.0, seed=1)(logits, NO_CONTEXT)) == [False] * 4 + [True]
    assert left(Xtc(0.1, 0.0, seed=1)(logits, NO_CONTEXT)) == [True] * 5
    # where two are equally probable, the one with the higher id stands last
    assert left(Xtc(0.2, 1.0, seed=1)(logits_of([0.25, 0.25, 0.5]), NO_CONTEXT)) == [False, True, False]


def test_nothing_is_excluded_where_a_protected_token_would_be() -> None:
    logits = logits_of([0.4, 0.3, 0.2, 0.1])
    assert left(Xtc(0.19, 1.0, 1, frozenset({1, 99}))(logits, NO_CONTEXT)) == [True] * 4
    assert left(Xtc(0.19, 1.0, 1, frozenset({2}))(logits, NO_CONTEXT)) == [False, False, True, True]  # it stays anyway


@pytest.mark.parametrize(("text", "protected"), [("\n", {2, 5}), (" ", {5})], ids=["kept", "lost"])
def test_a_line_break_is_protected_where_the_vocabulary_has_one(text: str, protected: set[int]) -> None:
    """As in text-generation-webui."""
    request = replace(make_request(end_tokens=[5]), encode=lambda _: [7, 2], decode=lambda ids: text * len(ids))
    (stage,) = DecodingSettings(xtc_probability=1.0).options(request).processors
    assert isinstance(stage, Xtc) and stage.protected == protected


VALUES = st.one_of(st.sampled_from([0.0, 1.0, -1.0, NEVER]), st.floats(-8, 8, width=32))
ROWS = st.lists(VALUES, min_size=1, max_size=30).filter(lambda row: max(row) > NEVER)


@settings(max_examples=120, deadline=None)
@given(ROWS, st.floats(0, 0.5), st.sets(st.integers(0, 29), max_size=2))
def test_xtc_is_its_definition(row: list[float], threshold: float, ends: set[int]) -> None:
    """Sort, find the tokens from the threshold on, drop all but the last; unless an end token would go (p-e-w)."""
    logits = torch.tensor([row])
    exact = logits.double().softmax(-1)[0].tolist()
    ordered = sorted((token for token in range(len(row)) if row[token] > NEVER), key=lambda token: -exact[token])
    excluded = set([token for token in ordered if exact[token] >= threshold][:-1])
    excluded = set() if excluded & ends else excluded
    expected = [row[token] > NEVER and token not in excluded for token in range(len(row))]
    assert left(Xtc(threshold, 1.0, 1, frozenset(ends))(logits, NO_CONTEXT)) == expected


def test_both_streams_are_uniform_and_that_of_xtc_is_its_own() -> None:
    # the published first outputs of SplitMix64 for the state 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64")
    gamma, state = 0x9E3779B97F4A7C15, 1234567
    assert [mix((state + index * gamma) % 2**64) for index in (1, 2, 3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]
    of_xtc = [uniform_at(seed, index) for seed in range(20) for index in range(500)]
    of_choices = [stream.next() for stream in map(UniformStream, range(20)) for _ in range(500)]
    assert len({*of_xtc, *of_choices}) == 20_000
    for drawn in (of_xtc, of_choices):
        assert all(0 <= draw < 1 for draw in drawn)
        # in 20 cells of 500 expected, chi-squared with 19 degrees of freedom lies below 36.19 in 99 % of all cases
        cells = Counter(int(draw * 20) for draw in drawn)
        assert len(cells) == 20 and sum((count - 500) ** 2 / 500 for count in cells.values()) < 36.19


def test_xtc_acts_with_its_probability_and_leaves_the_draws_unchanged() -> None:
    model = TinyModel(lambda text: [0.0, 0.0, -1.0])
    plain = choices(model, DecodingSettings(seed=3, max_new_tokens=400))
    xtc = choices(model, DecodingSettings(seed=3, max_new_tokens=400, xtc_probability=0.3))
    assert [choice.draw for choice in xtc] == [choice.draw for choice in plain]
    acted = sum(choice.kept[-1] < 3 for choice in xtc)
    assert abs(acted - 120) < 3 * math.sqrt(400 * 0.3 * 0.7)  # three standard deviations of the binomial: 27
    assert choices(model, DecodingSettings(seed=3, max_new_tokens=400, xtc_probability=0.3)) == xtc
    other = choices(model, DecodingSettings(seed=4, max_new_tokens=400, xtc_probability=0.3))
    assert [choice.kept for choice in other] != [choice.kept for choice in xtc]


def test_a_continued_text_goes_on_in_the_stream_of_xtc() -> None:
    model = TinyModel(lambda text: [0.0, 0.0, -1.0])
    uninterrupted = choices(model, DecodingSettings(seed=3, max_new_tokens=60, xtc_probability=0.5))
    tail = choices(model, DecodingSettings(seed=3, max_new_tokens=20, xtc_probability=0.5), make_request(draws_used=40))
    assert [choice.kept for choice in tail] == [choice.kept for choice in uninterrupted[40:]]
