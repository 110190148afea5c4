"""Recorded examples: modules of the page, written by docs/examples.py."""

from __future__ import annotations

from typing import TypedDict

from ui.inspector.inspector_contract import InspectorValue
from ui.runs.runs_contract import TurnValue


class RecordedRuns(TypedDict):
    """The runs of an example, for the inspector."""

    model: str  # the model that wrote it
    runs: list[InspectorValue]  # at first, the inspector shows the last one
    layer: int  # this and the head choose the attention map that is shown at first; from 0, -1 for the average
    head: int


class RecordedDialogue(TypedDict):
    """A conversation of an example; the runs of its answers are in its `RecordedRuns`."""

    model: str
    turns: list[TurnValue]
