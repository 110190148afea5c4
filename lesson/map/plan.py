"""The parts of a model in the order in which a text passes through them, for our own networks and for others.

A part is named after its side and its kind, such as `decoder.weights`; every layer has the same parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import nn

from model.inspection.anatomy import Anatomy
from model.transformer.config import TransformerConfig

SideName = Literal["encoder", "decoder"]
GroupName = Literal["input", "attention", "cross_attention", "feed_forward", "output", "whole"]
Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Parts that belong together: rows of kinds, the first first; those of a row stand side by side."""

    name: GroupName
    rows: Rows
    repeated: bool = False  # in every layer


@dataclass(frozen=True, slots=True)
class Side:
    """An encoder or a decoder."""

    name: SideName
    layers: int
    groups: tuple[Group, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{kind}" for group in self.groups for row in group.rows for kind in row)


def own_plan(config: TransformerConfig) -> tuple[Side, ...]:
    """The sides of one of our networks."""
    first = config.norm_place == "before"
    added = ["positions"] if config.positions in ("sinusoidal", "learned") else []
    turned: Rows = (("positions",),) if config.positions == "rotary" else ()
    start = Group("input", (("tokens",), ("embedding", *added)))
    attention = _group("attention", (("projections",), *turned, ("weights", "mixed"), ("output",)), first=first)
    cross = _group(
        "cross_attention",
        (("cross_keys_values", "cross_queries"), ("cross_weights", "cross_mixed"), ("cross_output",)),
        first=first,
        prefix="cross",
    )
    feed_forward = _group("feed_forward", (("up", "activation"), ("down",)), first=first)
    norm: Rows = (("final_norm",),) if first else ()
    end = Group("output", (*norm, ("logits",), ("probabilities",)))
    if not config.encoder_layers:
        return (Side("decoder", config.layers, (start, attention, feed_forward, end)),)
    encoded = (Group("output", norm),) if norm else ()
    return (
        Side("encoder", config.encoder_layers, (start, attention, feed_forward, *encoded)),
        Side("decoder", config.layers, (start, attention, cross, feed_forward, end)),
    )


def _group(name: GroupName, rows: Rows, *, first: bool, prefix: str = "") -> Group:
    """A sub-layer of our blocks, with the norm before or after it."""
    prefix = prefix or name
    norm, added = f"{prefix}_norm", f"{prefix}_add"
    return Group(name, ((norm,), *rows, (added,)) if first else (*rows, (added, norm)), repeated=True)


def foreign_plan(anatomy: Anatomy, counted: set[str]) -> tuple[Side, ...]:
    """The sides of a model of transformers, as far as its parts are known.

    Args:
        counted: the parts that have parameters.
    """

    def rows(*kinds: tuple[str, ...]) -> Rows:
        """Without the kinds that are known by their parameters alone, where the model has none."""
        optional = {"positions", "norms", "other"}
        kept = (tuple(one for one in row if one not in optional or f"decoder.{one}" in counted) for row in kinds)
        return tuple(row for row in kept if row)

    groups = [
        Group("input", rows(("tokens",), ("embedding", "positions"), ("other",))),
        Group(
            "attention",
            rows(("norms",), ("projections",), ("weights", "mixed"), ("output",), ("attention_add",)),
            repeated=True,
        ),
        Group("feed_forward", (("up",), ("down",), ("feed_forward_add",)), repeated=True),
        Group(
            "output",
            (
                *(() if isinstance(anatomy.final_norm, nn.Identity) else (("final_norm",),)),
                ("logits",),
                ("probabilities",),
            ),
        ),
    ]
    if "cross_attention" not in anatomy.names:
        return (Side("decoder", len(anatomy.layers), tuple(groups)),)
    cross = (("cross_projections",), ("cross_weights", "cross_mixed"), ("cross_output",), ("cross_add",))
    groups.insert(2, Group("cross_attention", cross, repeated=True))
    return (
        Side("encoder", 1, (Group("whole", (("tokens",), ("encoder",), ("weights",))),)),
        Side("decoder", len(anatomy.layers), tuple(groups)),
    )
