"""A change to what one part of a model computes: a head switched off, a layer scaled, an output put in from elsewhere.

Knows nothing of how models are built; `model.inspection.probe` carries interventions out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from model.errors import AttendError

if TYPE_CHECKING:
    from torch import Tensor

# A head is its output before the output projection; attention and feed-forward are what the sub-layer adds to the
# residual stream; a layer is all that its sub-layers add (to replace a layer is to replace the stream after it).
Part = Literal["head", "cross_head", "attention", "cross_attention", "feed_forward", "layer"]
Action = Literal["zero", "mean", "scale", "replace"]

HEADS: tuple[Part, ...] = ("head", "cross_head")
MAX_FACTOR = 1_000_000
MAX_POSITION = 2**31  # beyond every context
MAX_INTERVENTIONS = 1000  # of one run: more than any model has layers and heads that a person would name


Interventions = Sequence["Intervention | Mapping[str, Any]"]  # as `interventions_of` reads them


@dataclass(frozen=True, slots=True)
class Intervention:
    """What happens to one part of one layer at some positions of the text; `AttendError` if that can't be."""

    layer: int  # from 0
    part: Part
    head: int | None = None  # from 0, for parts that are heads
    positions: tuple[int, ...] | None = None  # of the decoder's text, from 0; None: all
    action: Action = "zero"  # "mean" is the part's mean over the positions of the pass
    factor: float = 0.0  # for "scale"; 1 changes nothing
    # For "replace": the same part of another text, (tokens, width); row p replaces position p.
    replacement: Tensor | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.part not in get_args(Part):
            raise AttendError(f"The part is {self.part!r}, but must be one of {', '.join(get_args(Part))}.")
        if self.action not in get_args(Action):
            raise AttendError(f"The action is {self.action!r}, but must be one of {', '.join(get_args(Action))}.")
        if (self.part in HEADS) != (self.head is not None):
            raise AttendError(
                f"The head is {self.head!r} for {self.part}: name a head if the part is one, and only then."
            )
        if not -MAX_FACTOR <= self.factor <= MAX_FACTOR:  # false for NaN, too
            limits = f"between -{MAX_FACTOR:,} and {MAX_FACTOR:,}"
            raise AttendError(f"The factor is {str(self.factor)[:20]}, but must be {limits}.")
        if (self.action == "replace") != (self.replacement is not None):
            raise AttendError("The action replace needs a replacement, and no other action takes one.")

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The intervention that plain values, such as a document's, describe.

        Raises `AttendError` for unknown names, for values of the wrong kind and for "replace", which plain values
        can't hold.
        """
        known = {"layer": int, "part": str, "head": int, "positions": list, "action": str, "factor": (int, float)}
        for name, value in values.items():
            if name not in known:
                raise AttendError(f"An intervention has no {str(name)[:40]!r}: it has {', '.join(known)}.")
            if value is None and name in ("head", "positions"):
                continue
            if not isinstance(value, known[name]) or isinstance(value, bool):
                raise AttendError(f"{name} of an intervention is {str(value)[:40]!r}, which is of the wrong kind.")
        if missing := [name for name in ("layer", "part") if name not in values]:
            raise AttendError(f"An intervention lacks its {missing[0]}: name the layer and the part.")
        positions = values.get("positions")
        whole = all(isinstance(one, int) and not isinstance(one, bool) for one in positions or ())
        if not whole or any(not 0 <= one < MAX_POSITION for one in positions or ()):
            raise AttendError("positions of an intervention must be whole numbers of the text, counted from 0.")
        return cls(**{**values, "positions": None if positions is None else tuple(positions)})

    def plain(self) -> dict[str, Any]:
        """The values that `of` reads, without defaults; a replacement can't be written."""
        values: dict[str, Any] = {"layer": self.layer, "part": self.part}
        if self.head is not None:
            values["head"] = self.head
        if self.positions is not None:
            values["positions"] = list(self.positions)
        values["action"] = self.action
        if self.action == "scale":
            values["factor"] = self.factor
        return values

    def check(self, *, layers: int, heads: int, cross: bool) -> None:
        """Raise `AttendError` if a model with so many layers, and heads in each, has no such part."""
        if not 0 <= self.layer < layers:
            raise AttendError(f"There is no layer {_both(self.layer)}: the model has {layers}.")
        if self.head is not None and not 0 <= self.head < heads:
            raise AttendError(f"There is no head {_both(self.head)}: each layer has {heads}.")
        if self.part in ("cross_head", "cross_attention") and not cross:
            raise AttendError(f"This model has no {self.part}: it has no encoder, so choose another part.")
        if self.positions is not None and any(position < 0 for position in self.positions):
            raise AttendError(f"The position {min(self.positions)} is below 0: positions count from 0.")


def _both(index: int) -> str:
    """The number of a layer or head as people and as programs count."""
    return f"{index + 1} ({index}, counted from 0)"


def interventions_of(values: object) -> tuple[Intervention, ...]:
    """The interventions that the entries of a list describe; `AttendError` for anything else, or for too many."""
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise AttendError("interventions must be a list of objects with a layer and a part.")
    if len(values) > MAX_INTERVENTIONS:
        raise AttendError(f"There are {len(values):,} interventions, but at most {MAX_INTERVENTIONS:,} are allowed.")
    if not all(isinstance(one, Mapping | Intervention) for one in values):
        raise AttendError("Each intervention must be an object with a layer and a part.")
    return tuple(one if isinstance(one, Intervention) else Intervention.of(one) for one in values)
