"""The chain of processors: the requested order, and at least one possible token under any settings."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decoding.parameters.list_parameter import Order, StringList, TokenBiases
from decoding.parameters.parameter import Parameter, SettingError
from decoding.processors import Context, run_chain
from decoding.request import Request
from decoding.settings import DecodingSettings, parameters
from decoding.strategies.mirostat import Mirostat
from tests.helpers.tiny import best, decode, make_request, random_model

ORDER = DecodingSettings().order
EVERYTHING: dict[str, Any] = {
    "logit_bias": {"3": -1.0},
    "repetition_penalty": 1.2,
    "frequency_penalty": 0.2,
    "presence_penalty": 0.2,
    "dry_multiplier": 0.8,
    "no_repeat_ngram_size": 2,
    "banned_words": ["5"],
    "min_new_tokens": 2,
    "temperature": 0.9,
    "top_h": 0.9,
    "top_k": 40,
    "top_p": 0.99,
    "min_p": 0.01,
    "typical_p": 0.9,
    "epsilon_cutoff": 0.001,
    "eta_cutoff": 0.001,
    "top_a": 0.1,
    "top_n_sigma": 3.0,
    "xtc_probability": 0.5,
}


def names(chosen: DecodingSettings, *, end_tokens: tuple[int, ...] = ()) -> list[str]:
    return [processor.name for processor in chosen.options(make_request(end_tokens=end_tokens)).processors]


def test_the_default_order_is_transformers() -> None:
    """Its `_get_logits_processor`: biases, repetition, n-grams, bad words, minimum length, then the warpers."""
    reference = [
        *("logit_bias", "repetition_penalty", "no_repeat_ngram_size", "banned_words", "min_new_tokens"),
        *("temperature", "top_h", "top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff"),
    ]
    assert [name for name in ORDER if name in reference] == reference
    assert ORDER[-3:] == ("top_a", "top_n_sigma", "xtc")
    assert names(DecodingSettings.from_dict({**EVERYTHING, "seed": 1})) == list(ORDER)


def test_every_stage_is_switched_on_by_its_own_setting_alone() -> None:
    stage_of = {"dry_multiplier": "dry", "xtc_probability": "xtc"}
    for name, value in EVERYTHING.items():
        assert names(DecodingSettings.from_dict({name: value})) == [stage_of.get(name, name)]
    assert names(DecodingSettings(dynatemp_range=0.5)) == ["temperature"]
    for quiet in ("xtc_threshold", "dynatemp_exponent", "mirostat_tau", "mirostat_eta", "dry_base"):
        assert names(DecodingSettings.from_dict({quiet: 0.3 if quiet != "dry_base" else 2.0})) == []


def test_greedy_and_sampling_at_0_run_only_what_can_change_the_most_probable_token_for_a_reason() -> None:
    penalties = list(ORDER[: ORDER.index("temperature")])
    for cold in ({"strategy": "greedy"}, {"temperature": 0}):
        assert names(DecodingSettings.from_dict({**EVERYTHING, **cold})) == penalties
    beams = names(DecodingSettings.from_dict({**EVERYTHING, "strategy": "beam"}))
    assert beams == [name for name in ORDER if name != "xtc"]
    assert "temperature" not in names(DecodingSettings.from_dict({**EVERYTHING, "strategy": "beam", "temperature": 0}))


def test_the_order_that_is_given_is_the_order_that_runs() -> None:
    reversed_ = DecodingSettings.from_dict({**EVERYTHING, "order": list(reversed(ORDER))})
    assert names(reversed_) == list(reversed(ORDER))
    # those named take each other's places: top_p stands where temperature did and the other way round
    swapped = DecodingSettings.from_dict({**EVERYTHING, "order": "top_p, temperature"})
    expected = list(ORDER)
    expected[ORDER.index("temperature")], expected[ORDER.index("top_p")] = "top_p", "temperature"
    assert names(swapped) == expected
    assert DecodingSettings.from_dict({"order": ""}) == DecodingSettings()


@pytest.mark.usefixtures("counted_seeds")
def test_a_bias_for_a_token_that_the_model_does_not_have_is_refused_before_anything_runs() -> None:
    sentence = "logit_bias names token 3, but this model's highest token id is 2: choose"
    with pytest.raises(SettingError, match=sentence) as refused:
        DecodingSettings(logit_bias=((3, 1.0),)).strategy_for(make_request(vocabulary_size=3))
    assert refused.value.with_labels({"logit_bias": "Logit bias"}).startswith("Logit bias names token 3")


def test_banned_words_are_banned_alone_and_behind_a_space() -> None:
    def request_with(encode: Any) -> Request:
        return replace(make_request(), encode=encode)

    two = request_with(lambda text: [9, *map(len, text.split(","))] if text[0] == " " else [4])
    (ban,) = DecodingSettings(banned_words=("a,bc",)).options(two).processors
    assert ban.sequences == ((4,), (9, 2, 2))  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="encode"):
        DecodingSettings(banned_words=("a",)).options(request_with(None))
    # attend-translate drops a zero-width space: alone it has no tokens, and behind a space those of the space
    dropping = request_with(lambda text: [*map(ord, text.replace("\u200b", ""))])
    for texts in (("\u200b",), ("a", "\u200b")):
        with pytest.raises(SettingError, match=r"^banned_words contains '\\u200b', which has no tokens") as refused:
            DecodingSettings(banned_words=texts).options(dropping)
        assert refused.value.names == ("banned_words",)


def test_dry_breaks_at_tokens_whose_text_has_a_breaker() -> None:
    request = replace(make_request(), decode=lambda ids: {1: "one", 2: " two:", 3: "a\n"}.get(ids[0], "x"))
    (dry,) = DecodingSettings(dry_multiplier=1.0).options(request).processors
    assert [dry.breaks(token) for token in (1, 2, 3, 4)] == [False, True, True, False]  # type: ignore[attr-defined]


@pytest.mark.parametrize("strategy", ["greedy", "sample", "beam", "beam_sample", "diverse_beam"])
def test_banned_words_and_the_least_length_hold_in_a_run(strategy: str) -> None:
    chosen = DecodingSettings.from_dict(
        {"strategy": strategy, "seed": 1, "banned_words": "3 4, 5", "min_new_tokens": 6, "max_new_tokens": 12}
    )
    request = make_request(end_tokens=[1, 2])
    text = best(decode(random_model(8, seed=3, scale=3.0), chosen, request)).tokens
    assert 5 not in text and (3, 4) not in itertools.pairwise(text)
    assert not {1, 2} & set(text[:6])


def any_value(parameter: Parameter) -> st.SearchStrategy[Any]:
    if isinstance(parameter, Order):
        return st.permutations(ORDER)
    if isinstance(parameter, StringList):
        return st.lists(st.sampled_from(["0", "1 2", "3", "2 2 2"]), unique=True)
    if isinstance(parameter, TokenBiases):
        return st.dictionaries(st.integers(0, 2), st.floats(-100, 100))
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    if parameter.name == "mirostat_mode":
        return st.sampled_from([0, 2])
    if parameter.integer:
        return st.integers(int(parameter.minimum), int(min(parameter.maximum, 50)))
    edges = st.sampled_from([parameter.minimum, parameter.default, parameter.maximum])
    return st.one_of(edges, st.floats(parameter.minimum, parameter.maximum))


LOGIT = st.one_of(st.sampled_from([0.0, 1.0, 1e4, -1e4, -math.inf]), st.floats(-30, 30, width=32))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.data())
def test_whatever_the_settings_something_survives(data: st.DataObject) -> None:
    values = data.draw(st.fixed_dictionaries({parameter.name: any_value(parameter) for parameter in parameters()}))
    values |= {
        "min_new_tokens": min(values["min_new_tokens"], values["max_new_tokens"]),
        "num_return_sequences": min(values["num_return_sequences"], values["num_beams"]),
        "num_beam_groups": math.gcd(values["num_beam_groups"], values["num_beams"]),
    }
    chosen = DecodingSettings.from_dict(values)
    vocabulary = data.draw(st.integers(4, 12))
    row = st.lists(LOGIT, min_size=vocabulary, max_size=vocabulary).filter(lambda row: max(row) > -math.inf)
    logits = torch.tensor(data.draw(st.lists(row, min_size=1, max_size=2)))
    tokens = data.draw(st.lists(st.integers(0, vocabulary - 1), max_size=8))
    request = make_request(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=5)), end_tokens=[0, 1])
    mirostat = Mirostat.of(chosen)
    chain = (*chosen.options(request).processors, *([] if mirostat is None else [mirostat.processor]))
    before = logits.clone()
    for stage in run_chain(chain, logits, Context(request.prompt, (tuple(tokens),) * len(logits))):
        assert stage.shape == logits.shape and stage.dtype == torch.float32
        assert torch.isfinite(stage.amax(-1)).all()  # not NaN, not all removed
        assert ((stage == -math.inf) | (logits > -math.inf)).all()  # what is gone stays gone
    assert torch.equal(logits, before)
    assert max(Counter(processor.name for processor in chain).values(), default=1) == 1
