"""The chapter on positions, which `lesson/positions.py` computes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from lesson.positions import criteria, likeness, schemes, shift, steps
from model.transformer.positions import sinusoids
from ui.kit.packing import packed_bytes
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, value_of
from ui.learn.inputs import Inputs, checked_by_chapter, whole
from ui.learn.text.slots import slider
from ui.learn.wording import decimals, sent
from ui.runs.models import Models

MAX = 128  # positions, and numbers of each: as many as a picture has room for
FARTHEST = 64  # that a position is shifted, or is at before
COMPARED_WIDTH = 4  # numbers of a position where the ways are compared
LEARNED_COUNT = 64  # positions of a model that learned them
RECORDED_FILE = Path(__file__).parent / "positions_recorded.json"
# `encoder`, its name, `shape` of its table, `likeness` of its first positions, the mean cosine of `neighbours` and of
# those half as many apart, `far`, and `bleu` of translators by their positions; made by docs/learned_positions.py
RECORDED: Mapping[str, Any] = json.loads(RECORDED_FILE.read_text())
INPUTS = {
    "length": whole(50, 2, MAX),
    "width": whole(64, 2, MAX),
    "position": whole(3, 0, FARTHEST),
    "shift": checked_by_chapter(2, slider(-3, FARTHEST)),  # from the position, at most back to the first
    "compared": whole(8, 2, 16),  # the length at which the ways are compared
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    position, width = inputs["position"], inputs["width"]
    by = whole(2, -position, FARTHEST).read(inputs, "shift")
    waves, turns = sinusoids(inputs["length"], width), shift(position, by, width)[:6]  # (T, W)
    return {
        "shift": by,
        "limits": {"shift": (-position, FARTHEST)},
        "table": picture(waves),
        "likeness": picture(likeness(waves)),
        "learned": RECORDED["likeness"],
        "learned_count": LEARNED_COUNT,
        "neighbours": RECORDED["neighbours"],
        "far": RECORDED["far"],
        "bleu": [
            (f"{name[:1].upper()}{name[1:]}", *(f"{one:.1f}" for one in scores))
            for name, scores in RECORDED["bleu"].items()
        ],
        "criteria": _CRITERIA,
        "turns": sent(turns),
        "off_opposite": max(abs(one + other) for one, other in zip(turns[0].before, turns[0].turned, strict=True)),
        "schemes": {name: _scheme(scheme) for name, scheme in schemes(inputs["compared"], COMPARED_WIDTH).items()},
    }


def _scheme(vectors: Tensor) -> dict[str, Any]:
    distances = steps(vectors).tolist()
    least, most = decimals(min(distances)), decimals(max(distances))
    apart = least if least == most else f"{least} to {most}"
    return {"vectors": sent(vectors), "steps": sent(distances), "apart": apart}


def picture(values: Tensor) -> str:
    """Numbers from -1 to 1 as signed bytes, row after row."""
    return packed_bytes((values * 127).round().clamp(-127, 127).char())


_SCHEMES = {"range": "From 0 to 1", "counting": "Counting", "binary": "Binary digits", "sinusoids": "Sinusoids"}
_CRITERIA = [
    (_SCHEMES[name], *("yes" if one else "no" for one in (holds.unique, holds.even, holds.same, holds.bounded)))
    for name, holds in criteria(COMPARED_WIDTH).items()
]
_NEAR = 0.05
_NO_LEAD = 0.1  # of two mean cosines


def _spread(compute: Compute) -> list[float]:
    """How much the distances of neighbours differ in each scheme."""
    schemes = compute({})["schemes"]
    return [max(schemes[name]["steps"]) - min(schemes[name]["steps"]) for name in _SCHEMES]


def _how_alike(compute: Compute) -> list[bool]:
    """Whether learned positions are all equally alike, neighbours more so, or those far apart."""
    result = compute({})
    lead = result["neighbours"] - result["far"]
    return [abs(lead) < _NO_LEAD, lead >= _NO_LEAD, lead <= -_NO_LEAD]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values=" ".join(f"schemes.{name}.vectors schemes.{name}.apart" for name in _SCHEMES) + " criteria bleu",
    exercises={
        "learned_neighbours": ChoiceExercise(_how_alike, 3, predicted=True),
        "first_number": NumberExercise(
            value_of({"position": 1, "shift": 0}, "turns", 0, "before", 0),
            digits=2,
            mistakes={"degrees": lambda _: math.sin(math.radians(1)), "cosine": lambda _: math.cos(1)},
        ),
        "second_pair": NumberExercise(
            value_of({"width": 4, "position": 50, "shift": 0}, "turns", 1, "before", 0),
            digits=2,
            mistakes={
                "first_pair": value_of({"position": 50, "shift": 0}, "turns", 0, "before", 0),
                "cosine": lambda _: math.cos(0.5),
            },
        ),
        "uneven": ChoiceExercise(_spread, len(_SCHEMES)),
        "opposite": ChangeExercise([("off_opposite", "<", _NEAR)], {"position": 3, "shift": 22}),
    },
    facts={
        "near": str(_NEAR),
        "encoder": RECORDED["encoder"],
        "learned_rows": str(RECORDED["shape"][0]),
        "learned_width": str(RECORDED["shape"][1]),
        "neighbours_cosine": decimals(RECORDED["neighbours"]),
        "far_cosine": decimals(RECORDED["far"]),
        "far_apart": str(LEARNED_COUNT // 2),
    },
)
