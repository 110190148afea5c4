"""How the page's forms describe a setting: the settings beside the text, Compare's cards and "What if?".

All of it, labels and help lines included, comes from the setting's declaration in `decoding/`.
"""

from __future__ import annotations

from collections.abc import Mapping

from decoding.parameters.parameter import Parameter
from ui.kit.kit_contract import SettingField

_PLACEHOLDERS: Mapping[str, str] = {
    "banned_words": "e.g. cat, dog",
    "stop_texts": "e.g. The end, ###",
    "logit_bias": "e.g. 5:-100, 7:2.5",
    "without": "e.g. 6.5, layer 2",
}


def setting_field(parameter: Parameter) -> SettingField:
    """What a form's script needs to know of a parameter."""
    return {
        "name": parameter.name,
        "label": parameter.label,
        "help": parameter.help,
        "kind": parameter.control,
        "minimum": parameter.minimum,
        "maximum": parameter.maximum,
        "step": parameter.step,
        "integer": parameter.integer,
        "choices": list(zip(parameter.choices, parameter.choice_labels or parameter.choices, strict=True)),
        "placeholder": _PLACEHOLDERS.get(parameter.name, ""),
        "default": parameter.typed(parameter.default),
        "neutral": None if parameter.neutral is None else parameter.typed(parameter.neutral),
        "strategies": list(parameter.strategies),
    }
