"""The settings: declared once, refused in plain words, and leading to the right chain and strategy."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import get_args

import pytest

from decoding.settings import PRESETS, STRATEGIES, DecodingSettings, StrategyName, parameters
from decoding.strategies.beam_search import BeamSearch
from decoding.strategies.contrastive import ContrastiveSearch
from decoding.strategies.parallel_samples import ParallelSamples
from decoding.strategies.sampling import SamplingStrategy
from model.errors import AttendError
from tests.helpers.tiny import best, decode, make_request, random_model

NAMES = "greedy, sample, beam, beam_sample, diverse_beam, contrastive, dola"


def test_every_field_is_declared_once_with_all_that_controls_need() -> None:
    names = [field.name for field in dataclasses.fields(DecodingSettings)]
    assert [parameter.name for parameter in parameters()] == names
    defaults = DecodingSettings()
    assert PRESETS["Neutral"] == defaults
    for parameter in parameters():
        assert parameter.default == getattr(defaults, parameter.name)
        assert parameter.help.endswith(".") and "\n" not in parameter.help
        assert set(parameter.strategies) <= set(STRATEGIES) and parameter.strategies
        for value in (parameter.default, parameter.neutral):
            if value is not None:
                assert parameter.checked(value) == value
        assert type(parameter.checked(parameter.default)) is type(parameter.default)
    assert ", ".join(STRATEGIES) == NAMES and get_args(StrategyName) == STRATEGIES


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("temperature", 3.0, "temperature is 3.0, but must be between 0 and 2."),
        ("temperature", math.nan, "temperature is nan, but must be between 0 and 2."),
        ("temperature", "hot", "temperature is 'hot', but must be a number between 0 and 2."),
        ("temperature", None, "temperature is empty, but must be a number between 0 and 2."),
        ("top_p", 10**400, "top_p is a very large number, but must be between 0 and 1."),
        ("top_k", 40.5, "top_k is 40.5, but must be a whole number between 0 and 200."),
        ("num_beams", False, "num_beams is False, but must be a whole number between 1 and 8."),
        ("max_new_tokens", 0, "max_new_tokens is 0, but must be between 1 and 4096."),
        ("strategy", "best", f"strategy is 'best', but must be one of {NAMES}."),
        ("strategy", ["beam"], f"strategy is ['beam'], but must be one of {NAMES}."),
        ("strategy", "x" * 1000, f"strategy is '{'x' * 36}..., but must be one of {NAMES}."),
        ("early_stopping", "always", "early_stopping is 'always', but must be one of false, true, never."),
        (
            "stop_texts",
            ["a\ud800"],
            "stop_texts contains 'a\\ud800', which contains half a character: delete it and type it again.",
        ),
        ("stop_texts", [""], "stop_texts contains '', but "),
        ("banned_words", 5, "banned_words is 5, but must be: texts, "),
        ("banned_words", "[1, 2", "banned_words is '[1, 2', but must be: texts, "),
        ("banned_words", "[" * 9000, "banned_words is '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[..., but must be: texts, "),
        ("banned_words", [" "], "banned_words contains ' ', but each entry must be a text of 1 to 200 characters"),
        ("banned_words", [7], "banned_words contains 7, but "),
        ("banned_words", ["a" * 201], f"banned_words contains '{'a' * 36}..., but "),
        ("banned_words", ["a"] * 101, "banned_words has 101 entries: use 100 or fewer."),
        ("logit_bias", "5", "logit_bias contains ['5'], but each entry must be a token id and its bias."),
        ("logit_bias", {"5": math.nan}, "The bias of token 5 in logit_bias is nan, but must be between -100 and 100."),
        ("logit_bias", {"x": 1}, "A token in logit_bias is 'x', but must be a whole number between 0 and 2147483647."),
        ("logit_bias", [[5, 1], [5, 2]], "logit_bias lists token 5 twice: "),
        ("logit_bias", 5, "logit_bias is 5, but must be: id:bias, "),
        ("order", "top_q", "order has no filter 'top_q': choose from logit_bias, repetition_penalty, "),
        ("order", "top_p, top_k, top_p", "order lists top_p twice: list each filter at most once."),
        ("order", ["top_p", 3], "order has no filter 3: choose from "),
        ("order", 5, "order is 5, but must be: names of filters, separated by commas; the others keep their places."),
    ],
)
def test_a_bad_value_is_refused_in_one_sentence(name: str, value: object, sentence: str) -> None:
    """Of the longer ones the beginning is enough."""
    with pytest.raises(AttendError) as caught:
        DecodingSettings.from_dict({name: value})
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"min_new_tokens": 50, "max_new_tokens": 20}, "min_new_tokens is 50, but max_new_tokens is 20: lower"),
        (
            {"strategy": "beam", "num_beams": 3, "num_return_sequences": 4},
            "num_return_sequences is 4, but num_beams is 3, .* one text per beam: lower",
        ),
        (
            {"strategy": "diverse_beam", "num_beams": 5, "num_beam_groups": 3},
            "num_beams is 5, but num_beam_groups is 3, .* a multiple of 3",
        ),
        ({"mirostat_mode": 1}, "mirostat_mode is 1, .* choose 2, or 0"),
        ({"mirostat_mode": 3}, "mirostat_mode is 3, .* choose 2, or 0"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings: dict[str, int], words: str) -> None:
    with pytest.raises(AttendError, match=words):
        DecodingSettings.from_dict(settings)


def test_lists_come_typed_or_as_json() -> None:
    for sent, texts in (
        (" , ", ()),
        ("cat, dog ,,cat", ("cat", "dog")),
        ('["a, b", " c "]', ("a, b", " c ")),
        (["x"], ("x",)),
    ):
        assert DecodingSettings.from_dict({"banned_words": sent}).banned_words == texts
        assert DecodingSettings.from_dict({"stop_texts": sent}).stop_texts == texts
    assert DecodingSettings.from_dict({"stop_texts": '["\\n"]'}).stop_texts == ("\n",)  # line ends are texts, too
    both = ((5, -3.0), (7, 1.5))
    for biases in ("7:1.5, 5:-3", '{"5": -3, "7": 1.5}', {"5": -3, 7: 1.5}, [[5, -3], [7, 1.5]]):
        assert DecodingSettings.from_dict({"logit_bias": biases}).logit_bias == both
    assert DecodingSettings.from_dict({"logit_bias": ""}).logit_bias == ()


def test_what_a_box_or_a_flag_shows_is_read_back() -> None:
    lists = DecodingSettings(
        banned_words=("a, b", " c", "[d", "é"), logit_bias=((1, -0.5), (20, 3.0)), order=("top_p", "temperature")
    )
    searched = DecodingSettings(strategy="beam", num_beams=3, length_penalty=-0.5)
    for settings in (*PRESETS.values(), lists, searched, DecodingSettings(banned_words=("cat", "dog"))):
        typed = {parameter.name: parameter.typed(getattr(settings, parameter.name)) for parameter in parameters()}
        assert DecodingSettings.from_dict(typed) == settings
        assert hash(settings) == hash(DecodingSettings.from_dict(typed))
        assert DecodingSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


def test_unknown_names_and_other_things_than_objects_are_refused() -> None:
    with pytest.raises(AttendError, match=r"There is no setting 'tempreature': did you mean temperature\?"):
        DecodingSettings.from_dict({"tempreature": 1})
    for bad in ([], "greedy", None, 3):
        with pytest.raises(AttendError, match="must be a JSON object"):
            DecodingSettings.from_dict(bad)  # pyright: ignore[reportArgumentType]
    with pytest.raises(AttendError, match="There is no setting 3"):
        DecodingSettings.from_dict({3: 1})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.usefixtures("counted_seeds")
def test_a_setting_that_the_strategy_does_not_use_does_nothing(strategy: str) -> None:
    unused = [
        parameter
        for parameter in parameters()
        if parameter.control == "number" and strategy not in parameter.strategies
    ]
    far = {
        parameter.name: parameter.maximum if parameter.default != parameter.maximum else parameter.minimum
        for parameter in unused
    }
    changed = DecodingSettings.from_dict({"strategy": strategy, **far})
    assert set(changed.unused()) == {parameter.name for parameter in unused}
    assert changed.options(make_request()).processors == ()
    built = changed.strategy_for(make_request(layer_count=4))
    assert not isinstance(built, SamplingStrategy) or built.chooser.mirostat is None


@pytest.mark.usefixtures("counted_seeds")
def test_each_strategy_is_the_one_that_was_named() -> None:
    for name in STRATEGIES:
        settings = DecodingSettings.from_dict({"strategy": name})
        kind = ContrastiveSearch if name == "contrastive" else BeamSearch if settings.beams else SamplingStrategy
        assert isinstance(settings.strategy_for(make_request(layer_count=4)), kind)
        assert settings.beams is (name in ("beam", "beam_sample", "diverse_beam"))
        assert settings.drawn is (name in ("sample", "beam_sample", "dola"))
    assert isinstance(DecodingSettings(num_return_sequences=2).strategy_for(make_request()), ParallelSamples)


def test_numbers_and_truth_values_of_json_have_the_kind_of_their_setting() -> None:
    settings = DecodingSettings.from_dict(json.loads('{"top_k": 40.0, "temperature": 1, "seed": 7.0}'))
    assert (settings.top_k, type(settings.top_k)) == (40, int)
    assert (settings.temperature, type(settings.temperature)) == (1.0, float)
    assert (settings.seed, type(settings.seed)) == (7, int)
    for sent, word in ((True, "true"), (False, "false"), ("true", "true"), ("never", "never")):
        settings = DecodingSettings.from_dict({"early_stopping": sent})
        assert settings.early_stopping == settings.to_dict()["early_stopping"] == word
    with pytest.raises(AttendError, match="strategy is True, but must be one of greedy"):
        DecodingSettings.from_dict({"strategy": True})


@pytest.mark.parametrize("temperature", [0, 1e-320, 1e-9])
def test_temperature_0_is_greedy_and_so_is_what_float32_would_make_0(temperature: float) -> None:
    model = random_model(50, seed=3)
    cold = decode(model, DecodingSettings(temperature=temperature, top_k=5, top_p=0.5, max_new_tokens=8))
    assert cold == decode(model, DecodingSettings(strategy="greedy", max_new_tokens=8))
    assert all(step.hypotheses[0].choice.draw is None for step in cold)


def test_temperature_0_leaves_beam_search_as_it_is_and_makes_it_of_beams_that_sample() -> None:
    """Beam search draws nothing, and dividing all log-probabilities by one number keeps their order."""
    model, request = random_model(20, seed=4), make_request(end_tokens=[1])
    texts = set()
    for temperature in (0, 1, 0.25):
        settings = DecodingSettings(strategy="beam", temperature=temperature, max_new_tokens=6)
        texts.add(best(decode(model, settings, request)).tokens)
    assert len(texts) == 1
    cold = DecodingSettings(strategy="beam_sample", temperature=0, top_k=2, max_new_tokens=6)
    assert not cold.drawn and cold.seeded() is cold
    searched = DecodingSettings(strategy="beam", top_k=2, max_new_tokens=6)
    assert decode(model, cold, request) == decode(model, searched, request)


@pytest.mark.usefixtures("counted_seeds")
def test_a_random_seed_is_definite_once_a_run_begins() -> None:
    assert DecodingSettings(seed=7).seeded() == DecodingSettings(seed=7)
    for undrawn in ({"strategy": "greedy"}, {"temperature": 0}, {"strategy": "beam"}):
        assert DecodingSettings.from_dict(undrawn).seeded().seed == -1
    seeds = {DecodingSettings().seeded().seed for _ in range(5)}
    assert len(seeds) == 5 and min(seeds) >= 0  # a repeat among five of a million has odds of 1 in 100,000


def test_settings_that_the_strategy_ignores_are_named() -> None:
    assert DecodingSettings(strategy="sample", num_beams=2, top_k=3).unused() == ("num_beams",)
    assert DecodingSettings(strategy="greedy", temperature=0.5, seed=1).unused() == ("temperature", "seed")
    assert DecodingSettings(strategy="beam", temperature=0.5).unused() == ()
