"""The panel: what each choice shows and means, all of it from the one declaration of the settings."""

from __future__ import annotations

import dataclasses
import math

import gradio as gr
import pytest

from decoding.settings import PRESETS, DecodingSettings, parameters
from model.errors import AttendError
from ui import settings_panel
from ui.settings_panel import WAYS, preset_values, settings_of

# What the controls say; of lists, what their boxes say.
VALUES = {parameter.name: parameter.typed(parameter.default) for parameter in parameters()} | {
    "strategy": "beam",
    "temperature": 0.7,
    "top_k": 30,
    "top_p": 0.9,
    "num_beams": 3,
    "length_penalty": 0.5,
    "seed": 5,
    "max_new_tokens": 20,
    "min_p": 0.05,
    "repetition_penalty": 1.1,
    "banned_words": "cat, dog",
    "logit_bias": "5:-2",
    "order": "top_p, temperature",
}


def changed(way: str) -> dict[str, object]:
    """What differs from neutral settings."""
    settings, neutral = settings_of(way, VALUES), DecodingSettings(num_beams=1, num_beam_groups=1, diversity_penalty=0)
    return {name: value for name, value in settings.to_dict().items() if value != neutral.to_dict()[name]}


def test_every_parameter_has_a_name_and_is_shown_somewhere() -> None:
    names = {parameter.name for parameter in parameters()}
    assert set(settings_panel.LABELS) == names
    assert set(WAYS["Custom"].shows) == names
    assert {name for way in WAYS.values() for name in way.shows} == names


def test_each_choice_sets_its_own_parameters_and_leaves_the_rest_neutral() -> None:
    length = {"max_new_tokens": 20}
    assert changed("Greedy") == {"strategy": "greedy", **length}
    assert changed("Temperature") == {"temperature": 0.7, "seed": 5, **length}
    assert changed("Top-k") == {"top_k": 30, "seed": 5, **length}
    assert changed("Top-p") == {"top_p": 0.9, "seed": 5, **length}
    assert changed("Beam search") == {"strategy": "beam", "num_beams": 3, "length_penalty": 0.5, **length}
    everything = settings_of("Custom", VALUES)
    assert everything == DecodingSettings.from_dict(VALUES)
    assert (everything.banned_words, everything.logit_bias) == (("cat", "dog"), ((5, -2.0),))
    assert everything.order.index("top_p") < everything.order.index("temperature")


def test_a_choice_shows_only_what_its_strategy_uses() -> None:
    for way in WAYS.values():
        if way.strategy is not None:
            shown = [parameter for parameter in parameters() if parameter.name in way.shows]
            assert all(way.strategy in parameter.strategies for parameter in shown)


def test_presets_set_the_filters_and_leave_seed_and_length_alone() -> None:
    for name, preset in PRESETS.items():
        values = preset_values(name)
        assert not {"seed", "max_new_tokens"} & values.keys()
        assert settings_of("Custom", {**VALUES, **values}).temperature == preset.temperature


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, 99, "warm", None, True])
def test_a_value_out_of_range_is_refused_by_name(value: object) -> None:
    with pytest.raises(AttendError, match="temperature"):
        settings_of("Temperature", {**VALUES, "temperature": value})


def test_controls_have_the_declared_ranges_and_helps() -> None:
    with gr.Blocks():
        panel = settings_panel.build(context_length=512)
    for parameter in parameters():
        control = panel.controls[parameter.name]
        assert control.info == parameter.help  # type: ignore[attr-defined]
        if isinstance(control, gr.Slider):
            assert control.minimum == parameter.minimum
            assert control.step == parameter.step
            lengths = ("max_new_tokens", "min_new_tokens")  # no longer than the context
            limit = 512 if parameter.name in lengths else parameter.maximum
            assert control.maximum == limit


def test_what_few_people_need_is_folded_away() -> None:
    with gr.Blocks() as page:
        panel = settings_panel.build(context_length=512)
    (advanced,) = (block for block in page.blocks.values() if isinstance(block, gr.Accordion))
    assert (advanced.label, advanced.open) == ("Advanced", False)
    inside = {id(block) for group in advanced.children for block in getattr(group, "children", [group])}
    folded = {name for name, control in panel.controls.items() if id(control) in inside}
    assert folded == set(panel.controls) - set(settings_panel.PLAIN)


def test_controls_start_with_values_that_mean_the_first_settings() -> None:
    with gr.Blocks():
        panel = settings_panel.build(context_length=512)
    values = ["Custom", *(control.value for control in panel.controls.values())]  # type: ignore[attr-defined]
    read = panel.read(values)
    assert dataclasses.replace(read, seed=-1) == settings_panel.FIRST_VALUES


def test_a_random_seed_becomes_a_definite_one() -> None:
    with gr.Blocks():
        panel = settings_panel.build(context_length=512)
    values = ["Temperature", *({**VALUES, "seed": -1}[name] for name in panel.controls)]
    assert panel.read(values).seed >= 0
