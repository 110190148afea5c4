"""The chapter on positions: what `lesson/positions.py` computes, as the page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from lesson.positions import Scheme, likeness, rotary_scores, schemes, shift
from model.transformer.positions import sinusoids
from ui.kit.packing import packed_bytes
from ui.learn.validation import Given, integer, rounded, rounded_rows
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
    table = sinusoids(length, width)  # (T, W)
    return {
        "length": length,
        "width": width,
        "position": position,
        "shift": by,
        "compared": compared,
        "table": _picture(table),
        "likeness": _picture(likeness(table)),
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
    return {"vectors": rounded_rows(scheme.vectors), "steps": _numbers(scheme.steps.tolist())}


def _numbers(values: Any) -> list[float | None]:
    return [rounded(value) for value in values]


def _picture(values: Tensor) -> str:
    """Numbers from -1 to 1 as signed bytes, row after row."""
    return packed_bytes((values * 127).round().clamp(-127, 127).char())
