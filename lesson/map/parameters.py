"""How many numbers each part of the map has learned: each is counted once, so the counts add up to the whole model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from lesson.today import part_of
from model.errors import AttendError
from model.inspection.anatomy import Anatomy, Layer
from model.loaded import LoadedModel
from model.transformer.decoder import Transformer
from model.transformer.encoder_decoder import build

Counts = Mapping[str, tuple[int, ...]]  # of each part: a number for each layer, or one for a part outside of them

_BLOCK = re.compile(r"(encoder_)?blocks\.(\d+)\.(.*)")
# Our parameters' kinds by what their names begin with, in a block or outside, where that isn't the kind's own name.
_KINDS = {
    "attention.o_proj.": "output",
    "attention.": "projections",
    "cross.q_proj.": "cross_queries",
    "cross.kv_proj.": "cross_keys_values",
    "cross.o_proj.": "cross_output",
    "feed_forward.up_proj.": "up",
    "feed_forward.down_proj.": "down",
    "position_embedding.": "positions",
    "encoder_norm.": "final_norm",
    "unembedding.": "logits",
}


def network_of(loaded: LoadedModel) -> nn.Module:
    """The modules of a model, with their parameters' shapes; `AttendError` for a model that has none here."""
    model: Any = loaded.model
    if isinstance(model, Transformer) and all(weights.dim() < 2 for weights in model.blocks.parameters()):
        with torch.device("meta"):  # its matrices are packed, so they are no parameters any more
            return build(model.config)
    network = model if isinstance(model, nn.Module) else getattr(model, "network", None)
    if not isinstance(network, nn.Module):
        raise AttendError(f"{loaded.name} doesn't run in this process, so it has no map: choose another model.")
    return network


def count_own(network: Transformer) -> Counts:
    """The counts of one of our networks; a matrix that several parts share is counted where it is used first."""
    sizes: dict[str, dict[int, int]] = {}
    for name, parameter in network.named_parameters():
        block = _BLOCK.match(name)
        inside = block[3] if block else name
        kind = next((kind for start, kind in _KINDS.items() if inside.startswith(start)), inside.partition(".")[0])
        of_encoder = bool(block[1]) if block else name.startswith("encoder_")
        if kind == "embedding":
            of_encoder = network.config.encoder_layers > 0
        _add(sizes, f"{'encoder' if of_encoder else 'decoder'}.{kind}", int(block[2]) if block else 0, parameter)
    return _by_layer(sizes)


def count_foreign(network: nn.Module, anatomy: Anatomy) -> Counts:
    """The counts of a model of transformers; what belongs to no known part is `decoder.other`."""
    places: dict[int, tuple[str, int]] = {}
    for module, kind in (
        (anatomy.embedding, "embedding"),
        (anatomy.unembedding, "logits"),
        (anatomy.final_norm, "final_norm"),
    ):
        for parameter in module.parameters():
            places.setdefault(id(parameter), (f"decoder.{kind}", 0))
    for number, layer in enumerate(anatomy.layers):
        for parameter, kind in _kinds_of_layer(layer):
            places.setdefault(id(parameter), (f"decoder.{kind}", number))
    sizes: dict[str, dict[int, int]] = {}
    for name, parameter in network.named_parameters():
        if id(parameter) in places:
            part, number = places[id(parameter)]
        elif "cross_attention" in anatomy.names and "encoder." in name.replace("decoder.", ""):
            part, number = "encoder.encoder", 0
        else:
            part, number = ("decoder.positions" if re.search(r"position|wpe", name) else "decoder.other"), 0
        _add(sizes, part, number, parameter)
    return _by_layer(sizes)


def down_of(layer: Layer) -> nn.Module | None:
    """The last matrix of a layer's feed-forward part; None if it has none, as in a mixture of experts."""
    write = layer.sublayers[-1].write
    if not is_norm(write):
        return None if list(write.children()) else write
    attentions = [sub.projection for sub in layer.sublayers if sub.projection is not None]
    outside = [one for one in layer.block.children() if not any(part in set(one.modules()) for part in attentions)]
    inside = [module for one in outside for module in one.modules() if isinstance(module, nn.Linear)]
    return inside[-1] if inside else None  # the family norms what it writes


def _kinds_of_layer(layer: Layer) -> Iterator[tuple[Tensor, str]]:
    """The kind of each parameter of a layer."""
    paths = {module: path for path, module in layer.block.named_modules()}
    starts = []
    for sub in layer.sublayers:
        if sub.projection is not None:
            prefix = "" if sub.name == "attention" else "cross_"
            path = paths[sub.projection]
            starts += [(f"{path}.", f"{prefix}output"), (f"{path.rpartition('.')[0]}.", f"{prefix}projections")]
    if (down := down_of(layer)) is not None:
        starts.append((f"{paths[down]}.", "down"))
    for name, parameter in layer.block.named_parameters():
        kind = "norms" if part_of(name) == "norms" else "up"
        yield parameter, next((one for start, one in starts if kind != "norms" and name.startswith(start)), kind)


def is_norm(module: nn.Module) -> bool:
    return "norm" in type(module).__name__.lower()


def _add(sizes: dict[str, dict[int, int]], part: str, layer: int, parameter: Tensor) -> None:
    of_part = sizes.setdefault(part, {})
    of_part[layer] = of_part.get(layer, 0) + parameter.numel()


def _by_layer(sizes: Mapping[str, Mapping[int, int]]) -> Counts:
    return {part: tuple(layers.get(layer, 0) for layer in range(max(layers) + 1)) for part, layers in sizes.items()}
