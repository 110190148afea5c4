"""What is switched off inside the model: a setting of Compare's cards and of the endpoints, named as on the page.

It is no field of `DecodingSettings`, since it changes the model and not what is made of its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decoding.parameters.list_parameter import ListParameter
from decoding.parameters.parameter import quoted
from decoding.strategies.registry import SPECS
from model.errors import AttendError
from model.inspection.intervention import Intervention
from model.inspection.naming import EXAMPLES, names_of, read_names

WITHOUT = ListParameter(
    name="without",
    label="Without",
    default="",
    help=f"Parts of the model that are switched off or scaled, counted from 1: {EXAMPLES}.",
    strategies=tuple(SPECS),
)


def without_of(settings: object) -> tuple[Intervention, ...]:
    """The parts that these settings, which may be anything, switch off; `AttendError` for what names no parts."""
    text = settings.get(WITHOUT.name, "") if isinstance(settings, Mapping) else ""
    if not isinstance(text, str):
        raise AttendError(f"{WITHOUT.name} is {quoted(text)}, but must be a text such as 6.5 for layer 6, head 5.")
    return read_names(text)


def plain_settings(settings: object) -> Any:
    """These settings for `DecodingSettings.from_dict`: all but this one."""
    if not isinstance(settings, Mapping):
        return {} if settings is None else settings
    return {name: value for name, value in settings.items() if name != WITHOUT.name}


def can_be_named(interventions: tuple[Intervention, ...]) -> bool:
    """Whether the setting says all of it: names only switch off and scale, everywhere in the text."""
    try:
        return read_names(names_of(interventions)) == interventions
    except AttendError:  # a factor or a list that no text can give
        return False


def typed_without(interventions: tuple[Intervention, ...]) -> dict[str, str]:
    """The setting as a form has it; nothing where nothing is switched off."""
    return {WITHOUT.name: names_of(interventions)} if interventions else {}
