"""The chapter on several heads: a block by hand, and what `lesson/heads.py` finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from torch import Tensor

from lesson.block import HEADS, BlockSettings
from lesson.forward_trace import trace_forward
from lesson.heads import ArrayShape, head_maps, shapes, three_maps
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, Compute, NumberExercise, Result
from ui.learn.text.slots import RECORDS, RESET, TEXT, line, select, slider, table
from ui.learn.validation import Given, integer, rounded_rows, text
from ui.runs.models import Models

READER, TRANSLATOR = "attend-chat", "attend-translate"
MAX_TOKENS, MAX_CHARACTERS = 16, 120
STAGES = ("queries", "weights", "mixed", "joined", "output_weights", "output")  # of the encoder's self-attention
FIRST: Mapping[str, Any] = {
    "split": 2,
    "time": 5,
    "width": 16,
    "heads": 3,
    "head_width": 2,
    "sentence": "My cat is called Mimi. My cat is called",
    "one": [5, 3],  # attends to the token before
    "other": [6, 5],  # looks up what it was told, see checkpoints/attend-chat/README.md
    "source": "Elle a perdu sa clé et elle la cherche.",
    "translation": "She lost her key and is looking for it.",
    "layer": 3,
    "head": 1,
}


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: any of the keys of `FIRST`; layers and heads are counted from 1.
    """
    split = integer(given, "split", FIRST["split"], 1, HEADS[-1])
    if split not in HEADS:
        raise AttendError(f"{split} heads can't share six columns evenly: choose one of {', '.join(map(str, HEADS))}.")
    traced = trace_forward(BlockSettings(heads=split))
    sizes = {
        name: integer(given, name, FIRST[name], 1, most)
        for name, most in (("time", 512), ("width", 4096), ("heads", 64), ("head_width", 256))
    }
    arrays = shapes(batch=1, **sizes)
    return {
        "split": split,
        "splits": HEADS,
        "stages": {name: _matrices(traced[f"encoder.self.{name}"].values) for name in STAGES},
        "words": traced["encoder.self.queries"].rows,
        **sizes,
        "computed": [_array(array) for array in arrays.computed],
        "learned": [_array(array) for array in arrays.weights],
        "shapes": {array.name: array.shape for array in (*arrays.computed, *arrays.weights)},
        "parameters": arrays.parameters,
        "total": f"{arrays.parameters:,}",
        **_two_heads(models, given),
        **_three_kinds(models, given),
    }


def _two_heads(models: Models, given: Given) -> dict[str, Any]:
    """Two heads' maps of one sentence; none where the reader isn't installed."""
    sentence = text(given, "sentence", FIRST["sentence"], MAX_CHARACTERS)
    kept = {"sentence": sentence, "one": FIRST["one"], "other": FIRST["other"], "maps": {"one": None, "other": None}}
    if READER not in models.names:
        return kept
    loaded = models.get(READER)
    found = head_maps(loaded, sentence, MAX_TOKENS)
    layers, heads = found.weights.shape[:2]
    chosen = {name: _head(given, name, layers, heads) for name in ("one", "other")}
    maps = {name: rounded_rows(found.weights[layer - 1, head - 1]) for name, (layer, head) in chosen.items()}
    return {
        **kept,
        **chosen,
        "maps": {"tokens": _labels(loaded, found.tokens), "layers": layers, "heads": heads, **maps},
    }


def _three_kinds(models: Models, given: Given) -> dict[str, Any]:
    """The three attentions of the translator; none where it isn't installed."""
    source = text(given, "source", FIRST["source"], MAX_CHARACTERS, "The French sentence")
    translation = text(given, "translation", FIRST["translation"], MAX_CHARACTERS, "The translation")
    kinds: dict[str, Any] = dict.fromkeys(("encoder", "decoder", "cross"))
    kept = {
        "source": source,
        "translation": translation,
        "layer": FIRST["layer"],
        "head": FIRST["head"],
        "kinds": kinds,
    }
    if TRANSLATOR not in models.names:
        return kept
    loaded = models.get(TRANSLATOR)
    found = three_maps(loaded, source, translation, MAX_TOKENS)
    layers, heads = min(len(found.encoder), len(found.decoder)), found.decoder.shape[1]
    layer = integer(given, "layer", FIRST["layer"], 1, layers)
    head = integer(given, "head", FIRST["head"], 1, heads)
    maps = {name: rounded_rows(getattr(found, name)[layer - 1, head - 1]) for name in kinds}
    labels = {"source_tokens": _labels(loaded, found.source), "tokens": _labels(loaded, found.text)}
    return {**kept, "layer": layer, "head": head, "kinds": {**maps, **labels, "layers": layers, "heads": heads}}


