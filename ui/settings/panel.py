"""The settings beside the text: one component of our own, drawn by `ui/settings/panel.js` from what is declared here.

What a setting is comes from `ui/kit/setting.py`; this file says what is folded away. What the choices mean is in
`ui/settings/methods.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr
from gradio.components import Component

from decoding.parameters.parameter import Parameter
from decoding.processors import PROCESSORS, ZERO_TEMPERATURE, switches
from decoding.settings import PRESETS, DecodingSettings, parameters
from decoding.strategies.registry import SPECS
from ui.kit import assets
from ui.kit.component import component
from ui.kit.labels import LABELS
from ui.kit.packing import packed
from ui.kit.setting import setting_field
from ui.settings.methods import (
    CUSTOM,
    DEFAULT_METHOD,
    FIRST_VALUES,
    METHODS,
    RUN,
    Method,
    settings_of,
    shared_settings_of,
)
from ui.settings.settings_contract import MethodValue, PanelField, PanelForm

MEANINGS: Mapping[str, str] = {  # what the chosen strategy does
    "greedy": "Always picks the most probable token.",
    "sample": "Draws each token at random, by its probability.",
    "beam": "Follows several texts at once and keeps the most probable one.",
    "beam_sample": "Follows several texts at once, continuing each at random.",
    "diverse_beam": "Beam search in groups that avoid each other’s tokens.",
    "contrastive": "Avoids tokens that resemble the text so far.",
    "dola": "Favours tokens that only the upper layers predict.",
}

# In sight with "Custom"; what is not named here is folded away under "Advanced", so that the panel stays calm.
PLAIN = (
    "strategy",
    "temperature",
    "top_k",
    "top_p",
    "num_beams",
    "num_beam_groups",
    "diversity_penalty",
    "length_penalty",
    "penalty_alpha",
    "dola_layers",
    *RUN,
)

# What is under "Advanced", by its purpose, in the order of docs/settings.md.
SECTIONS: Mapping[str, Sequence[str]] = {
    "Several texts": ("early_stopping", "num_return_sequences"),
    "Cutting off unlikely tokens": (
        "min_p",
        "typical_p",
        "top_h",
        "top_n_sigma",
        "top_a",
        "epsilon_cutoff",
        "eta_cutoff",
    ),
    "How surprising the text is": (
        *("xtc_probability", "xtc_threshold", "dynatemp_range", "dynatemp_exponent"),
        *("mirostat_mode", "mirostat_tau", "mirostat_eta"),
    ),
    "Less repetition": (
        *("repetition_penalty", "frequency_penalty", "presence_penalty", "no_repeat_ngram_size"),
        *("dry_multiplier", "dry_base", "dry_allowed_length"),
    ),
    "Words and endings": ("min_new_tokens", "banned_words", "stop_texts", "logit_bias"),
    "Order of the filters": ("order",),
}

SWITCHES = {processor.name: switches(processor) for processor in PROCESSORS}  # stage -> what turns it on
_SAMPLERS = ("mirostat_mode", *(name for switches in SWITCHES.values() for name in switches))
_LENGTHS = ("max_new_tokens", "min_new_tokens")
_KEEP_SEED = """(text) => {
  document.dispatchEvent(new CustomEvent('attend-seed', { detail: Number(text.split(' ')[1]) }));
}"""

# The form's script waits for it; until then Gradio has taken up no component of the page, and hears of nothing.
FORM_READY = """() => {
  document.body.toggleAttribute('data-connected', true);
  document.dispatchEvent(new Event('attend-connected'));
  return [];
}"""


@dataclass(frozen=True, slots=True)
class Panel:
    """The controls, once they are on the page."""

    form: gr.HTML
    used: gr.Button
    code: gr.Button
    dialog: gr.HTML

    @property
    def inputs(self) -> list[Component]:
        """To be put last among a handler's inputs and given to `read`."""
        return [self.form]

    @staticmethod
    def read(values: Sequence[object]) -> DecodingSettings:
        """The settings that these inputs mean, with a definite seed; `AttendError` says what no setting accepts."""
        return Panel.read_unseeded(values).seeded()

    @staticmethod
    def read_unseeded(values: Sequence[object]) -> DecodingSettings:
        """The same with a seed of -1 where it is left to chance."""
        (form,) = values
        return settings_of(form)

    @staticmethod
    def read_shared(values: Sequence[object]) -> DecodingSettings:
        """What holds for every card of a comparison, with a seed of -1 where it is left to chance."""
        (form,) = values
        return shared_settings_of(form)


