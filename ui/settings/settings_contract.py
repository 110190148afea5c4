"""The values from which the settings beside the text are drawn."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from ui.kit.kit_contract import SettingField


class PanelField(SettingField):
    """A setting of the panel."""

    group: Literal["plain", "advanced", "run"]  # visible, folded away under Custom, or under every method
    section: str  # the heading it stands under; "" for those that aren't advanced
    longest: float | None  # the maximum of a length, if the context has room for it; None for other settings


MethodGroup = Literal["basic", "more", "custom"]  # visible, folded away, or the one with all parameters


class MethodValue(TypedDict):
    """A decoding method: see `ui.settings.methods.Method`."""

    help: str
    group: MethodGroup
    strategy: str | None
    shows: list[str] | None
    starts: dict[str, float]


class PanelValue(TypedDict):
    """The panel's value; `ui.settings.methods.settings_of` reads it."""

    method: str  # the name of the decoding method
    values: dict[str, Any]  # as typed, by the names of the parameters; an emptied number is None


class PanelForm(TypedDict):
    """What the script draws the panel from, which never changes. Its event: `opened {misread}`, invalid link parts."""

    parameters: list[PanelField]
    methods: dict[str, MethodValue]
    presets: dict[str, dict[str, Any]]  # the values that each sets, as typed
    first: PanelValue  # of the page's first model
    tab_methods: dict[str, str]  # by tab, the usual method of the models it needs; tabs that take any model have none
    preset_method: str  # the method that every preset belongs to
    samplers: list[str]  # settings that filter tokens
    stages: dict[str, list[str]]  # for each filter, the settings that turn it on
    chains: dict[str, list[str]]  # for each strategy, the filters that it can run
    labels: dict[str, str]  # for all stages of a step, including the filters
    zero_temperature: float  # below it, no token is drawn at random
    meanings: dict[str, str]  # what each strategy does
