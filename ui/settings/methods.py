"""The decoding methods that the panel offers: which parameters each shows, and what it means.

A method that is named after one technique leaves everything else at its default, which changes nothing; "Custom" has
all parameters that its strategy uses. This file knows nothing of gradio.
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
    """One entry of the selector: what it does, what it means and which parameters it shows."""

    help: str  # one line, beside its name
    strategy: str | None = None  # None: as the strategy control says
    shows: tuple[str, ...] | None = None  # None: all that the strategy uses
    starts: Mapping[str, float] = field(default_factory=dict)  # its own starting values
    group: MethodGroup = "basic"


RUN = ("max_new_tokens", "seed", "top_candidates")  # they say nothing about how a token is chosen
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
MAX_NAMED, MAX_QUOTED = 3, 40  # how many parts of a link are named, and how many characters of each
DEFAULT_METHOD = "Temperature"  # one slider, whose effect is easy to see
DEFAULT_TRANSLATING = next(name for name, method in METHODS.items() if method.strategy == TRANSLATION_STRATEGY)
FIRST_VALUES = PRESETS["Balanced"]  # initial values, unless the method sets its own


def default_method(*, translates: bool) -> str:
    """The decoding method until the visitor chooses one."""
    return DEFAULT_TRANSLATING if translates else DEFAULT_METHOD


def shown_by(method: Method, strategy: object) -> frozenset[str]:
    """The names of the parameters that are in sight."""
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
    return f"Part of this link is not valid and was ignored: {subject}. The rest of the link applies."


def settings_of(panel: object) -> DecodingSettings:
    """The settings that the panel means: visible parameters have the values shown, all others their defaults.

    Args:
        panel: {"method": name, "values": {parameter: as typed}}; it comes from a browser and may be anything.

    Raises:
        AttendError: for a value that no setting accepts, by its name.
    """
    chosen, values = _parts(panel)
    strategy = chosen.strategy or values.get("strategy", FIRST_VALUES.strategy)
    visible = shown_by(chosen, strategy) | {"strategy"}
    settings = {name: values[name] for name in values.keys() & visible}
    return DecodingSettings.from_dict({**settings, "strategy": strategy})


def shared_settings_of(panel: object) -> DecodingSettings:
    """The settings of the panel that hold for every card of a comparison (`RUN`); each card has its own method.

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
