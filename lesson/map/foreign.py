"""The parts of a model of transformers at work, as far as they are known.

Shapes: L layers, H heads, T tokens of the text, S of the source, W model width.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from lesson.map.arrays import Array, Axis, Calls, by_head, vectors
from lesson.map.parameters import down_of, is_norm
from model.inspection.anatomy import Anatomy, Layer, SubLayer
from model.inspection.inspector import Inside

Named = tuple[str, tuple[Array, ...]]


def layer_of(anatomy: Anatomy, layer: int) -> int:
    """The layer itself, or the last one if there is no such layer."""
    return min(layer, len(anatomy.layers) - 1)


def modules(anatomy: Anatomy, layer: int) -> list[nn.Module]:
    """The modules to record."""
    block = anatomy.layers[layer_of(anatomy, layer)].block
    return [*block.modules(), anatomy.embedding, anatomy.final_norm]


def values(anatomy: Anatomy, calls: Calls, inside: Inside, layer: int) -> Iterator[Named]:
    """Yield the arrays of all parts but the last two; a part that computes something else here has none."""
    number = layer_of(anatomy, layer)
    one = anatomy.layers[number]
    yield "decoder.embedding", (vectors("Embeddings, with what is added to them", inside.embedded),)
    for index, sub in enumerate(one.sublayers):
        kind = sub.name.removesuffix("_attention")
        yield f"decoder.{kind}_add", (vectors("Stream after the addition", inside.streams[number, index]),)
        written = vectors("Added to the stream", inside.writes[number, index])
        if sub.name == "feed_forward":
            down = down_of(one)
            yield "decoder.up", () if down is None else tuple(_matrices(one, down, calls))
            yield "decoder.down", (written,)
            continue
        prefix = "" if sub.name == "attention" else "cross_"
        yield from ((f"decoder.{prefix}{name}", arrays) for name, arrays in _attention(one, sub, calls, inside, number))
        yield f"decoder.{prefix}output", (written,)
    norms = [(path, calls[module]) for path, module in one.block.named_modules() if is_norm(module)]
    yield (
        "decoder.norms",
        tuple(
            vectors(path, writes[0].written)
            for path, writes in norms
            if writes and writes[0].written.shape[-1] == len(inside.embedded[0])
        ),
    )
    if normed := calls[anatomy.final_norm]:
        yield "decoder.final_norm", (vectors("Normed stream", normed[-1].written),)
    if inside.attention.encoder is not None:
        encoder = inside.attention.encoder[0]  # (L, H, S, S)
        yield "encoder.weights", (by_head("Weights", encoder[min(layer, len(encoder) - 1)], "source", "source"),)


def _attention(layer: Layer, sub: SubLayer, calls: Calls, inside: Inside, number: int) -> Iterator[Named]:
    own = sub.name == "attention"
    weights = inside.attention.decoder if own else inside.attention.cross
    heads = inside.head_outputs if own else inside.cross_head_outputs
    other: Axis = "text" if own else "source"
    assert sub.projection is not None and weights is not None and heads is not None
    yield "projections", tuple(_matrices(layer, sub.projection, calls, cross=not own))
    yield "weights", (by_head("Weights", weights[0, number], "text", other),)
    yield "mixed", (by_head("Weighted sum", heads[number], "text"),)


def _matrices(layer: Layer, last: nn.Module, calls: Calls, *, cross: bool = False) -> Iterator[Array]:
    """The outputs of the matrices that stand beside the last one of a part, under their own names.

    Args:
        cross: whether all but the queries are computed from the source.
    """
    parent = next((one for one in layer.block.modules() if any(child is last for child in one.children())), layer.block)
    for name, module in parent.named_children() if parent is layer.block else parent.named_modules():
        weight = getattr(module, "weight", None)
        if module is not last and isinstance(weight, Tensor) and weight.dim() == 2 and calls.get(module):
            axis: Axis = "source" if cross and not name.startswith("q") else "text"
            yield vectors(name, calls[module][0].written, axis)
