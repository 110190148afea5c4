"""How people name the parts of a model: counted from 1, as on the page. "6.5" is layer 6, head 5; "layer 6" all of it.

Programs count from 0; see `model.inspection.intervention`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from model.errors import AttendError
from model.inspection.intervention import HEADS, Intervention, Part

EXAMPLES = (
    "6.5 for layer 6, head 5; layer 6; attention 6; feed-forward 6; cross-attention 6 or 6.5; 6.5 x 0.5 to halve it"
)
MAX_CHARACTERS = 10_000  # of a list of names

_NAMES: Mapping[Part, str] = MappingProxyType(
    {
        "head": "head",
        "cross_head": "cross-attention",
        "attention": "attention",
        "cross_attention": "cross-attention",
        "feed_forward": "feed-forward",
        "layer": "layer",
    }
)
_NAMED: Mapping[tuple[str, bool], Part] = MappingProxyType(
    {**{(name, part in HEADS): part for part, name in _NAMES.items()}, ("", True): "head", ("", False): "layer"}
)
_FORM = re.compile(
    r"(?:([a-z]+(?:[ _-][a-z]+)?)\s*)?(\d{1,4})(?:\.(\d{1,4}))?(?:\s*[x*×]\s*(-?\d{1,6}(?:\.\d{1,9})?))?"
)


def read_names(text: str) -> tuple[Intervention, ...]:
    """The parts that a list such as "6.5, layer 2" names, each switched off or, followed by "x 0.5", scaled.

    Raises `AttendError` for what names no part; whether a model has it is checked where it is used.
    """
    if len(text) > MAX_CHARACTERS:
        raise AttendError(f"The list of parts has {len(text):,} characters, but at most {MAX_CHARACTERS:,} are read.")
    return tuple(_read(name) for name in re.split(r"[,;\n]", text) if name.strip())


def _read(name: str) -> Intervention:
    parts = _FORM.fullmatch(name.strip().lower())
    part = parts and _NAMED.get((re.sub("[ _]", "-", parts[1] or ""), parts[3] is not None))
    if not parts or not part or not int(parts[2]) or not int(parts[3] or 1):
        raise AttendError(f"{name.strip()[:40]!r} names no part of a model. Count from 1 and write {EXAMPLES}.")
    head, factor = int(parts[3]) - 1 if parts[3] else None, float(parts[4] or 0)
    return Intervention(int(parts[2]) - 1, part, head, action="scale" if parts[4] else "zero", factor=factor)


def name_of(intervention: Intervention) -> str:
    """The name that `read_names` reads; it has no positions."""
    head = "" if intervention.head is None else f".{intervention.head + 1}"
    word = "" if intervention.part == "head" else f"{_NAMES[intervention.part]} "
    factor = f" x {intervention.factor:g}" if intervention.action == "scale" else ""
    return f"{word}{intervention.layer + 1}{head}{factor}"


def names_of(interventions: Iterable[Intervention]) -> str:
    """The list of all names."""
    return ", ".join(map(name_of, interventions))