def build(context_length: int, method: str = DEFAULT_METHOD) -> Panel:
    """Add the panel to the current Gradio context; `method` is the default method of the page's first model."""
    declared = declaration(context_length, method)
    values = {**declared["first"]["values"], **declared["methods"][method]["starts"]}
    form = gr.HTML(
        {"method": method, "values": values},
        html_template='<div class="attend-settings"></div>',
        js_on_load=assets.loader("settings/panel.js", "opened"),
        apply_default_css=False,
        elem_id="attend-form",
        form=packed(declared),  # an input of events: Gradio copies every leaf of it at each update of the page
    )
    with gr.Row(elem_id="attend-panel-buttons"):
        code = gr.Button("Copy as code or link", size="sm", variant="secondary", elem_id="attend-code")
        used = gr.Button("", size="sm", variant="secondary", visible=False, elem_id="attend-seed-used")
    used.click(None, used, None, js=_KEEP_SEED)
    dialog = component("settings/code.js", name="code-dialog")
    return Panel(form, used, code, dialog)


def seed_note(seed: int) -> dict[str, object]:
    """The button that shows the seed of the last run and sets it when pressed; -1: the run drew nothing."""
    return gr.update(value=f"Seed {seed} · Reuse", visible=seed >= 0)


def declaration(context_length: int, method: str = DEFAULT_METHOD) -> PanelForm:
    """What the page's script draws the panel from."""
    first = {parameter.name: parameter.typed(getattr(FIRST_VALUES, parameter.name)) for parameter in parameters()}
    limits = {name: min(value, context_length) for name in _LENGTHS if isinstance(value := first[name], int)}
    return {
        "parameters": [_field(parameter, context_length) for parameter in sorted(parameters(), key=_position_in_run)],
        "methods": {name: _method(method) for name, method in METHODS.items()},
        "presets": {name: _set_by(preset) for name, preset in PRESETS.items() if preset != DecodingSettings()},
        "first": {"method": method, "values": first | limits},
        "preset_method": CUSTOM,
        "samplers": list(_SAMPLERS),
        "stages": {stage: list(names) for stage, names in SWITCHES.items()},
        "chains": {name: [stage.name for stage in spec.processors] for name, spec in SPECS.items()},
        "labels": {stage: _stage_label(stage) for stage in SWITCHES},
        "zero_temperature": ZERO_TEMPERATURE,
        "meanings": dict(MEANINGS),
    }


def _method(method: Method) -> MethodValue:
    shows = None if method.shows is None else list(method.shows)
    return {
        "help": method.help,
        "group": method.group,
        "strategy": method.strategy,
        "shows": shows,
        "starts": dict(method.starts),
    }


def _position_in_run(parameter: Parameter) -> int:
    return RUN.index(parameter.name) if parameter.name in RUN else -1


def _set_by(preset: DecodingSettings) -> dict[str, object]:
    """What a preset sets: how a token is chosen, but not for how long or from which seed."""
    names = ("strategy", *_SAMPLERS, "order")
    return {
        parameter.name: parameter.typed(getattr(preset, parameter.name))
        for parameter in parameters()
        if parameter.name in names
    }


def _stage_label(stage: str) -> str:
    return LABELS.get(stage) or LABELS[SWITCHES[stage][0]].split()[0]


def _field(parameter: Parameter, context_length: int) -> PanelField:
    length = parameter.name in _LENGTHS
    return {
        **setting_field(parameter),
        "group": "run" if parameter.name in RUN else "plain" if parameter.name in PLAIN else "advanced",
        "section": next((title for title, names in SECTIONS.items() if parameter.name in names), ""),
        "maximum": min(parameter.maximum, context_length) if length else parameter.maximum,
        "longest": parameter.maximum if length else None,
    }
