"""What the map answers: the whole model with its numbers, and one part of it at work on a sentence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from torch import Tensor

from lesson.map.code import code_of
from lesson.map.model_map import ModelMap
from lesson.map.tree import module_tree
from lesson.map.values import Array, Axis, Text, Values
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.kit.packing import packed_shares
from ui.learn.inputs import Inputs, choice, offered, text, whole
from ui.learn.map.parts import KIND_OF_SIDE, PARTS, as_drawn
from ui.learn.wording import bare_labels, counted, rounded, sent
from ui.runs.models import Models

MAX_TOKENS, MAX_CHARACTERS = 24, 120
SENTENCE, SOURCE, TRANSLATION = (
    "My dog is called Max. My dog is called",
    "Elle a perdu sa clé et elle la cherche.",
    "She lost",
)
LAYER, HEAD, PART = 1, 1, "decoder.weights"
_CANDIDATES = 32  # columns of the vocabulary that are shown
_AXES: Mapping[Axis, str] = {
    "heads": "heads",
    "text": "tokens",
    "source": "tokens of the source",
    "numbers": "numbers",
    "vocabulary": "tokens of the vocabulary",
}


def answer(models: Models, inputs: Inputs, in_use: str, chapters: Collection[str]) -> dict[str, Any]:
    """The map of a model and one part of it.

    Args:
        inputs: model, sentence, translation, layer, head and part; layer and head are counted from 1. Without a model,
            `form` may be "both" for one with an encoder.
        in_use: the visitor's model, whose map is the first.
        chapters: those that there are.
    """
    known = tuple(dict.fromkeys((in_use, *offered(models))))
    name = inputs.get("model") or _first(models, known, has_source=inputs.get("form") == "both")
    choice(name, known).read({"model": name}, "model")
    loaded = models.get(name)
    model_map = ModelMap(loaded)
    sentence = text(SOURCE if model_map.has_source else SENTENCE, MAX_CHARACTERS).read(inputs, "sentence")
    translation = text(TRANSLATION, MAX_CHARACTERS).read(inputs, "translation")
    layer = whole(LAYER, 1, model_map.layers).read(inputs, "layer")
    head = whole(HEAD, 1, model_map.heads).read(inputs, "head")
    parts = [part for side in model_map.sides for part in side.parts]
    part = choice(PART, parts).read({"part": _nearest(inputs.get("part", PART), parts)}, "part")
    ids = model_map.read(sentence, translation, MAX_TOKENS)
    values = model_map.values(ids, layer - 1)
    return {
        "model": name,
        "models": [(one, models.display_name(one)) for one in known],
        "sentence": sentence,
        "translation": translation if model_map.has_source else None,
        "layer": layer,
        "head": head,
        "part": part,
        "layers": model_map.layers,
        "heads": model_map.heads,
        "sides": as_drawn(model_map.sides),
        "parts": {one: _labels(model_map, one, values, ids, layer) for one in parts},
        "total": sum(map(sum, model_map.counts.values())),
        "tree": module_tree(model_map.network),
        "detail": _detail(model_map, loaded, part, values, ids, layer, head, chapters),
    }


def _first(models: Models, known: Sequence[str], *, has_source: bool) -> str:
    """The first model that can be opened, with an encoder if one is asked for; the first of all where there is none."""
    fitting = []
    for name in known:
        with suppress(AttendError):
            if ModelMap(models.get(name)).has_source >= has_source:
                return name
            fitting.append(name)
    return next(iter((*fitting, *known)))


def _nearest(part: Any, parts: Sequence[str]) -> Any:
    """The part of this model that does what a part of another one does; one that is known nowhere stays as it is."""
    side, _, kind = str(part).partition(".")
    if part in parts or kind not in PARTS:
        return part
    alike = (
        kind,
        kind.removeprefix("cross_"),
        "cross_projections",
        "norms" if kind.endswith("norm") else "projections",
    )
    return next((f"{one}.{other}" for other in alike for one in (side, "decoder") if f"{one}.{other}" in parts), PART)


def _labels(model_map: ModelMap, part: str, values: Values, ids: Text, layer: int) -> dict[str, Any]:
    """What stands in the box of a part."""
    return {"shape": _shape(_sizes(part, values, ids)), "parameters": _parameters(model_map, part, layer)}


def _sizes(part: str, values: Values, ids: Text) -> list[tuple[str, int]]:
    """The axes of what a part computes, with their sizes; none where that isn't known."""
    arrays = values.get(part, ())
    if part.endswith(".tokens"):
        of_source = part.startswith("encoder")
        return [("tokens of the source" if of_source else "tokens", len(ids.source if of_source else ids.tokens))]
    if not arrays:
        return []
    return [(_AXES[axis], size) for axis, size in zip(arrays[0].axes, arrays[0].values.shape, strict=True)]


def _shape(sizes: list[tuple[str, int]]) -> str:
    return f"({', '.join(f'{size:,}' for _, size in sizes)})" if sizes else ""


