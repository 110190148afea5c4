"""The chapter on a block by hand, which `lesson/forward_trace.py` walks through."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch

from lesson.block import EMBEDDINGS, HEADS, LONGEST, PADDING, WIDTH, WORDS, BlockSettings
from lesson.forward_trace import Stage, trace_forward
from lesson.parts.layers import gradients_through, layer_size, two_layers
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import (
    ChangeExercise,
    Compute,
    NumberExercise,
    nearest,
    value_of,
)
from ui.learn.inputs import Inputs, choice, ids, matrix, read_all, switch, whole, without_slot
from ui.learn.text.slots import numbers_of, presets, select, words
from ui.learn.wording import decimals, percent, scientific, sent
from ui.runs.models import Models

DIGITS = 3  # after the decimal point; two are shown
_MAX_WEIGHT = 100  # in a matrix of the block
_DEPTHS = (1, 2, 6, 12, 24)  # of stacks through which a gradient passes
EDITABLE = {  # the stages that are a setting of the walk
    "encoder.self.queries_weights": "query_weights",
    "encoder.self.keys_weights": "key_weights",
    "encoder.self.values_weights": "value_weights",
    "encoder.feed_forward.first_weights": "first_weights",
    "encoder.feed_forward.first_bias": "first_bias",
    "encoder.embeddings": "embeddings",
    "decoder.embeddings": "embeddings",
}


DEFAULT = BlockSettings()
MATRICES = ("embeddings", "query_weights", "key_weights", "value_weights", "first_weights")
_BLOCK_INPUTS = {  # the fields of `BlockSettings`, matrices as lists of rows
    "source": ids(DEFAULT.source, LONGEST, PADDING, words()),
    "answer": ids(DEFAULT.answer, LONGEST, PADDING, words()),
    "heads": choice(DEFAULT.heads, HEADS, select("head_counts")),
    "encoder_mask": switch(subject="The encoder's mask"),
    **{name: without_slot(matrix(getattr(DEFAULT, name), most=_MAX_WEIGHT)) for name in MATRICES},
    "first_bias": without_slot(matrix([DEFAULT.first_bias], most=_MAX_WEIGHT)),
}
INPUTS = {
    **_BLOCK_INPUTS,
    "number": matrix([[-3.0]]),
    "one_matrix": matrix([[1.0, -1.0]]),
    "other_matrix": matrix([[1.0], [1.0]]),
    "layers": whole(6, 1, 200),
    "width": whole(512, 1, 20_000),
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    settings = read_settings(inputs)
    traced = trace_forward(settings)
    return {
        "words": WORDS[:PADDING],
        "head_counts": HEADS,
        "longest": LONGEST,
        **{stage.name: _stage(stage, settings, inputs) for stage in traced.stages},
        "sharpest": plain(float(traced["encoder.self.weights"].values.max())),
        "loss": plain(traced.loss),
        "average_loss": decimals(traced.loss, DIGITS),
        **sent(two_layers(*(torch.tensor(inputs[name]) for name in ("number", "one_matrix", "other_matrix")))),
        **_stack(inputs["layers"], inputs["width"]),
    }


def _stack(layers: int, width: int) -> dict[str, Any]:
    size = layer_size(width)
    gradients = [gradients_through(_DEPTHS, joint) for joint in ("added", "replaced", "replaced without norm")]
    return {
        "size_of_stack": [
            ("attention", f"{size.attention:,}"),
            ("feed-forward", f"{size.feed_forward:,}"),
            ("norms", f"{size.norms:,}"),
        ],
        "feed_forward": size.feed_forward,
        "stack_parameters": f"{layers * size.total:,}",
        "gradients": [
            (str(depth), *({"formula": scientific(of[row])} for of in gradients)) for row, depth in enumerate(_DEPTHS)
        ],
    }


def _stage(stage: Stage, settings: BlockSettings, inputs: Inputs) -> dict[str, Any]:
    """A stage as a table; what can be changed of it is exact, all else rounded."""
    names = {"rowNames": stage.rows or None, "columnNames": stage.columns or None}
    table = {"how": stage.how, "of": stage.of, "rows": plain(stage.values.tolist()), **names}
    if stage.name.endswith(".embeddings"):
        ids = settings.source if stage.name.startswith("encoder") else settings.decoder_input
        return {**table, "rows": [settings.embeddings[id] for id in ids], "at": ids}
    if stage.name in EDITABLE:
        return {**table, "rows": inputs[EDITABLE[stage.name]]}
    return table


def read_settings(inputs: Inputs) -> BlockSettings:
    """What the page sent, checked; `AttendError` for anything else."""
    values = read_all(_BLOCK_INPUTS, inputs)
    matrices = {name: tuple(map(tuple, values[name])) for name in MATRICES}
    return BlockSettings(**{**values, **matrices, "first_bias": tuple(values["first_bias"][0])})


def plain(values: Any) -> Any:
    """Numbers, in lists or not, as they are sent: rounded, and None for minus infinity."""
    if isinstance(values, list):
        return [plain(value) for value in values]
    return round(values, DIGITS) + 0.0 if math.isfinite(values) else None  # no minus zero


# ---- the exercises ----

_SHARP = 0.6
_UNTRAINED = trace_forward(DEFAULT)
_SHARPEST_AT_FIRST = _UNTRAINED["encoder.self.weights"].values.max().item()


def _divisor(compute: Compute) -> float:
    """What the scores of two heads are divided by, read from the largest of them."""
    result = compute({"heads": 2})
    before, after = (torch.tensor(result[f"encoder.self.{name}"]["rows"]).flatten() for name in ("scores", "scaled"))
    largest = before.abs().argmax()
    return float(before[largest] / after[largest])


_FEED_FORWARD_OF_512 = value_of({"width": 512}, "feed_forward")


def _louder_you() -> list[list[float]]:
    """The embeddings, with a larger fourth number of “you”."""
    rows = [list(row) for row in EMBEDDINGS]
    rows[WORDS.index("you")][3] = 8.0
    return rows


# ---- the chapter ----

_SIZES = {
    "2017’s base model": {"layers": 6, "width": 512},
    "GPT-2, small": {"layers": 12, "width": 768},
    "GPT-3": {"layers": 96, "width": 12_288},
}
_STAGES = tuple(stage.name for stage in trace_forward(replace(DEFAULT, encoder_mask=True)).stages)  # each is shown


CHAPTER = Chapter(
    compute,
    INPUTS,
    values=" ".join(["average_loss", *_STAGES]) + " inner linear at_once rectified with_relu size_of_stack "
    "stack_parameters gradients",
    slots={**{name: numbers_of(key) for name, key in EDITABLE.items()}, "sizes": presets(_SIZES)},
    exercises={
        "absolute": nearest((-3, 0, 3, 6), value_of({}, "with_relu", 0, 0), predicted=True),
        "divisor": NumberExercise(
            _divisor,
            digits=2,
            mistakes={
                "width": lambda compute: _divisor(compute) * math.sqrt(2),
                "squared": lambda compute: _divisor(compute) ** 2,
            },
        ),
        "loss_of_a_guess": NumberExercise(
            lambda compute: math.log(len(compute({})["words"])),
            digits=2,
            mistakes={
                "eleven": lambda compute: math.log(len(compute({})["words"]) + 1),
                "base_ten": lambda compute: math.log10(len(compute({})["words"])),
            },
        ),
        "feed_forward_of_512": NumberExercise(
            _FEED_FORWARD_OF_512,
            mistakes={
                "no_biases": lambda compute: _FEED_FORWARD_OF_512(compute) - 5 * 512,
                "one_matrix": lambda compute: (_FEED_FORWARD_OF_512(compute) - 5 * 512) / 2,
            },
        ),
        "sharp": ChangeExercise(
            [("sharpest", ">", _SHARP)],
            {"embeddings": _louder_you()},
            {"nearly": [("sharpest", ">", _SHARPEST_AT_FIRST + 0.01)]},
        ),
    },
    facts={
        "columns": str(WIDTH),
        "words": str(PADDING),
        "loss_of_a_guess": decimals(math.log(PADDING)),
        "sharp": percent(_SHARP, 0),
        "paper_layers": "six",
        "untrained_loss": decimals(_UNTRAINED.loss),
    },
)
