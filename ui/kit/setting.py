"""The one declaration of a setting for the page's forms: the settings beside the text, Compare's cards, "What if?".

Ranges, steps and help lines come from `decoding.settings`, the names for people from `ui/kit/labels.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from decoding.parameters.parameter import Parameter
from ui.kit.kit_contract import SettingField
from ui.kit.labels import LABELS, WORDS

_PLACEHOLDERS: Mapping[str, str] = {
    "banned_words": "e.g. cat, dog",
    "stop_texts": "e.g. The end, ###",
    "logit_bias": "e.g. 5:-100, 7:2.5",
}


def setting_field(parameter: Parameter) -> SettingField:
    """What a form's script needs of a parameter."""
    return {
        "name": parameter.name,
        "label": LABELS[parameter.name],
        "help": parameter.help,
        "kind": parameter.control,
        "minimum": parameter.minimum,
        "maximum": parameter.maximum,
        "step": parameter.step,
        "integer": parameter.integer,
        "choices": [(choice, WORDS.get(choice, choice)) for choice in parameter.choices],
        "placeholder": _PLACEHOLDERS.get(parameter.name, ""),
        "default": parameter.typed(parameter.default),
        "neutral": None if parameter.neutral is None else parameter.typed(parameter.neutral),
        "strategies": list(parameter.strategies),
    }
