"""How the settings of a card are described to Compare's script."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from decoding.parameters.parameter import SettingError
from decoding.settings import PRESETS, DecodingSettings, parameters
from decoding.strategies.registry import SPECS
from ui.compare import comparison_value as compare_values
from ui.compare.comparison_value import compare_form
from ui.compare.running import SWEEPS, checked_cards
from ui.kit.labels import LABELS
from ui.runs.comparison import CardMetrics


def test_every_offered_card_is_accepted_as_it_is_sent() -> None:
    form = compare_form()
    assert form["fills"][0]["name"] == "Temperature"
    assert [card["temperature"] for card in form["fills"][0]["cards"] if "temperature" in card] == [0, 0.5, 1.5]
    for fill, values in zip(form["fills"], [*SWEEPS.values(), tuple(PRESETS)], strict=True):
        cards = checked_cards(json.loads(json.dumps(fill["cards"])))
        assert len(cards) == len(values) and len(set(map(str, cards))) == len(cards)
        assert not any({"max_new_tokens", "top_candidates", "seed"} & card.keys() for card in fill["cards"])
    for preset in form["presets"]:
        assert DecodingSettings.from_dict(preset["settings"]).temperature == PRESETS[preset["name"]].temperature


def test_what_is_wrong_with_a_card_is_called_as_its_form_calls_it() -> None:
    with pytest.raises(SettingError) as refused:
        checked_cards([{}, {"top_k": 300}])
    assert str(refused.value).startswith("Card 2: top_k is 300")  # to programs
    assert refused.value.with_labels(LABELS).startswith("Card 2: Top-k is 300")


def test_a_card_that_says_nothing_has_the_defaults() -> None:
    assert checked_cards([None, {"top_k": 5}]) == checked_cards([{}, {"top_k": 5}])
    assert checked_cards([None, {}], {"max_new_tokens": 7})[0].max_new_tokens == 7


def test_the_form_has_the_declared_ranges_and_helps() -> None:
    declared = {parameter.name: parameter for parameter in parameters()}
    fields = {field["name"]: field for field in compare_form()["parameters"]}
    assert fields.pop("without")["strategies"] == list(SPECS)  # what only cards have
    assert declared.keys() - fields.keys() == {"seed"}  # the panel's, for all cards
    for name, field in fields.items():
        parameter = declared[name]
        assert field["help"] == ("" if name == "strategy" else parameter.help)
        assert field["strategies"] == list(parameter.strategies)
        assert parameter.checked(field["default"]) == parameter.default  # as it is typed
        if parameter.control == "number":
            assert (field["minimum"], field["maximum"]) == (parameter.minimum, parameter.maximum)
    assert fields["strategy"]["choices"] == [(name, spec.label) for name, spec in SPECS.items()]


def test_every_number_is_explained() -> None:
    names = {metric["name"] for metric in compare_values.METRICS}
    empty = CardMetrics()
    assert names | {"first_difference"} == asdict(empty).keys()
    assert all(metric["help"].endswith(".") for metric in compare_values.METRICS)


def test_a_card_takes_the_panels_settings_but_for_the_seed() -> None:
    panel = DecodingSettings(temperature=0.7, banned_words=("cat", "a, b"), seed=4, top_candidates=20, max_new_tokens=9)
    taken = compare_values.card_settings(panel)
    assert taken == {"temperature": 0.7, "banned_words": '["cat", "a, b"]'}
    assert DecodingSettings.from_dict(taken).banned_words == panel.banned_words