def _head(given: Given, name: str, layers: int, heads: int) -> list[int]:
    """A layer and a head, counted from 1."""
    value = given.get(name, FIRST[name])
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise AttendError("This page is out of date: reload it.")
    place: Given = {"layer": value[0], "head": value[1]}
    return [integer(place, "layer", 1, 1, layers), integer(place, "head", 1, 1, heads)]


def _labels(loaded: LoadedModel, tokens: Sequence[int]) -> list[str]:
    """Tokens without the space before them."""
    labels = (loaded.tokenizer.label(token) for token in tokens)
    return [label.strip() or label for label in labels]


def _matrices(values: Tensor) -> list[list[list[float | None]]]:
    """One a head, or one for all."""
    return [rounded_rows(matrix) for matrix in (values if values.dim() == 3 else values[None])]


def _array(array: ArrayShape) -> tuple[str, str, str]:
    return array.name, ", ".join(array.axes), f"({', '.join(f'{size:,}' for size in array.shape)})"


def _weights_of_a_text(compute: Compute) -> float:
    shapes = compute({"time": 100, "width": 512, "heads": 8, "head_width": 64})["shapes"]
    return prod(next(shape for name, shape in shapes.items() if name.startswith("Scores")))


def _rests_on_the_first_token(result: Result) -> bool:
    return result["maps"]["one"] is not None and result["maps"]["one"][-1][0] > 0.5


CHAPTER = Chapter(
    answer,
    slots={
        "reset": RESET,
        "split": select("splits"),
        "stages.queries": table("words"),
        "stages.weights": table("words", "words", scale="share"),
        "stages.mixed": table("words"),
        "stages.joined": table("words"),
        "stages.output_weights": table(),
        "stages.output": table("words"),
        "sentence": line(MAX_CHARACTERS, wide=True),
        **{f"{name}.0": select("maps.layers") for name in ("one", "other")},
        **{f"{name}.1": select("maps.heads") for name in ("one", "other")},
        **{f"maps.{name}": table("maps.tokens", "maps.tokens", scale="share") for name in ("one", "other")},
        "time": slider(1, 512),
        "width": slider(1, 512),
        "heads": slider(1, 16),
        "head_width": slider(1, 128),
        "computed": RECORDS,
        "learned": RECORDS,
        "total": TEXT,
        "source": line(MAX_CHARACTERS, wide=True),
        "translation": line(MAX_CHARACTERS, wide=True),
        "layer": select("kinds.layers"),
        "head": select("kinds.heads"),
        "kinds.encoder": table("kinds.source_tokens", "kinds.source_tokens", scale="share"),
        "kinds.decoder": table("kinds.tokens", "kinds.tokens", scale="share"),
        "kinds.cross": table("kinds.tokens", "kinds.source_tokens", scale="share"),
    },
    exercises={
        "parameters_of_a_layer": NumberExercise(
            lambda compute: compute({"width": 512, "heads": 8, "head_width": 64})["parameters"]
        ),
        "weights_of_a_text": NumberExercise(_weights_of_a_text),
        "rests_on_the_first_token": ChangeExercise(_rests_on_the_first_token, {"one": [4, 4]}),
    },
    first=FIRST,
    facts={
        "previous_layer": lambda: str(FIRST["one"][0]),
        "previous_head": lambda: str(FIRST["one"][1]),
        "lookup_layer": lambda: str(FIRST["other"][0]),
        "lookup_head": lambda: str(FIRST["other"][1]),
        "keras_heads": lambda: str(FIRST["heads"]),
        "keras_width": lambda: str(FIRST["head_width"]),
        "keras_input": lambda: str(FIRST["width"]),
    },
)
