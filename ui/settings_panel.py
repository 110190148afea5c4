"""The settings beside the text: a selector, and of the parameters only those that the choice has.

Every range, step and help line comes from `decoding.settings`; this file adds names for people and says which choice
shows what. The controls of a choice that is not selected keep their values and are out of sight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from decoding.parameter import Parameter
from decoding.settings import PRESETS, DecodingSettings, parameters

LABELS: Mapping[str, str] = {
    "strategy": "Strategy",
    "temperature": "Temperature",
    "top_k": "Top-k",
    "top_p": "Top-p",
    "num_beams": "Beams",
    "length_penalty": "Length penalty",
    "penalty_alpha": "Contrast α",
    "dola_layers": "DoLa layers",
    "early_stopping": "Early stopping",
    "num_beam_groups": "Beam groups",
    "diversity_penalty": "Diversity penalty",
    "num_return_sequences": "Texts",
    "seed": "Seed",
    "max_new_tokens": "Length",
    "top_candidates": "Candidates shown",
    "min_p": "Min-p",
    "typical_p": "Typical",
    "top_h": "Top-H",
    "top_n_sigma": "Top-nσ",
    "top_a": "Top-a",
    "epsilon_cutoff": "Epsilon cutoff",
    "eta_cutoff": "Eta cutoff",
    "xtc_probability": "XTC probability",
    "xtc_threshold": "XTC threshold",
    "dynatemp_range": "Dynatemp range",
    "dynatemp_exponent": "Dynatemp exponent",
    "mirostat_mode": "Mirostat",
    "mirostat_tau": "Mirostat τ",
    "mirostat_eta": "Mirostat η",
    "repetition_penalty": "Repetition penalty",
    "frequency_penalty": "Frequency penalty",
    "presence_penalty": "Presence penalty",
    "no_repeat_ngram_size": "No-repeat n-gram",
    "dry_multiplier": "DRY multiplier",
    "dry_base": "DRY base",
    "dry_allowed_length": "DRY length",
    "min_new_tokens": "Least length",
    "banned_words": "Banned words",
    "stop_texts": "Stop texts",
    "logit_bias": "Logit bias",
    "order": "Order of the stages",
}

EXAMPLES: Mapping[str, str] = {
    "banned_words": "cat, dog",
    "stop_texts": "The end, ###",
    "logit_bias": "5:-100, 7:2.5",
}  # in empty boxes

# In sight for "Custom"; what is not named here is folded away under "Advanced", so that the panel stays calm.
PLAIN = (
    "strategy",
    "temperature",
    "top_k",
    "top_p",
    "num_beams",
    "length_penalty",
    "seed",
    "max_new_tokens",
    "top_candidates",
)

_ALWAYS = ("max_new_tokens",)
_EVERYTHING = tuple(parameter.name for parameter in parameters())


@dataclass(frozen=True, slots=True)
class Way:
    """One entry of the selector: what it means and which parameters it shows."""

    strategy: str | None  # None: as the strategy control says
    shows: tuple[str, ...]


WAYS: Mapping[str, Way] = {
    "Greedy": Way("greedy", _ALWAYS),
    "Temperature": Way("sample", ("temperature", "seed", *_ALWAYS)),
    "Top-k": Way("sample", ("top_k", "seed", *_ALWAYS)),
    "Top-p": Way("sample", ("top_p", "seed", *_ALWAYS)),
    "Beam search": Way("beam", ("num_beams", "length_penalty", *_ALWAYS)),
    "Custom": Way(None, _EVERYTHING),
}
FIRST_WAY = "Custom"
FIRST_VALUES = PRESETS["Balanced"]  # what the controls say before anybody touches them


def settings_of(way: object, values: Mapping[str, object]) -> DecodingSettings:
    """What the panel means: the parameters that the choice shows as they are set, all others neutral.

    Raises `AttendError` for values out of range, wherever they came from.
    """
    chosen = WAYS[way if isinstance(way, str) and way in WAYS else FIRST_WAY]
    settings: dict[str, object] = {
        parameter.name: values[parameter.name] if parameter.name in chosen.shows else _resting(parameter)
        for parameter in parameters()
    }
    if chosen.strategy is not None:
        settings["strategy"] = chosen.strategy
    return DecodingSettings.from_dict(settings)


def preset_values(preset: str) -> dict[str, object]:
    """What the controls say after a preset was pressed; the seed and the length stay as they are."""
    values = _typed(PRESETS[preset])
    return {name: value for name, value in values.items() if name not in ("seed", "max_new_tokens", "top_candidates")}


def _typed(settings: DecodingSettings) -> dict[str, int | float | str]:
    """All values as their controls show them."""
    return {parameter.name: parameter.typed(getattr(settings, parameter.name)) for parameter in parameters()}


def _resting(parameter: Parameter) -> object:
    return parameter.default if parameter.neutral is None else parameter.neutral


@dataclass(frozen=True, slots=True)
class Panel:
    """The controls, once they are on the page."""

    way: gr.Radio
    controls: Mapping[str, Component]
    used: gr.Button

    @property
    def inputs(self) -> list[Component]:
        """To be put last among a handler's inputs and given to `read`."""
        return [self.way, *self.controls.values()]

    def read(self, values: Sequence[object]) -> DecodingSettings:
        """The settings that these inputs mean, with a definite seed."""
        way, *rest = values
        return settings_of(way, dict(zip(self.controls, rest, strict=True))).seeded()


