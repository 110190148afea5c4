"""What the map answers: the whole model with its numbers, and one part of it at work on a sentence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from lesson.map.arrays import Array, Axis, Text, Values
from lesson.map.model_map import ModelMap
from lesson.map.plan import Side
from lesson.map.tree import module_tree
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.kit.packing import packed_shares
from ui.learn.inputs import Inputs, choice, offered, text, whole
from ui.learn.map.parts import KIND_OF_SIDE, PARTS, as_drawn, code_of
from ui.learn.wording import bare_labels, counted, rounded
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
    look = _Look(loaded, model_map, ids, layer, head, model_map.values(ids, layer - 1))
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
        "parts": {one: look.label(one) for one in parts},
        "total": sum(map(sum, model_map.counts.values())),
        "tree": module_tree(model_map.network),
        "detail": look.detail(part, chapters),
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


@dataclass(frozen=True, slots=True)
class _Look:
    """A model at work on a text, in one layer and head of it, counted from 1."""

    loaded: LoadedModel
    map: ModelMap
    ids: Text
    layer: int
    head: int
    values: Values

    def label(self, part: str) -> dict[str, Any]:
        """What stands in the box of a part."""
        counts = self.map.counts.get(part)
        return {"shape": _shape(self.sizes(part)), "parameters": self.here(part, counts) if counts else 0}

    def sizes(self, part: str) -> list[tuple[str, int]]:
        """The axes of what a part computes, with their sizes; none where that isn't known."""
        arrays = self.values.get(part, ())
        if part.endswith(".tokens"):
            of_source = part.startswith("encoder")
            tokens = self.ids.source if of_source else self.ids.tokens
            return [("tokens of the source" if of_source else "tokens", len(tokens))]
        if not arrays:
            return []
        return [(_AXES[axis], size) for axis, size in zip(arrays[0].axes, arrays[0].values.shape, strict=True)]

    def layer_of(self, part: str) -> int:
        """The layer of a part's side, or its last one where it has no such layer."""
        return min(self.layer, self.side_of(part).layers)

    def side_of(self, part: str) -> Side:
        return next(side for side in self.map.sides if part in side.parts)

    def here(self, part: str, counts: Sequence[int]) -> int:
        """The parameters of a part in its layer."""
        return counts[min(self.layer_of(part), len(counts)) - 1]

    def about_parameters(self, part: str) -> str:
        """A sentence about the parameters of a part."""
        counts, layers = self.map.counts.get(part), self.side_of(part).layers
        if part in ("decoder.logits", "decoder.embedding") and not counts:
            is_encoders = self.map.has_source and not self.map.counts.get("decoder.embedding")
            owner = "the encoder’s embedding" if is_encoders else "the embedding"
            return f"It shares its matrix with {owner}, where it is counted."
        if not counts:
            return "It has no parameters: nothing in it is learned."
        one = counted(self.here(part, counts), "parameter")
        if layers == 1 or len(counts) == 1:
            return f"It has {one}."
        return f"It has {one} in this layer and {sum(counts):,} in all {layers}."

    def detail(self, part: str, chapters: Collection[str]) -> dict[str, Any]:
        """One part: its words, its arrays as heat maps, and its line of code."""
        side, _, kind = part.partition(".")
        arrays, sizes, about = self.values.get(part, ()), self.sizes(part), PARTS[kind]
        place = [KIND_OF_SIDE[side]] if self.map.has_source else []
        if any(group.repeated and any(kind in row for row in group.rows) for group in self.side_of(part).groups):
            place.append(f"layer {self.layer_of(part)}")
        if arrays and arrays[0].axes[0] == "heads":
            place.append(f"head {self.head}")
        read = self.ids.source if side == "encoder" else self.ids.tokens
        return {
            "title": about.title,
            "place": ", ".join(place),
            "does": about.does,
            "chapters": [one for one in about.chapters if one in chapters],
            "shape": f"{' × '.join(axis for axis, _ in sizes)} = {_shape(sizes)}" if sizes else "",
            "parameters": self.about_parameters(part),
            "tokens": [(self.loaded.tokenizer.label(token), token) for token in read] if kind == "tokens" else [],
            "arrays": [self.heat(array) for array in arrays],
            "code": self.code(kind),
        }

    def heat(self, array: Array) -> dict[str, Any]:
        """One array as a heat map: of the head that is chosen, and of the vocabulary's likeliest tokens."""
        matrix, axes = array.values.float().nan_to_num(), list(array.axes)
        if axes[0] == "heads":
            matrix, axes = matrix[(self.head - 1) * len(matrix) // self.map.heads], axes[1:]
        columns: list[str] = []
        if axes[1] == "vocabulary":
            best = matrix[-1].topk(min(_CANDIDATES, matrix.shape[1])).indices
            matrix, columns = matrix[:, best], bare_labels(self.loaded, best.tolist())
        elif axes[1] != "numbers":
            columns = self.tokens(axes[1])
        return {
            "name": array.name,
            "rowNames": self.tokens(axes[0]),
            "columnNames": columns,
            "isShare": array.name in ("Weights", "Probabilities"),
            **_packed(matrix),
        }

    def tokens(self, axis: Axis) -> list[str]:
        return bare_labels(self.loaded, self.ids.source if axis == "source" else self.ids.tokens)

    def code(self, kind: str) -> dict[str, Any] | None:
        """The line of our own code that computes a kind of part."""
        name = (self.map.positions or "rotary") if kind == "positions" else kind
        if name.endswith("_norm") and name != "final_norm" and not self.map.norm_first:
            name = "attention_add"  # where the sum is normed
        line = code_of(name)
        return None if line is None else {**line, "isOwn": self.map.is_own}


def _shape(sizes: list[tuple[str, int]]) -> str:
    return f"({', '.join(f'{size:,}' for _, size in sizes)})" if sizes else ""


def _packed(matrix: Tensor) -> dict[str, Any]:
    """A matrix in 16 bits a number: shares of its largest. Colours end where one number of a hundred lies beyond."""
    sizes = matrix.abs().flatten()
    largest = float(sizes.max()) or 1.0
    return {
        "values": packed_shares(matrix / largest),
        "largest": rounded(largest, 6),
        "strong": rounded(float(sizes.sort().values[int(0.99 * (len(sizes) - 1))]) or largest, 6),
    }
