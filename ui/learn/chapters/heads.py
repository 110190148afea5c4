"""The chapter on several heads: a block by hand, and what `lesson/heads.py` finds."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from lesson.block import HEADS, BlockSettings
from lesson.forward_trace import trace_forward
from lesson.heads import ArrayShape, head_maps, previous_shares, shapes, three_maps
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise
from ui.learn.inputs import Inputs, checked_by_chapter, choice, text, whole
from ui.learn.text.slots import cases, select, slider
from ui.learn.wording import bare_labels, percent, sent
from ui.runs.models import Models

READER, TRANSLATOR = "attend-chat", "attend-translate"
MAX_TOKENS, MAX_CHARACTERS = 16, 120
STAGES = ("queries", "weights", "mixed", "joined", "output_weights", "output")  # of the encoder's self-attention
SIZES = {"time": 5, "width": 16, "heads": 3, "head_width": 2}  # those of an example from Keras
PREVIOUS = [5, 3]  # attends to the token before
LOOKUP = [6, 5]  # looks up what it was told, see checkpoints/attend-chat/README.md
LAYER, HEAD = 3, 1
_LOOK = {"maxlength": MAX_CHARACTERS, "wide": True}
INPUTS = {  # layers and heads are counted from 1
    "split": choice(2, HEADS, select("splits")),
    "time": whole(SIZES["time"], 1, 512),
    "width": whole(SIZES["width"], 1, 4096, slider(1, 512)),
    "heads": whole(SIZES["heads"], 1, 64, slider(1, 16)),
    "head_width": whole(SIZES["head_width"], 1, 256, slider(1, 128)),
    "sentence": text("My cat is called Mimi. My cat is called", MAX_CHARACTERS, **_LOOK),
    "one": checked_by_chapter(PREVIOUS),
    "other": checked_by_chapter(LOOKUP),
    "source": text("Elle a perdu sa clé et elle la cherche.", MAX_CHARACTERS, "The French sentence", **_LOOK),
    "translation": text("She lost her key and is looking for it.", MAX_CHARACTERS, "The translation", **_LOOK),
    "layer": checked_by_chapter(LAYER, select("kinds.layers")),
    "head": checked_by_chapter(HEAD, select("kinds.heads")),
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    traced = trace_forward(BlockSettings(heads=inputs["split"]))
    arrays = shapes(batch=1, **{name: inputs[name] for name in SIZES})
    return {
        "splits": HEADS,
        "stages": {name: sent(traced[f"encoder.self.{name}"].values) for name in STAGES},
        "words": traced["encoder.self.queries"].rows,
        "computed": [_array(array) for array in arrays.computed],
        "learned": [_array(array) for array in arrays.weights],
        "shapes": {array.name: array.shape for array in (*arrays.computed, *arrays.weights)},
        "parameters": arrays.parameters,
        "total": f"{arrays.parameters:,}",
        **_two_heads(models, inputs),
        **_three_kinds(models, inputs),
    }


def _two_heads(models: Models, inputs: Inputs) -> dict[str, Any]:
    """Two heads' maps of one sentence; none where the reader isn't installed."""
    if READER not in models.names:
        return {"one": PREVIOUS, "other": LOOKUP, "maps": {"one": None, "other": None}, "picked": []}
    loaded = models.get(READER)
    tokens, weights = head_maps(loaded, inputs["sentence"], MAX_TOKENS)
    layers, heads = weights.shape[:2]
    chosen = {name: _head(inputs.get(name, INPUTS[name].first), layers, heads) for name in ("one", "other")}
    maps = {name: sent(weights[layer - 1, head - 1]) for name, (layer, head) in chosen.items()}
    return {
        **chosen,
        "maps": {"tokens": bare_labels(loaded, tokens), "layers": layers, "heads": heads, **maps},
        **_picked(loaded),
    }


def _picked(loaded: LoadedModel) -> dict[str, Any]:
    """How the two heads that the chapter begins with compare with all others, on its own sentence."""
    ids, weights = head_maps(loaded, INPUTS["sentence"].first, MAX_TOKENS)
    tokens = bare_labels(loaded, ids)
    name = tokens.index(tokens[-1]) + 1  # what followed "called" the first time: the beginning of the name
    previous, last = previous_shares(weights), weights[:, :, -1]  # (L, H), (L, H, T)
    (layer, head), (other_layer, other_head) = PREVIOUS, LOOKUP
    return {
        "picked": "measured",
        "all_heads": str(previous.numel()),
        "previous_share": percent(float(previous[layer - 1, head - 1]), 0),
        "previous_heads": str(int((previous > 0.5).sum())),
        "lookup_share": percent(float(last[other_layer - 1, other_head - 1, name]), 0),
        "lookup_heads": str(int((last.argmax(-1) == name).sum())),
    }


def _three_kinds(models: Models, inputs: Inputs) -> dict[str, Any]:
    """The three attentions of the translator; none where it isn't installed."""
    kinds: dict[str, Any] = dict.fromkeys(("encoder", "decoder", "cross"))
    if TRANSLATOR not in models.names:
        return {"layer": LAYER, "head": HEAD, "kinds": kinds}
    loaded = models.get(TRANSLATOR)
    source, text, attention = three_maps(loaded, inputs["source"], inputs["translation"], MAX_TOKENS)
    weights = {name: getattr(attention, name)[0].float() for name in kinds}
    layers, heads = min(map(len, weights.values())), len(weights["decoder"][0])
    layer, head = whole(LAYER, 1, layers).read(inputs, "layer"), whole(HEAD, 1, heads).read(inputs, "head")
    maps = {name: sent(of[layer - 1, head - 1]) for name, of in weights.items()}
    labels = {"source_tokens": bare_labels(loaded, source), "tokens": bare_labels(loaded, text)}
    return {"layer": layer, "head": head, "kinds": {**maps, **labels, "layers": layers, "heads": heads}}


