"""The settings beside the text: one component of our own, drawn by `ui/settings.js` from what is declared here.

Every range, step and help line comes from `decoding.settings`; this file adds names for people and says what is folded
away. What the choices mean is in `ui/ways.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from decoding.chain import SWITCHES
from decoding.parameter import Parameter
from decoding.settings import PRESETS, DecodingSettings, parameters
from decoding.traits import TRAITS
from ui.ways import FIRST_VALUES, FIRST_WAY, WAYS, settings_of

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
    "banned_words": "e.g. cat, dog",
    "stop_texts": "e.g. The end, ###",
    "logit_bias": "e.g. 5:-100, 7:2.5",
}  # in empty boxes

WORDS: Mapping[str, str] = {  # for choices
    "greedy": "Greedy",
    "sample": "Sampling",
    "beam": "Beam search",
    "beam_sample": "Beam sampling",
    "diverse_beam": "Diverse beams",
    "contrastive": "Contrastive",
    "dola": "DoLa",
}

MEANINGS: Mapping[str, str] = {  # what the chosen strategy does
    "greedy": "Takes the most probable token, every time.",
    "sample": "Draws each token by its probability.",
    "beam": "Follows several texts at once and keeps the most probable.",
    "beam_sample": "Follows several texts at once; what they go on with is drawn.",
    "diverse_beam": "Follows groups of texts that avoid each other’s tokens.",
    "contrastive": "Shuns tokens that resemble the text so far.",
    "dola": "Draws by what the upper layers add to a lower one.",
}

RUN = ("max_new_tokens", "top_candidates", "seed")  # last: they say nothing about how a token is chosen
# In sight with "Combined"; what is not named here is folded away under "Advanced", so that the panel stays calm.
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

_SAMPLERS = ("mirostat_mode", *(name for switches in SWITCHES.values() for name in switches))
_LENGTHS = ("max_new_tokens", "min_new_tokens")
_KEEP_SEED = """(text) => {
  document.dispatchEvent(new CustomEvent('attend-seed', { detail: Number(text.split(' ')[2]) }));
}"""

HEARD = "() => { document.dispatchEvent(new Event('attend-heard')); return []; }"  # the form's script waits for it


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
        return Panel.read_as_it_is(values).seeded()

    @staticmethod
    def read_as_it_is(values: Sequence[object]) -> DecodingSettings:
        """The same with a seed of -1 where it is left to chance."""
        (said,) = values
        return settings_of(said)


def build(context_length: int, way: str = FIRST_WAY) -> Panel:
    """Lay the panel out where the caller stands; `way` is that of the page's first model."""
    declared = declaration(context_length, way)
    form = gr.HTML(
        declared["first"],
        html_template='<div class="attend-settings"></div>',
        js_on_load=f"{_read('views/shared.js')}\n{_read('settings.js')}",
        apply_default_css=False,
        elem_id="attend-form",
        form=declared,
    )
    used = gr.Button("", size="sm", variant="secondary", visible=False, elem_id="attend-seed-used")
    used.click(None, used, None, js=_KEEP_SEED)
    code = gr.Button("Copy as code or link", size="sm", variant="secondary", elem_id="attend-code")
    dialog = gr.HTML(
        None,
        html_template=_read("code.html"),
        js_on_load=f"{_read('views/shared.js')}\n{_read('code.js')}",
        apply_default_css=False,
        elem_id="attend-code-dialog",
    )
    return Panel(form, used, code, dialog)


def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def seed_note(seed: int) -> dict[str, object]:
    """The button that shows the seed of the last run and sets it when pressed; -1: the run drew nothing."""
    return gr.update(value=f"Seed used: {seed} · keep it", visible=seed >= 0)


def declaration(context_length: int, way: str = FIRST_WAY) -> dict[str, Any]:
    """What the page's script draws the panel from."""
    first = {one.name: one.typed(getattr(FIRST_VALUES, one.name)) for one in parameters()}
    limits = {name: min(value, context_length) for name in _LENGTHS if isinstance(value := first[name], int)}
    return {
        "parameters": [_field(parameter, context_length) for parameter in sorted(parameters(), key=_place_in_run)],
        "ways": {
            name: {"strategy": way.strategy, "shows": way.shows, "starts": dict(way.starts)}
            for name, way in WAYS.items()
        },
        "presets": {name: _set_by(preset) for name, preset in PRESETS.items() if preset != DecodingSettings()},
        "first": {"way": way, "values": first | limits},
        "whole": FIRST_WAY,  # which every preset belongs to
        "samplers": _SAMPLERS,
        "stages": dict(SWITCHES),
        "like": {name: traits.chain for name, traits in TRAITS.items() if traits.chain},
        "labels": {stage: _stage_label(stage) for stage in SWITCHES},
        "words": WORDS,
        "meanings": MEANINGS,
    }


def _place_in_run(parameter: Parameter) -> int:
    return RUN.index(parameter.name) if parameter.name in RUN else -1


def _set_by(preset: DecodingSettings) -> dict[str, object]:
    """What a preset sets: how a token is chosen, but not for how long or from which seed."""
    names = ("strategy", *_SAMPLERS, "order")
    return {one.name: one.typed(getattr(preset, one.name)) for one in parameters() if one.name in names}


def _stage_label(stage: str) -> str:
    return LABELS.get(stage) or LABELS[SWITCHES[stage][0]].split()[0]


def _field(parameter: Parameter, context_length: int) -> dict[str, object]:
    """One control."""
    neutral = None if parameter.neutral is None else parameter.typed(parameter.neutral)
    return {
        "name": parameter.name,
        "label": LABELS[parameter.name],
        "help": parameter.help,
        "kind": parameter.control,
        "place": "run" if parameter.name in RUN else "plain" if parameter.name in PLAIN else "advanced",
        "minimum": parameter.minimum,
        "maximum": min(parameter.maximum, context_length) if parameter.name in _LENGTHS else parameter.maximum,
        "longest": parameter.maximum if parameter.name in _LENGTHS else None,  # in a context that has room for it
        "step": parameter.step,
        "integer": parameter.integer,
        "choices": parameter.choices,
        "placeholder": EXAMPLES.get(parameter.name, ""),
        "neutral": neutral,
        "strategies": parameter.strategies,
    }
