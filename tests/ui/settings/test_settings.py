"""The panel: what each method shows and means, all of it from the one declaration of the settings."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import groupby

import gradio as gr
import pytest

from decoding.settings import PRESETS, STRATEGIES, DecodingSettings, parameters
from model.errors import AttendError
from ui.kit.labels import LABELS
from ui.settings import panel as settings_panel
from ui.settings.methods import CUSTOM, DEFAULT_METHOD, FIRST_VALUES, METHODS, settings_of, visible_parameters
from ui.settings.panel import declaration

# What the controls say; of lists, what their boxes say.
VALUES = {parameter.name: parameter.typed(parameter.default) for parameter in parameters()} | {
    "strategy": "sample",
    "temperature": 0.7,
    "top_k": 30,
    "top_p": 0.9,
    "num_beams": 6,
    "length_penalty": 0.5,
    "seed": 5,
    "max_new_tokens": 20,
    "min_p": 0.05,
    "repetition_penalty": 1.1,
    "banned_words": "cat, dog",
    "logit_bias": "5:-2",
    "order": "top_p, temperature",
    "dola_layers": "0, 1",
}


def panel_values(method: str, **values: object) -> dict[str, object]:
    """What the page's script sends."""
    return {"method": method, "values": {**VALUES, **values}}


def changed(method: str, **values: object) -> dict[str, object]:
    """What differs from the defaults."""
    settings, neutral = settings_of(panel_values(method, **values)).to_dict(), DecodingSettings().to_dict()
    return {name: value for name, value in settings.items() if value != neutral[name]}


def test_every_parameter_and_every_stage_has_a_label_of_its_own_and_a_place() -> None:
    declared = declaration(512)
    names = {parameter.name for parameter in parameters()}
    stages = declared["labels"]
    assert {"top_k", "dry", "dola", "mirostat", "suppress_tokens", "renormalize_logits"} <= stages.keys()
    for labels in (LABELS, stages):
        assert all(labels.values()) and len({label.lower() for label in labels.values()}) == len(labels)
    assert {name: label for name, label in stages.items() if LABELS.get(name, label) != label} == {}
    assert {field["name"] for field in declared["parameters"]} == names
    assert {field["group"] for field in declared["parameters"]} == {"plain", "advanced", "run"}
    lines = declared["meanings"].values()
    assert max(map(len, lines)) <= 70 and "_" not in "".join(lines)  # short, and in no program's names
    json.dumps(declared)  # how the page gets it; raises for what JSON does not have


def test_each_way_sets_its_own_parameters_and_leaves_the_rest_as_they_are() -> None:
    length = {"max_new_tokens": 20}
    assert changed("Greedy") == {"strategy": "greedy", **length}
    assert changed("Temperature") == {"temperature": 0.7, "seed": 5, **length}
    assert changed("Top-k") == {"top_k": 30, "seed": 5, **length}
    assert changed("Top-p") == {"top_p": 0.9, "seed": 5, **length}
    assert changed("Beam search") == {"strategy": "beam", "num_beams": 6, "length_penalty": 0.5, **length}
    beams = {"num_beams": 6, "length_penalty": 0.5, **length}
    assert changed("Beam sampling") == {"strategy": "beam_sample", "temperature": 0.7, "seed": 5, **beams}
    assert changed("Diverse beams") == {"strategy": "diverse_beam", **beams}
    assert changed("DoLa") == {"strategy": "dola", "dola_layers": [0, 1], "temperature": 0.7, "seed": 5, **length}
    contrastive = {"strategy": "contrastive", "top_k": 30, "penalty_alpha": 0.3, **length}
    assert changed("Contrastive", penalty_alpha=0.3) == contrastive


def test_combined_means_all_that_its_strategy_uses() -> None:
    everything = settings_of(panel_values("Custom"))
    assert (everything.banned_words, everything.logit_bias) == (("cat", "dog"), ((5, -2.0),))
    assert everything.order.index("top_p") < everything.order.index("temperature")
    assert everything.num_beams == DecodingSettings().num_beams
    assert changed("Custom", strategy="greedy", temperature=0.2).keys() & {"temperature", "seed", "num_beams"} == set()
    assert changed("Custom", strategy="beam")["num_beams"] == 6
    for strategy in STRATEGIES:
        assert settings_of(panel_values("Custom", strategy=strategy)).unused() == ()


