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


def _rows(*rows: str) -> Rows:
    """Rows of kinds with spaces between them; an empty row is left out."""
    return tuple(tuple(row.split()) for row in rows if row)


def own_plan(config: TransformerConfig) -> tuple[Side, ...]:
    """The sides of one of our networks."""
    first = config.norm_place == "before"
    norm, turned = "final_norm" if first else "", "positions" if config.positions == "rotary" else ""
    added = "positions" if config.positions in ("sinusoidal", "learned") else ""
    start = Group("input", _rows("tokens", f"embedding {added}"))
    attention = _group("attention", "attention", first, "projections", turned, "weights mixed", "output")
    queries, weights = "cross_keys_values cross_queries", "cross_weights cross_mixed"
    cross = _group("cross_attention", "cross", first, queries, weights, "cross_output")
    feed_forward = _group("feed_forward", "feed_forward", first, "up activation", "down")
    end = Group("output", _rows(norm, "logits", "probabilities"))
    if not config.encoder_layers:
        return (Side("decoder", config.layers, (start, attention, feed_forward, end)),)
    encoded = (Group("output", _rows(norm)),) if norm else ()
    return (
        Side("encoder", config.encoder_layers, (start, attention, feed_forward, *encoded)),
        Side("decoder", config.layers, (start, attention, cross, feed_forward, end)),
    )


def _group(name: GroupName, prefix: str, first: bool, *rows: str) -> Group:
    """A sub-layer of our blocks, with its norm before or after it."""
    norm, added = f"{prefix}_norm", f"{prefix}_add"
    return Group(name, _rows(norm, *rows, added) if first else _rows(*rows, f"{added} {norm}"), repeated=True)


def foreign_plan(anatomy: Anatomy, counted: set[str]) -> tuple[Side, ...]:
    """The sides of a model of transformers, as far as its parts are known.

    Args:
        counted: the parts that have parameters.
    """
    # these are known by their parameters alone
    positions, norms, other = (one if f"decoder.{one}" in counted else "" for one in ("positions", "norms", "other"))
    last = "" if isinstance(anatomy.final_norm, nn.Identity) else "final_norm"
    attention = _rows(norms, "projections", "weights mixed", "output", "attention_add")
    groups = [
        Group("input", _rows("tokens", f"embedding {positions}", other)),
        Group("attention", attention, repeated=True),
        Group("feed_forward", _rows("up", "down", "feed_forward_add"), repeated=True),
        Group("output", _rows(last, "logits", "probabilities")),
    ]
    if "cross_attention" not in anatomy.names:
        return (Side("decoder", len(anatomy.layers), tuple(groups)),)
    cross = _rows("cross_projections", "cross_weights cross_mixed", "cross_output", "cross_add")
    groups.insert(2, Group("cross_attention", cross, repeated=True))
    return (
        Side("encoder", 1, (Group("whole", _rows("tokens", "encoder", "weights")),)),
        Side("decoder", len(anatomy.layers), tuple(groups)),
    )
