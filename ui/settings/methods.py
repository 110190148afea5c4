"""The decoding methods that the panel offers: which parameters each shows, and which settings it stands for.

A method that is named after one technique leaves all other parameters at their defaults, which change nothing; "Custom"
shows every parameter that its strategy uses. This module knows nothing of gradio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from decoding.settings import PRESETS, TRANSLATION_STRATEGY, DecodingSettings, parameters
from decoding.strategies.contrastive import DEFAULT_K
from model.errors import AttendError
from ui.settings.settings_contract import MethodGroup


@dataclass(frozen=True, slots=True)
class Method:
    """One entry of the selector."""

    help: str  # one line, beside its name
    strategy: str | None = None  # None: the one that is chosen in the panel
    shows: tuple[str, ...] | None = None  # the parameters it shows; None: all that the strategy uses
    starts: Mapping[str, float] = field(default_factory=dict)  # its own initial values
    group: MethodGroup = "basic"


RUN = ("max_new_tokens", "seed", "top_candidates")  # these don't affect how a token is chosen
CUSTOM = "Custom"  # the method of every preset, since each sets several filters

METHODS: Mapping[str, Method] = {
    "Greedy": Method("Takes the top token.", "greedy", RUN),
    # Below the 0.8 of "Balanced", which also removes the improbable tokens.
    "Temperature": Method("Safer or bolder choices.", "sample", ("temperature", *RUN), {"temperature": 0.6}),
    "Top-k": Method("Draws from the top k.", "sample", ("top_k", *RUN)),
    "Top-p": Method("Fewer options when sure.", "sample", ("top_p", *RUN)),
    "Beam search": Method("Seeks the likeliest text.", "beam", ("num_beams", "length_penalty", *RUN)),
    "Beam sampling": Method(
        "Draws several texts.",
        "beam_sample",
        ("num_beams", "length_penalty", "temperature", *RUN),
        group="more",
    ),
    "Diverse beams": Method(
        "Beams that differ.",
        "diverse_beam",
        ("num_beams", "num_beam_groups", "diversity_penalty", "length_penalty", *RUN),
        group="more",
    ),
    "Contrastive": Method(
        "Avoids repetition.", "contrastive", ("top_k", "penalty_alpha", *RUN), {"top_k": DEFAULT_K}, group="more"
    ),
    "DoLa": Method("Contrasts two layers.", "dola", ("dola_layers", "temperature", *RUN), group="more"),
    CUSTOM: Method("All at once, or a preset:", group="custom"),
}
MAX_NAMED, MAX_QUOTED = 3, 40  # parts of a link that a notice names, and characters of each
DEFAULT_METHOD = "Temperature"  # one slider, whose effect is easy to see
DEFAULT_TRANSLATING = next(name for name, method in METHODS.items() if method.strategy == TRANSLATION_STRATEGY)
FIRST_VALUES = PRESETS["Balanced"]  # initial values, unless the method sets its own


def default_method(*, translates: bool) -> str:
    """The decoding method until the visitor chooses one."""
    return DEFAULT_TRANSLATING if translates else DEFAULT_METHOD


def visible_parameters(method: Method, strategy: object) -> frozenset[str]:
    """The names of the parameters that the panel shows."""
    return frozenset(
        parameter.name
        for parameter in parameters()
        if (method.shows is None or parameter.name in method.shows) and strategy in parameter.strategies
    )


def misread_link(parts: Sequence[object]) -> str:
    """The notice about unknown parts of the page's address, some of which browsers add."""
    shortened = [part if len(part) <= MAX_QUOTED else f"{part[:MAX_QUOTED]}…" for part in map(str, parts)]
    more = [f"{len(shortened) - MAX_NAMED} more"] if len(shortened) > MAX_NAMED else []
    *others, last = [*shortened[:MAX_NAMED], *more]
    subject = f"{', '.join(others)} and {last}" if others else last
    other = " Its model is not offered here, so its texts will differ." if any(map(_names_a_model, parts)) else ""
    return f"Part of this link is not valid and was ignored: {subject}. The rest of the link applies.{other}"


def _names_a_model(part: object) -> bool:
    return str(part).startswith("model=")


def settings_of(panel: object) -> DecodingSettings:
    """The settings of the panel: visible parameters have the values in the panel, all others their defaults.

    Args:
        panel: {"method": name, "values": {parameter: value as typed}}; it comes from a browser and may be anything.

    Raises:
        AttendError: if a setting doesn't accept its value.
    """
    chosen, values = _parts(panel)
    strategy = chosen.strategy or values.get("strategy", FIRST_VALUES.strategy)
    visible = visible_parameters(chosen, strategy) | {"strategy"}
    settings = {name: values[name] for name in values.keys() & visible}
    return DecodingSettings.from_dict({**settings, "strategy": strategy})


def shared_settings_of(panel: object) -> DecodingSettings:
    """The settings of the panel that apply to every card of a comparison (`RUN`); each card has its own method.

    Arguments and errors are those of `settings_of`. Parameters that only the panel's method uses are ignored.
    """
    _, values = _parts(panel)
    return DecodingSettings.from_dict({name: values[name] for name in values.keys() & set(RUN)})


def _parts(panel: object) -> tuple[Method, Mapping[str, object]]:
    method = panel.get("method") if isinstance(panel, Mapping) else None
    values = panel.get("values") if isinstance(panel, Mapping) else None
    if not isinstance(values, Mapping) or not isinstance(method, str) or method not in METHODS:
        raise AttendError("These settings come from another version of this page: reload it.")
    return METHODS[method], values
