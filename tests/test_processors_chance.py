"""XTC and Mirostat 2: the two that depend on more than one row of logits, by hand and against slow twins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding.generate import generate
from decoding.mirostat import MaxSurprise, Mirostat
from decoding.processors import Context, Xtc
from decoding.processors.xtc import _mix, uniform
from decoding.sampling import Draws
from decoding.settings import DecodingSettings
from decoding.step import Choice
from decoding.strategy import Request
from decoding.whatif import what_if
from model.interface import LanguageModel
from tests.tiny import TinyModel, random_model, request

NO_CONTEXT = Context(prompt=(0,), tokens=((),))
NEVER = -math.inf


def logits_of(probabilities: Sequence[float]) -> torch.Tensor:
    return torch.tensor([[math.log(p) if p else NEVER for p in probabilities]])


def left(logits: torch.Tensor) -> list[bool]:
    return (logits[0] > NEVER).tolist()


def choices(model: LanguageModel, chosen: DecodingSettings, asked: Request | None = None) -> list[Choice]:
    asked = asked or request()
    return [step.hypotheses[0].choice for step in generate(model, asked.prompt, chosen.strategy_for(asked))]


# --- XTC -------------------------------------------------------------------------------------------------------------


def test_of_the_top_choices_only_the_least_probable_stays() -> None:
    logits = logits_of([0.4, 0.3, 0.15, 0.1, 0.05])
    assert left(Xtc(0.14, 1.0, seed=1)(logits, NO_CONTEXT)) == [False, False, True, True, True]
    assert left(Xtc(0.35, 1.0, seed=1)(logits, NO_CONTEXT)) == [True] * 5  # one top choice alone is no choice
    assert left(Xtc(0.5, 1.0, seed=1)(logits, NO_CONTEXT)) == [True] * 5
    assert left(Xtc(0.0, 1.0, seed=1)(logits, NO_CONTEXT)) == [False] * 4 + [True]
    assert left(Xtc(0.1, 0.0, seed=1)(logits, NO_CONTEXT)) == [True] * 5
    # where two are equally probable, the one with the higher id stands last
    assert left(Xtc(0.2, 1.0, seed=1)(logits_of([0.25, 0.25, 0.5]), NO_CONTEXT)) == [False, True, False]


def test_nothing_is_excluded_where_an_end_token_would_be() -> None:
    logits = logits_of([0.4, 0.3, 0.2, 0.1])
    assert left(Xtc(0.19, 1.0, 1, frozenset({1, 99}))(logits, NO_CONTEXT)) == [True] * 4
    assert left(Xtc(0.19, 1.0, 1, frozenset({2}))(logits, NO_CONTEXT)) == [False, False, True, True]  # it stays anyway


VALUES = st.one_of(st.sampled_from([0.0, 1.0, -1.0, NEVER]), st.floats(-8, 8, width=32))
ROWS = st.lists(VALUES, min_size=1, max_size=30).filter(lambda row: max(row) > NEVER)


@settings(max_examples=400, deadline=None)
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


def test_the_stream_of_xtc_is_uniform_reproducible_and_its_own() -> None:
    # the published first outputs of SplitMix64 for the state 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64")
    gamma, state = 0x9E3779B97F4A7C15, 1234567
    assert [_mix((state + place * gamma) % 2**64) for place in (1, 2, 3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]
    drawn = [uniform(seed, place) for seed in range(20) for place in range(500)]
    assert all(0 <= draw < 1 for draw in drawn) and len(set(drawn)) == len(drawn)
    # in 20 cells of 500 expected, chi-squared with 19 degrees of freedom lies below 36.19 in 99 % of all cases
    cells = [sum(place / 20 <= draw < (place + 1) / 20 for draw in drawn) for place in range(20)]
    assert sum((count - 500) ** 2 / 500 for count in cells) < 36.19
    stream = Draws(7)
    assert not {stream.next() for _ in range(50)} & {uniform(7, place) for place in range(50)}


def test_xtc_acts_as_often_as_it_was_told_and_leaves_the_draws_as_they_were() -> None:
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
    whole = choices(model, DecodingSettings(seed=3, max_new_tokens=60, xtc_probability=0.5))
    tail = choices(model, DecodingSettings(seed=3, max_new_tokens=20, xtc_probability=0.5), request(drawn=40))
    assert [choice.kept for choice in tail] == [choice.kept for choice in whole[40:]]


# --- Mirostat --------------------------------------------------------------------------------------------------------


def test_what_is_more_surprising_than_the_limit_goes_and_the_most_probable_stays() -> None:
    logits = logits_of([0.5, 0.25, 0.125, 0.125])  # 1, 2, 3 and 3 bits
    assert left(MaxSurprise(2.5)(logits, NO_CONTEXT)) == [True, True, False, False]
    assert left(MaxSurprise(3.001)(logits, NO_CONTEXT)) == [True] * 4
    assert left(MaxSurprise(-5.0)(logits, NO_CONTEXT)) == [True, False, False, False]


def test_the_limit_follows_the_error() -> None:
    mirostat = Mirostat(tau=3.0, eta=0.5)
    assert mirostat.stage == MaxSurprise(6.0)  # twice tau
    mirostat.chose(0.5)  # 1 bit, 2 less than wanted: 6 + 0.5 * 2
    assert mirostat.stage == MaxSurprise(7.0)
    mirostat.chose(2.0**-7)  # 7 bits, 4 more: 7 - 0.5 * 4
    assert mirostat.stage == MaxSurprise(5.0)
    mirostat.chose(0.0)  # what rounding may leave of the last survivor
    assert math.isfinite(mirostat.stage.bits)


def test_a_run_is_the_papers_second_algorithm() -> None:
    """Sort, cut at the first token more surprising than mu, renormalise, draw, and move mu by the error."""
    model = random_model(40, seed=8, scale=2.0)
    tau, eta = 2.0, 0.3
    run = choices(
        model,
        DecodingSettings(seed=5, max_new_tokens=60, mirostat_mode=2, mirostat_tau=tau, mirostat_eta=eta),
    )
    mu, text, draws = 2 * tau, (0,), Draws(5)
    limits = set()
    for choice in run:
        probabilities = model.prefill(text).logits.double().softmax(-1)[0].tolist()
        ordered = sorted(range(40), key=lambda token: -probabilities[token])
        kept = [token for token in ordered if -math.log2(probabilities[token]) <= mu] or ordered[:1]
        mass = sum(probabilities[token] for token in kept)
        draw = draws.next()
        sums = accumulate(probabilities[token] / mass for token in kept)
        token = next(token for token, total in zip(kept, sums, strict=True) if total > draw)
        assert (choice.token, choice.kept[-1], choice.stages[-1]) == (token, len(kept), "mirostat")
        mu -= eta * (-math.log2(probabilities[token] / mass) - tau)
        text += (token,)
        limits.add(len(kept))
    assert len(limits) > 3  # the limit did move


def test_mirostat_holds_its_target() -> None:
    model = random_model(500, seed=2, scale=1.0)  # about 8.2 bits, if nothing held them
    for tau in (3.0, 6.0):
        chosen = DecodingSettings(seed=1, max_new_tokens=400, mirostat_mode=2, mirostat_tau=tau)
        surprises = [-math.log2(choice.final_probability) for choice in choices(model, chosen)[100:]]
        assert sum(surprises) / len(surprises) == pytest.approx(tau, abs=0.3)


def test_each_request_has_its_own_limit_and_greedy_has_none() -> None:
    model = random_model(40, seed=8, scale=2.0)
    held = DecodingSettings(seed=5, max_new_tokens=20, mirostat_mode=2, mirostat_tau=2)
    assert choices(model, held) == choices(model, held)
    cold = DecodingSettings(temperature=0, max_new_tokens=5, mirostat_mode=2)
    assert all(choice.stages == ("model",) for choice in choices(model, cold))


def test_what_would_have_changed_it_follows_the_limit_up_to_the_first_difference() -> None:
    model = random_model(40, seed=8, scale=2.0)
    plain = DecodingSettings(seed=5, max_new_tokens=30)
    held = DecodingSettings(seed=5, max_new_tokens=30, mirostat_mode=2, mirostat_tau=2, xtc_probability=0.2)
    before, anew = choices(model, plain), choices(model, held)
    told = what_if(model, request(), before, held)
    first = next(place for place in range(30) if before[place].token != anew[place].token)
    assert told.first_difference == first
    assert [choice.token for choice in told.choices[: first + 1]] == [choice.token for choice in anew[: first + 1]]
    assert [choice.kept for choice in told.choices[: first + 1]] == [choice.kept for choice in anew[: first + 1]]
