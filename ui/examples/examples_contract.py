"""Recorded examples, which are modules of the page; written by docs/examples.py."""

from __future__ import annotations

from typing import TypedDict

from ui.inspector.inspector_contract import InspectorValue
from ui.runs.runs_contract import TurnValue


class RecordedRuns(TypedDict):
    """What the inspector shows of an example."""

    model: str  # that wrote it
    runs: list[InspectorValue]  # the last one first in sight
    layer: int  # whose map is shown at first, from 0; -1 for the average
    head: int


class RecordedDialogue(TypedDict):
    """A conversation of an example; the runs of its answers are in its `RecordedRuns`."""

    model: str
    turns: list[TurnValue]
