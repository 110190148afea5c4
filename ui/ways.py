"""The ways to choose tokens that the panel offers: which parameters each shows, and what it means. Nothing of gradio.

A way that is named after one technique leaves everything else at its default, which changes nothing; "Combined" has all
that its strategy uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from decoding.settings import PRESETS, TRANSLATES, WEIGHED, DecodingSettings, parameters
from model.errors import AttendError


@dataclass(frozen=True, slots=True)
class Way:
    """One entry of the selector: what it means and which parameters it shows."""

    strategy: str | None = None  # None: as the strategy control says
    shows: tuple[str, ...] | None = None  # None: all that the strategy uses
    starts: Mapping[str, int] = field(default_factory=dict)  # what parameters say when it is chosen, if its own


_RUN = ("max_new_tokens", "top_candidates")
_DRAWN_RUN = ("seed", *_RUN)

WAYS: Mapping[str, Way] = {
    "Greedy": Way("greedy", _RUN),
    "Temperature": Way("sample", ("temperature", *_DRAWN_RUN)),
    "Top-k": Way("sample", ("top_k", *_DRAWN_RUN)),
    "Top-p": Way("sample", ("top_p", *_DRAWN_RUN)),
    "Beam search": Way("beam", ("num_beams", "length_penalty", *_RUN)),
    "Beam sampling": Way("beam_sample", ("num_beams", "length_penalty", "temperature", *_DRAWN_RUN)),
    "Diverse beams": Way(
        "diverse_beam", ("num_beams", "num_beam_groups", "diversity_penalty", "length_penalty", *_RUN)
    ),
    "Contrastive": Way("contrastive", ("top_k", "penalty_alpha", *_RUN), {"top_k": WEIGHED}),
    "DoLa": Way("dola", ("dola_layers", "temperature", *_DRAWN_RUN)),
    "Combined": Way(),
}
MOST_NAMED, MOST_SAID = 3, 40  # parts of a link that are named, and characters of each
FIRST_WAY = "Combined"
FIRST_TRANSLATING = next(name for name, way in WAYS.items() if way.strategy == TRANSLATES)
FIRST_VALUES = PRESETS["Balanced"]  # what the controls say before anybody touches them


def first_way(*, translates: bool) -> str:
    """How a model's tokens are chosen as long as nobody has said."""
    return FIRST_TRANSLATING if translates else FIRST_WAY


def shown_by(way: Way, strategy: object) -> frozenset[str]:
    """The names of the parameters that are in sight."""
    return frozenset(
        parameter.name
        for parameter in parameters()
        if (way.shows is None or parameter.name in way.shows) and strategy in parameter.strategies
    )


def misread_link(parts: Sequence[object]) -> str:
    """What is said of the parts of the page's address that it does not know; they come from a browser, too."""
    said = [part if len(part) <= MOST_SAID else f"{part[:MOST_SAID]}…" for part in map(str, parts)]
    more = [f"{len(said) - MOST_NAMED} more"] if len(said) > MOST_NAMED else []
    *others, last = [*said[:MOST_NAMED], *more]
    what = f"{', '.join(others)} and {last}" if others else last
    return f"The page does not understand {what} in its link: its own values stand there, the rest of the link applies."


def settings_of(panel: object) -> DecodingSettings:
    """What the panel means: the parameters in sight as they are set, all others as they are by default.

    Args:
        panel: {"way": name, "values": {parameter: as typed}}; it comes from a browser and may be anything.

    Raises:
        AttendError: for a value that no setting accepts, by its name.
    """
    way = panel.get("way") if isinstance(panel, Mapping) else None
    values = panel.get("values") if isinstance(panel, Mapping) else None
    if not isinstance(values, Mapping) or not isinstance(way, str) or way not in WAYS:
        raise AttendError("The page sent settings that this version does not understand: reload it.")
    chosen = WAYS[way]
    strategy = chosen.strategy or values.get("strategy", FIRST_VALUES.strategy)
    shown = shown_by(chosen, strategy) | {"strategy"}
    settings = {name: values[name] for name in values.keys() & shown}
    return DecodingSettings.from_dict({**settings, "strategy": strategy})