def test_a_way_shows_only_what_its_strategy_uses() -> None:
    for method in METHODS.values():
        for strategy in [method.strategy] if method.strategy else STRATEGIES:
            visible = visible_parameters(method, strategy)
            assert all(strategy in each.strategies for each in parameters() if each.name in visible)
            assert "max_new_tokens" in visible


def test_the_advanced_settings_of_a_section_stand_together() -> None:
    sections = [field["section"] for field in declaration(512)["parameters"] if field["group"] == "advanced"]
    assert [section for section, _ in groupby(sections)] == list(dict.fromkeys(sections))
    assert len(set(sections)) == 6


def test_presets_set_the_samplers_and_leave_seed_and_length_alone() -> None:
    declared = declaration(512)
    assert set(declared["presets"]) == set(PRESETS) - {"Neutral"}  # which is what Turn filters off does
    for name, values in declared["presets"].items():
        assert not {"seed", "max_new_tokens", "top_candidates"} & values.keys()
        means = settings_of(panel_values("Custom", **values))
        assert replace(means, seed=-1, max_new_tokens=128) == PRESETS[name]


def test_neutral_values_of_all_samplers_are_the_models_own_distribution() -> None:
    declared = declaration(512)
    neutral = {field["name"]: field["neutral"] for field in declared["parameters"] if field["neutral"] is not None}
    values = {name: neutral[name] for name in declared["samplers"]}
    means = settings_of(panel_values("Custom", **values, order=VALUES["order"]))
    assert replace(means, order=DecodingSettings().order) == DecodingSettings(seed=5, max_new_tokens=20)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, 99, "warm", None, True])
def test_a_value_out_of_range_is_refused_by_name(value: object) -> None:
    with pytest.raises(AttendError, match="temperature"):
        settings_of(panel_values("Temperature", temperature=value))


def test_an_emptied_control_is_called_empty() -> None:
    with pytest.raises(AttendError, match=r"^seed is empty, but must be a whole number between -1 and 4294967295\.$"):
        settings_of(panel_values("Temperature", seed=None))


@pytest.mark.parametrize(
    "sent", [None, 5, "x", [], {}, {"method": "Custom"}, {"method": [], "values": {}}, {"method": "?", "values": {}}]
)
def test_what_is_no_panel_is_refused(sent: object) -> None:
    with pytest.raises(AttendError, match="reload"):
        settings_of(sent)


def test_names_that_are_no_settings_and_missing_values_do_no_harm() -> None:
    assert settings_of({"method": "Top-k", "values": {"top_k": 3, "__class__": 1}}) == DecodingSettings(top_k=3)
    with pytest.raises(AttendError, match="strategy is 'x'"):
        settings_of(panel_values("Custom", strategy="x"))
    with pytest.raises(AttendError, match="strategy"):
        settings_of(panel_values("Custom", strategy=[]))


def test_controls_have_the_declared_ranges_and_helps() -> None:
    fields = {field["name"]: field for field in declaration(512)["parameters"]}
    for parameter in parameters():
        field = fields[parameter.name]
        assert (field["help"], field["minimum"], field["step"]) == (parameter.help, parameter.minimum, parameter.step)
        longest = 512 if parameter.name in ("max_new_tokens", "min_new_tokens") else parameter.maximum
        assert field["maximum"] == longest  # no longer than the context


@pytest.mark.usefixtures("counted_seeds")
def test_controls_start_with_values_that_mean_the_first_settings() -> None:
    with gr.Blocks():
        panel = settings_panel.build(context_length=512)
    assert panel.form.value["method"] == DEFAULT_METHOD
    assert settings_of(panel.form.value) == DecodingSettings(temperature=0.6)
    assert settings_of({**panel.form.value, "method": CUSTOM}) == replace(FIRST_VALUES, temperature=0.6)
    first = declaration(512)["first"]
    assert settings_of({**first, "method": CUSTOM}) == FIRST_VALUES == PRESETS["Balanced"]
    with gr.Blocks():
        short = settings_panel.build(context_length=64)
    assert settings_of(short.form.value).max_new_tokens == 64