def _head(value: Any, layers: int, heads: int) -> list[int]:
    """A layer and a head, counted from 1."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise AttendError("This page is out of date: reload it.")
    layer, head = value
    return [whole(1, 1, layers).read({"layer": layer}, "layer"), whole(1, 1, heads).read({"head": head}, "head")]


def _array(array: ArrayShape) -> tuple[str, str, str]:
    return array.name, ", ".join(array.axes), f"({', '.join(f'{size:,}' for size in array.shape)})"


def _weights_of_a_text(compute: Compute) -> float:
    shapes = compute({"time": 100, "width": 512, "heads": 8, "head_width": 64})["shapes"]
    return prod(next(shape for name, shape in shapes.items() if name.startswith("Scores")))


def _parameters(compute: Compute, heads: int, head_width: int) -> float:
    return compute({"width": 512, "heads": heads, "head_width": head_width})["parameters"]


def _effect_of_more_heads(compute: Compute) -> list[float]:
    """1 for what twice as many heads of half the width do to the number of parameters."""
    before, after = _parameters(compute, 8, 64), _parameters(compute, 16, 32)
    return [float(after > before), float(after == before), float(after < before)]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values=" ".join(f"stages.{name}" for name in STAGES) + " words maps.one maps.other maps.tokens computed learned "
    "total all_heads previous_share previous_heads lookup_share lookup_heads "
    "kinds.encoder kinds.decoder kinds.cross kinds.tokens kinds.source_tokens",
    slots={
        "picked": cases("measured"),
        **{f"{name}.0": select("maps.layers") for name in ("one", "other")},
        **{f"{name}.1": select("maps.heads") for name in ("one", "other")},
    },
    exercises={
        "more_heads": ChoiceExercise(_effect_of_more_heads, 3, predicted=True),
        "parameters_of_a_layer": NumberExercise(
            lambda compute: _parameters(compute, 8, 64),
            mistakes={
                "no_biases": lambda compute: _parameters(compute, 8, 64) - 4 * 512,
                "no_output": lambda compute: _parameters(compute, 8, 64) * 3 / 4,
                "one_head": lambda compute: _parameters(compute, 1, 64),
            },
        ),
        "weights_of_a_text": NumberExercise(
            _weights_of_a_text,
            mistakes={
                "one_head": lambda compute: _weights_of_a_text(compute) / 8,
                "one_row": lambda compute: _weights_of_a_text(compute) / 100,
                "half": lambda compute: _weights_of_a_text(compute) / 2,
            },
        ),
        "rests_on_the_first_token": ChangeExercise(
            [("maps.one.-1.0", ">", 0.5)],
            {"one": [4, 4]},
            {"some": [("maps.one.-1.0", ">", 0.2)]},
        ),
    },
    facts={
        "previous_layer": str(PREVIOUS[0]),
        "previous_head": str(PREVIOUS[1]),
        "lookup_layer": str(LOOKUP[0]),
        "lookup_head": str(LOOKUP[1]),
        "keras_heads": str(SIZES["heads"]),
        "keras_width": str(SIZES["head_width"]),
        "keras_input": str(SIZES["width"]),
    },
)
