"""A lecture's recorded greedy text beside that of a model at hand, in the chapter on how a text is generated."""

from __future__ import annotations

from typing import Any

from lesson.generation.recorded import (
    LOOP_TOKENS,
    RECORDINGS,
    STEPS,
    GreedyText,
    Recording,
    ranked,
    recorded_text,
    repeated,
    write_greedily,
)
from model import names
from ui.learn.wording import counted, percent
from ui.runs.models import Models

_OURS_TOKENS = 40  # that a model at hand writes greedily, unless it ends the text before
_PLACES = ("1st", "2nd", "3rd", *(f"{place}th" for place in range(4, 11)))


def greedy_texts(models: Models, prompt: str, own: str) -> dict[str, Any]:
    """The values of the recorded text and of the live one.

    Args:
        prompt: of a recording.
        own: the model at hand that continues the same prompt; "" if there is none.
    """
    recording = next(one for one in RECORDINGS if one.prompt == prompt)
    live = _checkpoint(models, recording.name)
    if live:
        checkpoint = models.get(live)
        loop = write_greedily(checkpoint, recording.loop_prompt, most=LOOP_TOKENS).text
        printed = GreedyText(write_greedily(checkpoint, prompt, most=STEPS).steps, loop)
    else:
        printed = recorded_text(recording)
    ours = write_greedily(models.get(own), prompt, most=_OURS_TOKENS) if own else None
    return {
        "recording_state": "live" if live else "recorded",
        "recorded_model": recording.name,
        "recorded_prompt": f"“{prompt}”",
        "recorded_table": _table(printed),
        "recorded_loop": f"“{recording.loop_prompt}{printed.text}”",
        "recorded_repeats": _repeats(printed.text),
        "has_loop": _has_loop(recording),
        "own_model": own,
        "own_state": ["own"] if ours else [],
        "own_writes": ["own"] if ours else [],
        "own_table": _table(ours) if ours else None,
        "own_loop": f"“{prompt}{ours.text}”" if ours else "",
        "own_repeats": _repeats(ours.text) if ours else "",
    }


def _checkpoint(models: Models, name: str) -> str:
    """The recorded checkpoint as it is in memory; "" if it isn't."""
    return next((one for one in models.in_memory() if names.without_precision(one)[0] == name), "")


def _has_loop(recording: Recording) -> list[str]:
    return ["loop"] if repeated(recording.loop)[0] else []


def _table(text: GreedyText) -> list[list[str]]:
    """Rank by rank; a column for each step."""

    def cell(candidate: tuple[str, float | None] | None) -> str:
        if candidate is None:
            return ""
        label, share = candidate
        return f"{label.strip() or '␣'} {percent(share) if share is not None else '(not printed)'}"

    rows = ranked(text.steps[:STEPS])
    return [[place, *map(cell, row)] for place, row in zip(_PLACES, rows, strict=False)]


def _repeats(text: str) -> str:
    """How much of a text was there before, in words."""
    again, count = repeated(text)
    return f"{again} of its {counted(count, 'stretch', 'stretches')} of four words"
