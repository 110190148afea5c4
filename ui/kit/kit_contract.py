"""How a setting is described to every form."""

from __future__ import annotations

from typing import Literal, TypedDict


class SettingField(TypedDict):
    """One parameter of decoding, as `ui/kit/js/setting.js` draws it; made by `ui.kit.setting.setting_field`."""

    name: str
    label: str
    help: str  # one line
    kind: Literal["number", "word", "text", "order"]
    minimum: float  # this and the next three are for numbers
    maximum: float
    step: float
    integer: bool
    choices: list[tuple[str, str]]  # values and their labels
    placeholder: str
    default: float | str  # as typed
    neutral: float | str | None  # the value that changes nothing, as typed; None if every value does something
    strategies: list[str]  # the strategies that use it
