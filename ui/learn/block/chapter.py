"""The chapter on a block by hand: what `lesson/forward_trace.py` walks through, as the page shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from decoding.parameters.parameter import quoted
from lesson.block import HEADS, LONGEST, PADDING, WORDS, BlockSettings
from lesson.forward_trace import trace_forward
from model.errors import AttendError
from ui.kit.validation import checked_switch
from ui.learn.validation import Given, matrix
from ui.runs.models import Models

DIGITS = 3  # behind the point; two are shown


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: the fields of `BlockSettings`, matrices as lists of rows; those that are not there are the lecture's.
    """
    settings = read_settings(given)
    traced = trace_forward(settings)
    return {
        "given": as_given(settings),
        "words": WORDS[:PADDING],
        "heads": HEADS,
        "longest": LONGEST,
        "stages": [
            {
                "name": stage.name,
                "how": stage.how,
                "of": stage.of,
                "values": plain(stage.values.tolist()),
                "rows": stage.rows,
                "columns": stage.columns,
            }
            for stage in traced.stages
        ],
        "loss": plain(traced.loss),
    }


def read_settings(given: Given) -> BlockSettings:
    """What the page sent, checked; `AttendError` for anything else."""
    default = BlockSettings()
    matrices = {
        name: tuple(map(tuple, matrix(given, name, getattr(default, name))))
        for name in ("embeddings", "query_weights", "key_weights", "value_weights", "first_weights")
    }
    heads = given.get("heads", default.heads)
    if isinstance(heads, bool) or not isinstance(heads, int):
        raise AttendError(f"heads is {quoted(heads)}, but must be one of {', '.join(map(str, HEADS))}.")
    return BlockSettings(
        source=_ids(given, "source", default.source),
        answer=_ids(given, "answer", default.answer),
        heads=heads,
        encoder_mask=checked_switch(given.get("encoder_mask", default.encoder_mask), "The encoder's mask"),
        first_bias=tuple(matrix(given, "first_bias", [default.first_bias])[0]),
        **matrices,
    )


def as_given(settings: BlockSettings) -> Mapping[str, Any]:
    """The settings as the page sends them back."""
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    return {**values, "first_bias": [settings.first_bias]}


def plain(values: Any) -> Any:
    """Numbers, in lists or not, as they are sent: rounded, and None for minus infinity."""
    if isinstance(values, list):
        return [plain(value) for value in values]
    return round(values, DIGITS) + 0.0 if math.isfinite(values) else None  # no minus zero


def _ids(given: Given, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
    value = given.get(name, default)
    if not isinstance(value, list | tuple) or any(isinstance(id, bool) or not isinstance(id, int) for id in value):
        raise AttendError(f"The {name} is {quoted(value)}, but must be a list of whole numbers, the words' ids.")
    return tuple(value)
