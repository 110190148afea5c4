"""Mirostat 2: its cutoff, how its limit moves, and that it holds its target."""

from __future__ import annotations

import math
from itertools import accumulate

import pytest

from decoding.counterfactual import choose_again
from decoding.settings import DecodingSettings
from decoding.strategies.mirostat import Mirostat, SurprisalCutoff
from decoding.uniform import UniformStream
from tests.decoding.processors.test_xtc import choices, left, logits_of
from tests.helpers.tiny import NO_CONTEXT, make_request, random_model


def test_what_is_more_surprising_than_the_limit_goes_and_the_most_probable_stays() -> None:
    logits = logits_of([0.5, 0.25, 0.125, 0.125])  # 1, 2, 3 and 3 bits
    assert left(SurprisalCutoff(2.5)(logits, NO_CONTEXT)) == [True, True, False, False]
    assert left(SurprisalCutoff(3.001)(logits, NO_CONTEXT)) == [True] * 4
    assert left(SurprisalCutoff(-5.0)(logits, NO_CONTEXT)) == [True, False, False, False]


def test_the_limit_follows_the_error() -> None:
    mirostat = Mirostat(tau=3.0, eta=0.5)
    assert mirostat.processor == SurprisalCutoff(6.0)  # twice tau
    mirostat.update(0.5)  # 1 bit, 2 less than wanted: 6 + 0.5 * 2
    assert mirostat.processor == SurprisalCutoff(7.0)
    mirostat.update(2.0**-7)  # 7 bits, 4 more: 7 - 0.5 * 4
    assert mirostat.processor == SurprisalCutoff(5.0)
    mirostat.update(0.0)  # what rounding may leave of the last survivor
    assert math.isfinite(mirostat.processor.bits)


def test_a_run_is_the_papers_second_algorithm() -> None:
    """Sort, cut at the first token more surprising than mu, renormalise, draw, and move mu by the error."""
    model = random_model(40, seed=8, scale=2.0)
    tau, eta = 2.0, 0.3
    run = choices(
        model,
        DecodingSettings(seed=5, max_new_tokens=60, mirostat_mode=2, mirostat_tau=tau, mirostat_eta=eta),
    )
    mu, text, draws = 2 * tau, (0,), UniformStream(5)
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


@pytest.mark.parametrize("tau", [3.0, 6.0])
def test_mirostat_holds_its_target(tau: float) -> None:
    model = random_model(500, seed=2, scale=1.0)  # about 8.2 bits without it
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
    counterfactual = choose_again(model, make_request(), before, held)
    first = next(index for index in range(30) if before[index].token != anew[index].token)
    assert counterfactual.first_difference == first
    assert [choice.token for choice in counterfactual.choices[: first + 1]] == [
        choice.token for choice in anew[: first + 1]
    ]
    assert [choice.kept for choice in counterfactual.choices[: first + 1]] == [
        choice.kept for choice in anew[: first + 1]
    ]
