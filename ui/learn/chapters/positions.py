"""The chapter on positions, which `lesson/positions.py` computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from lesson.positions import Scheme, likeness, rotary_scores, schemes, shift
from model.transformer.positions import sinusoids
from ui.kit.packing import packed_bytes
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, Result
from ui.learn.text.slots import DRAWING, RESET, TEXT, slider, table
from ui.learn.validation import Given, decimals, integer, rounded, rounded_rows
from ui.runs.models import Models

MAX = 128  # positions, and numbers of each: as many as a picture has room for
FARTHEST = 64  # that a position is shifted, or is at before
ROTARY_WIDTH = 8
FIRST: Mapping[str, int] = {"length": 50, "width": 64, "position": 3, "shift": 2, "compared": 8}
COMPARED_WIDTH = 4  # numbers of a position where the ways are compared


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: `length`, `width`, `position`, `shift` and `compared`, the length at which the ways are compared.
    """
    length, width = _whole(given, "length", 2, MAX), _whole(given, "width", 2, MAX)
    position = _whole(given, "position", 0, FARTHEST)
    by = _whole(given, "shift", -position, FARTHEST)
    compared = _whole(given, "compared", 2, 16)
    waves = sinusoids(length, width)  # (T, W)
    return {
        "length": length,
        "width": width,
        "position": position,
        "shift": by,
        "limits": {"shift": (-position, FARTHEST)},
        "compared": compared,
        "table": _picture(waves),
        "likeness": _picture(likeness(waves)),
        "turns": [
            {
                "frequency": rounded(turn.frequency),
                "before": _numbers(turn.before),
                "turned": _numbers(turn.turned),
                "after": _numbers(turn.after),
                "matrix": [_numbers(row) for row in turn.matrix],
            }
            for turn in shift(position, by, width)[:6]
        ],
        "schemes": {name: _scheme(scheme) for name, scheme in schemes(compared, COMPARED_WIDTH).items()},
        "rotary": rounded_rows(rotary_scores(6, ROTARY_WIDTH, seed=0)),
    }


def _whole(given: Given, name: str, least: int, most: int) -> int:
    return integer(given, name, FIRST[name], least, most)


def _scheme(scheme: Scheme) -> dict[str, Any]:
    steps = scheme.steps.tolist()
    least, most = decimals(min(steps)), decimals(max(steps))
    return {
        "vectors": rounded_rows(scheme.vectors),
        "steps": _numbers(steps),
        "apart": least if least == most else f"{least} to {most}",
    }


def _numbers(values: Any) -> list[float | None]:
    return [rounded(value) for value in values]


def _picture(values: Tensor) -> str:
    """Numbers from -1 to 1 as signed bytes, row after row."""
    return packed_bytes((values * 127).round().clamp(-127, 127).char())


_SCHEMES = ("range", "counting", "binary", "sinusoids")
_NEAR = 0.05


def _uneven(compute: Compute) -> int:
    """The scheme whose neighbours' distances differ most."""
    results = compute({})["schemes"]
    spread = [max(results[name]["steps"]) - min(results[name]["steps"]) for name in _SCHEMES]
    return spread.index(max(spread))


def _is_opposite(result: Result) -> bool:
    turn = result["turns"][0]
    return all(abs(one + other) < _NEAR for one, other in zip(turn["before"], turn["turned"], strict=True))


CHAPTER = Chapter(
    answer,
    slots={
        "reset": RESET,
        "length": slider(2, MAX),
        "width": slider(2, MAX),
        "table": DRAWING,
        "likeness": DRAWING,
        "position": slider(0, FARTHEST),
        "shift": slider(-FIRST["position"], FARTHEST),
        "turns": DRAWING,
        "compared": slider(2, 16),
        **{f"schemes.{name}.vectors": table("#", "" if name in _SCHEMES[:2] else "#") for name in _SCHEMES},
        **{f"schemes.{name}.apart": TEXT for name in _SCHEMES},
        "rotary": table("#", "#"),
    },
    exercises={
        "first_number": NumberExercise(
            lambda compute: compute({"position": 1, "shift": 0})["turns"][0]["before"][0], digits=2
        ),
        "uneven": ChoiceExercise(_uneven, len(_SCHEMES)),
        "opposite": ChangeExercise(_is_opposite, {"position": 3, "shift": 22}),
    },
    first=FIRST,
    facts={"near": lambda: str(_NEAR)},
)
