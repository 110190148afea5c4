"""The settings beside the text: one component of our own, drawn by `ui/settings/panel.js` from what is declared here.

`ui/kit/setting.py` describes each setting, and `ui/settings/methods.py` says what the methods mean. "Custom" shows the
settings without a section; the others are folded away under "Advanced".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import cast

import gradio as gr

from decoding.parameters.parameter import Parameter
from decoding.processors import PROCESSORS, ZERO_TEMPERATURE, switches
from decoding.settings import PRESETS, DecodingSettings, parameters
from decoding.strategies.registry import SPECS, stage_labels
from ui.kit import assets
from ui.kit.component import component
from ui.kit.packing import packed
from ui.kit.setting import setting_field
from ui.settings.methods import CUSTOM, DEFAULT_METHOD, FIRST_VALUES, METHODS, RUN
from ui.settings.settings_contract import MethodValue, PanelField, PanelForm

SWITCHES = {processor.name: switches(processor) for processor in PROCESSORS}  # stage -> what turns it on
_SAMPLERS = ("mirostat_mode", *(name for switches in SWITCHES.values() for name in switches))
_LENGTHS = ("max_new_tokens", "min_new_tokens")
_REUSE_SEED = assets.call("kit/js/signals.js", "reusedSeed.publish")

# The form's script waits for this: until then, Gradio has not mounted the components and hears no events.
FORM_READY = assets.call("kit/js/signals.js", "connect")


@dataclass(frozen=True, slots=True)
class Panel:
    """The controls, once they are on the page."""

    form: gr.HTML
    used: gr.Button  # shows the seed of the last run, and puts it into the panel when pressed
    seed: gr.Number  # that seed, for the button
    code: gr.Button
    dialog: gr.HTML


def build(
    context_length: int, method: str = DEFAULT_METHOD, tab_methods: Mapping[str, str] = MappingProxyType({})
) -> Panel:
    """Add the panel to the current Gradio context.

    Args:
        method: the default method of the page's first model.
        tab_methods: the default methods of the models that tabs need, by the tabs' names.
    """
    declared = declaration(context_length, method, tab_methods)
    values = {**declared["first"]["values"], **declared["methods"][method]["starts"]}
    form = gr.HTML(
        {"method": method, "values": values},
        html_template='<div class="attend-settings at-stack"></div>',
        js_on_load=assets.loader("settings/panel.js", "opened"),
        apply_default_css=False,
        elem_id="attend-form",
        form=packed(declared),  # packed because Gradio copies every leaf of an input at each update of the page
    )
    with gr.Row(elem_id="attend-panel-buttons"):
        code = gr.Button("Copy code or link", size="sm", variant="secondary", elem_id="attend-code")
        used = gr.Button("", size="sm", variant="secondary", visible=False, elem_id="attend-seed-used")
    seed = gr.Number(-1, visible=False)
    used.click(None, seed, None, js=_REUSE_SEED)
    dialog = component("settings/code.js", name="code-dialog")
    return Panel(form, used, seed, code, dialog)


def seed_button(seed: int) -> dict[str, object]:
    """The button after a run with this seed, or with -1 if the run drew nothing."""
    return gr.update(value=f"Reuse seed {seed}", visible=seed >= 0)


def declaration(
    context_length: int, method: str = DEFAULT_METHOD, tab_methods: Mapping[str, str] = MappingProxyType({})
) -> PanelForm:
    """The values from which the page's script draws the panel; the arguments are those of `build`."""
    first = {parameter.name: parameter.typed(getattr(FIRST_VALUES, parameter.name)) for parameter in parameters()}
    limits = {name: min(value, context_length) for name in _LENGTHS if isinstance(value := first[name], int)}
    return {
        "parameters": [_field(parameter, context_length) for parameter in sorted(parameters(), key=_position_in_run)],
        "methods": {name: cast(MethodValue, asdict(method)) for name, method in METHODS.items()},
        "presets": {name: _set_by(preset) for name, preset in PRESETS.items() if preset != DecodingSettings()},
        "first": {"method": method, "values": first | limits},
        "tab_methods": dict(tab_methods),
        "preset_method": CUSTOM,
        "samplers": list(_SAMPLERS),
        "stages": {stage: list(names) for stage, names in SWITCHES.items()},
        "chains": {name: [stage.name for stage in spec.processors] for name, spec in SPECS.items()},
        "labels": dict(stage_labels()),
        "zero_temperature": ZERO_TEMPERATURE,
        "meanings": {name: spec.help for name, spec in SPECS.items()},
    }


def _position_in_run(parameter: Parameter) -> int:
    return RUN.index(parameter.name) if parameter.name in RUN else -1


def _set_by(preset: DecodingSettings) -> dict[str, object]:
    """The values that a preset sets: those that affect how tokens are chosen, not the length or the seed."""
    names = ("strategy", *_SAMPLERS, "order")
    return {
        parameter.name: parameter.typed(getattr(preset, parameter.name))
        for parameter in parameters()
        if parameter.name in names
    }


def _field(parameter: Parameter, context_length: int) -> PanelField:
    length = parameter.name in _LENGTHS
    return {
        **setting_field(parameter),
        "group": "run" if parameter.name in RUN else "advanced" if parameter.section else "plain",
        "section": parameter.section,
        "maximum": min(parameter.maximum, context_length) if length else parameter.maximum,
        "longest": parameter.maximum if length else None,
    }