def build(context_length: int) -> Panel:
    """Lay the panel out where the caller stands, and wire what concerns only itself."""
    way = gr.Radio(list(WAYS), value=FIRST_WAY, label="How to choose tokens", elem_id="attend-way")
    with gr.Row(elem_id="attend-presets"):
        presets = {name: gr.Button(name, size="sm", min_width=60) for name in PRESETS}
    controls = {one.name: _control(one, context_length) for one in parameters() if one.name in PLAIN}
    folded = [parameter for parameter in parameters() if parameter.name not in PLAIN]
    visible = any(parameter.name in WAYS[FIRST_WAY].shows for parameter in folded)
    with gr.Accordion("Advanced", open=False, visible=visible, elem_id="attend-advanced") as advanced:
        controls |= {parameter.name: _control(parameter, context_length) for parameter in folded}
    used = gr.Button("", size="sm", variant="secondary", visible=False, elem_id="attend-seed-used")
    panel = Panel(way, controls, used)

    def show(chosen: str) -> list[object]:
        shown = [name in WAYS[chosen].shows for name in controls]
        unfolded = any(one.name in WAYS[chosen].shows for one in folded)
        return [gr.update(visible=visible) for visible in (*shown, unfolded)]

    parts = [*controls.values(), advanced]
    way.change(show, way, parts, queue=False, show_progress="hidden", api_visibility="private")
    for name, button in presets.items():
        values = preset_values(name)
        button.click(
            lambda values=values: ["Custom", *values.values()],
            None,
            [way, *(controls[parameter] for parameter in values)],
            queue=False,
            show_progress="hidden",
            api_visibility="private",
        )
    used.click(
        lambda text: int(text.split()[2]) if text else -1,
        used,
        controls["seed"],
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
    return panel


def seed_note(seed: int) -> dict[str, object]:
    """The button that shows the seed of the last run and sets it when pressed; -1: the run drew nothing."""
    return gr.update(value=f"Seed used: {seed} · keep it", visible=seed >= 0)


def _control(parameter: Parameter, context_length: int) -> Component:
    """The control that fits a parameter's kind."""
    label, value = LABELS[parameter.name], _typed(FIRST_VALUES)[parameter.name]
    visible = parameter.name in WAYS[FIRST_WAY].shows
    elem_id = f"attend-{parameter.name.replace('_', '-')}"
    common: Any = {"label": label, "info": parameter.help, "visible": visible, "elem_id": elem_id}
    if not parameter.numeric:
        if type(parameter) is Parameter:
            return gr.Radio(list(parameter.choices), value=value, **common)
        return gr.Textbox(str(value), lines=1, max_lines=4, placeholder=EXAMPLES.get(parameter.name, ""), **common)
    if parameter.name == "seed":
        return gr.Number(float(value), minimum=parameter.minimum, maximum=parameter.maximum, precision=0, **common)
    limit = context_length if parameter.name in ("max_new_tokens", "min_new_tokens") else math.inf
    maximum = min(parameter.maximum, limit)
    return gr.Slider(parameter.minimum, maximum, value=min(float(value), maximum), step=parameter.step, **common)
