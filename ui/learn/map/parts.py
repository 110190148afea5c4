"""The words of the map: what each kind of part does, which chapter explains it, and where each chapter stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lesson.map.plan import Group, Side, own_plan
from model.transformer.config import TransformerConfig

KIND_OF_SIDE: Mapping[str, str] = {"encoder": "Encoder", "decoder": "Decoder"}
_GROUPS: Mapping[str, str] = {
    "attention": "Self-attention",
    "cross_attention": "Cross-attention",
    "feed_forward": "Feed-forward",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A kind of part."""

    title: str
    does: str
    chapters: tuple[str, ...]  # that explain it, the best first


_BY_HAND = ("attention_by_hand", "attention", "heads")
_CROSS = ("attention_by_hand", "block", "why_attention")
_ADD = Part("Add", "What the part computed is added to the stream, which runs past every part.", ("block", "inside"))
_NORM = "Every vector is brought to the same length, so that no layer has to deal with ever larger numbers."
_WEIGHTS = (
    "Softmax of the scores: how much of its attention each token gives to every token it can see, itself included. "
    "A row adds up to 1."
)
_MIXED = "For every token, the values of all the tokens that it attends to, in the shares of its weights."
PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "tokens": Part("Tokens", "The text in pieces, each with a number.", ("tokens", "vocabulary")),
        "embedding": Part("Embedding", "The number of a token selects a row of this matrix: its vector.", ("vectors",)),
        "positions": Part(
            "Positions",
            "Without them, order would be lost: rotary ones turn queries and keys, others are added.",
            ("positions",),
        ),
        "other": Part("Others", "Parameters that belong to no part that the map knows.", ("today",)),
        "norms": Part("Norms", _NORM, ("block", "today")),
        "attention_norm": Part("Norm", _NORM, ("block", "today")),
        "projections": Part(
            "Queries, keys, values", "Three vectors for each token: what it looks for, offers and gives.", _BY_HAND
        ),
        "weights": Part("Weights", _WEIGHTS, ("attention", "sentences")),
        "mixed": Part("Weighted sum", _MIXED, ("attention", "heads")),
        "output": Part("Heads joined", "The results of all heads, side by side, mixed by one matrix.", ("heads",)),
        "attention_add": _ADD,
        "cross_norm": Part("Norm", _NORM, ("block", "today")),
        "cross_queries": Part("Queries", "What each token of the answer looks for in the source.", _CROSS),
        "cross_keys_values": Part("Keys, values", "What each token of the source offers and gives.", _CROSS),
        "cross_projections": Part(
            "Queries, keys, values", "Queries of the answer, keys and values of the source.", _CROSS
        ),
        "cross_weights": Part(
            "Weights", "How much each token of the answer attends to each token of the source.", _CROSS
        ),
        "cross_mixed": Part("Weighted sum", "What each token of the answer takes from the source.", _CROSS),
        "cross_output": Part(
            "Heads joined", "The results of all heads, side by side, mixed by one matrix.", ("heads",)
        ),
        "cross_add": _ADD,
        "feed_forward_norm": Part("Norm", _NORM, ("block", "today")),
        "up": Part("First matrix", "Each token on its own: a wider vector, in which features can stand.", ("block",)),
        "activation": Part(
            "Activation", "Bends the numbers, or else two matrices would be no more than one.", ("today",)
        ),
        "down": Part("Second matrix", "Back to the width of the stream.", ("block",)),
        "feed_forward_add": _ADD,
        "final_norm": Part("Final norm", "The last norm, before the vectors are read.", ("today", "block")),
        "encoder": Part(
            "Encoder layers", "They read the source at once; the decoder attends to what they make of it.", ("block",)
        ),
        "logits": Part(
            "Logits",
            "The product of the stream with a vector for every token of the vocabulary: one number for each.",
            ("generation", "inside"),
        ),
        "probabilities": Part(
            "Probabilities", "Softmax of the logits: how likely each token is to come next.", ("generation",)
        ),
    }
)

_LEARNS = "embedding projections output cross_queries cross_keys_values cross_output up down"
_ATTENTION = "projections weights mixed"
_OF_A_LAYER = (
    f"{_ATTENTION} output attention_add attention_norm cross_queries cross_keys_values cross_weights cross_mixed "
    "cross_output cross_add cross_norm up activation down feed_forward_add feed_forward_norm"
)
_WORDS = {"block": "every part of a layer", "training": "all that is learned"}  # for many kinds
_HERE: Mapping[str, tuple[str, str]] = {  # of each chapter: the form of the map, and the kinds that it explains
    "tokens": ("decoder", "tokens"),
    "vocabulary": ("decoder", "tokens"),
    "vectors": ("decoder", "embedding"),
    "positions": ("decoder", "positions"),
    "why_attention": ("both", "weights mixed cross_weights cross_mixed"),
    "attention": ("decoder", "weights mixed"),
    "attention_by_hand": ("both", f"{_ATTENTION} cross_queries cross_keys_values cross_weights cross_mixed"),
    "heads": ("decoder", f"{_ATTENTION} output"),
    "block": ("both", _OF_A_LAYER),
    "training": ("both", _LEARNS),
    "generation": ("decoder", "logits probabilities"),
    "sentences": ("decoder", "weights"),
    "context": ("decoder", "attention_add feed_forward_add"),
    "inside": ("decoder", "mixed attention_add feed_forward_add logits"),
    "today": ("decoder", "positions attention_norm projections feed_forward_norm activation final_norm"),
}


def forms() -> dict[str, list[dict[str, Any]]]:
    """The small forms of the map: a decoder of today, and the encoder with a decoder of 2017."""
    both = TransformerConfig(2, encoder_layers=1, norm_place="after", positions="sinusoidal")
    return {"decoder": as_drawn(own_plan(TransformerConfig(1))), "both": as_drawn(own_plan(both))}


def as_drawn(sides: Sequence[Side]) -> list[dict[str, Any]]:
    """Sides as the page draws them."""
    return [
        {
            "name": side.name,
            "title": KIND_OF_SIDE[side.name],
            "layers": side.layers,
            "groups": [_group(side, group) for group in side.groups],
        }
        for side in sides
    ]


def _group(side: Side, group: Group) -> dict[str, Any]:
    rows = [
        [{"key": f"{side.name}.{kind}", "kind": kind, "title": PARTS[kind].title} for kind in row] for row in group.rows
    ]
    return {"title": _GROUPS.get(group.name, ""), "repeated": group.repeated, "rows": rows}


def here(chapter: str) -> dict[str, Any] | None:
    """Where a chapter stands: the form of the map, and the kinds that are highlighted; None if it stands nowhere."""
    if chapter not in _HERE:
        return None
    form, kinds = _HERE[chapter]
    return {"form": form, "kinds": kinds.split(), "words": _WORDS.get(chapter, "")}