def _layer_of(model_map: ModelMap, part: str, layer: int) -> int:
    """The layer of a part's side, from 1, or its last one where it has no such layer."""
    return min(layer, next(side.layers for side in model_map.sides if part in side.parts))


def _parameters(model_map: ModelMap, part: str, layer: int) -> int:
    counts = model_map.counts.get(part)
    return counts[min(_layer_of(model_map, part, layer), len(counts)) - 1] if counts else 0


def _about_parameters(model_map: ModelMap, part: str, layer: int) -> str:
    """A sentence about the parameters of a part."""
    counts = model_map.counts.get(part)
    side = next(side for side in model_map.sides if part in side.parts)
    if part in ("decoder.logits", "decoder.embedding") and not counts:
        is_encoders = model_map.has_source and not model_map.counts.get("decoder.embedding")
        owner = "the encoder’s embedding" if is_encoders else "the embedding"
        return f"It shares its matrix with {owner}, where it is counted."
    if not counts:
        return "It has no parameters: nothing in it is learned."
    one = counts[min(_layer_of(model_map, part, layer), len(counts)) - 1]
    if side.layers == 1 or len(counts) == 1:
        return f"It has {counted(one, 'parameter')}."
    return f"It has {counted(one, 'parameter')} in this layer and {sum(counts):,} in all {side.layers}."


def _detail(
    model_map: ModelMap,
    loaded: LoadedModel,
    part: str,
    values: Values,
    ids: Text,
    layer: int,
    head: int,
    chapters: Collection[str],
) -> dict[str, Any]:
    """One part: its words, its arrays as heat maps, and its line of code."""
    side, _, kind = part.partition(".")
    arrays = values.get(part, ())
    sizes = _sizes(part, values, ids)
    repeated = any(
        group.repeated for one in model_map.sides for group in one.groups if any(kind in row for row in group.rows)
    )
    place = [KIND_OF_SIDE[side]] if model_map.has_source else []
    if repeated:
        place.append(f"layer {_layer_of(model_map, part, layer)}")
    if arrays and arrays[0].axes[0] == "heads":
        place.append(f"head {head}")
    read = ids.source if side == "encoder" else ids.tokens
    chips = [(loaded.tokenizer.label(token), token) for token in read] if kind == "tokens" else []
    return {
        "title": PARTS[kind].title,
        "place": ", ".join(place),
        "does": PARTS[kind].does,
        "chapters": [one for one in PARTS[kind].chapters if one in chapters],
        "shape": f"{' × '.join(axis for axis, _ in sizes)} = {_shape(sizes)}" if sizes else "",
        "parameters": _about_parameters(model_map, part, layer),
        "tokens": chips,
        "arrays": [_heat(loaded, array, ids, head, model_map.heads) for array in arrays],
        "code": _code(model_map, kind),
    }


def _heat(loaded: LoadedModel, array: Array, ids: Text, head: int, heads: int) -> dict[str, Any]:
    """One array as a heat map: of the head that is chosen, and of the vocabulary's likeliest tokens."""
    matrix, axes = array.values.float().nan_to_num(), list(array.axes)
    if axes[0] == "heads":
        matrix, axes = matrix[(head - 1) * len(matrix) // heads], axes[1:]
    columns: list[str] = []
    if axes[1] == "vocabulary":
        best = matrix[-1].topk(min(_CANDIDATES, matrix.shape[1])).indices
        matrix, columns = matrix[:, best], bare_labels(loaded, best.tolist())
    elif axes[1] != "numbers":
        columns = _tokens(loaded, axes[1], ids)
    return {
        "name": array.name,
        "rowNames": _tokens(loaded, axes[0], ids),
        "columnNames": columns,
        "isShare": array.name in ("Weights", "Probabilities"),
        **_packed(matrix),
    }


def _packed(matrix: Tensor) -> dict[str, Any]:
    """A matrix in 16 bits a number: shares of its largest. Colours end where one number of a hundred lies beyond."""
    sizes = matrix.abs().flatten()
    largest = float(sizes.max()) or 1.0
    return {
        "values": packed_shares(matrix / largest),
        "largest": rounded(largest, 6),
        "strong": rounded(float(sizes.sort().values[int(0.99 * (len(sizes) - 1))]) or largest, 6),
    }


def _tokens(loaded: LoadedModel, axis: Axis, ids: Text) -> list[str]:
    return bare_labels(loaded, ids.source if axis == "source" else ids.tokens)


def _code(model_map: ModelMap, kind: str) -> dict[str, Any] | None:
    """The line of our own code that computes a kind of part."""
    name = (model_map.positions or "rotary") if kind == "positions" else kind
    if name.endswith("_norm") and name != "final_norm" and not model_map.norm_first:
        name = "attention_add"  # where the sum is normed
    line = code_of(name)
    return None if line is None else {**sent(line), "isOwn": model_map.is_own}
