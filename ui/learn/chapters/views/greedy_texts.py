"""A recorded greedy text beside that of a model at hand, in the chapter on how a text is generated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from lesson.generation.recorded import (
    LOOP_TOKENS,
    RECORDINGS,
    STEPS,
    Candidates,
    GreedyText,
    ranked,
    repeated,
    write_greedily,
)
from model import names
from model.interface import LanguageModel
from ui.learn.wording import counted, percent
from ui.runs.models import Models

_OURS_TOKENS = 40  # that a model at hand writes greedily, unless it ends the text before
_PLACES = ("1st", "2nd", "3rd", *(f"{place}th" for place in range(4, 11)))
_texts_of: WeakKeyDictionary[LanguageModel[Any], dict[tuple[str, int], GreedyText]] = WeakKeyDictionary()


def greedy_texts(models: Models, prompt: str, own: str) -> dict[str, Any]:
    """The values of the recorded text and of the live one.

    Args:
        prompt: of a recording.
        own: the model at hand that continues the same prompt; "" if there is none.
    """
    recording = next(one for one in RECORDINGS if one.prompt == prompt)
    live = _checkpoint(models, recording.name)
    printed = _written(models, live, prompt, STEPS).steps if live else recording.steps
    ours = _written(models, own, prompt, STEPS).steps if own else None
    return {
        "recording_state": "live" if live else "recorded",
        "recorded_model": recording.name,
        "recorded_prompt": f"“{prompt}”",
        "recorded_table": _table(printed),
        "own_model": own,
        "own_state": ["own"] if ours else [],
        "own_table": _table(ours) if ours else None,
    }


def looping_text(models: Models, own: str) -> dict[str, Any]:
    """The values of the recorded text that repeats itself, and of what a model at hand makes of its prompt."""
    recording = RECORDINGS[0]
    live = _checkpoint(models, recording.name)
    loop = _written(models, live, recording.loop_prompt, LOOP_TOKENS).text if live else recording.loop
    ours = _written(models, own, recording.prompt, _OURS_TOKENS).text if own else ""
    recorded_text, own_text = f"{recording.loop_prompt}{loop}", f"{recording.prompt}{ours}"
    return {
        "recorded_loop": f"“{recorded_text}”",
        "recorded_repeats": _repeats(recorded_text),
        "own_writes": ["own"] if ours else [],
        "own_loop": f"“{own_text}”" if ours else "",
        "own_repeats": _repeats(own_text) if ours else "",
    }


def _written(models: Models, name: str, prompt: str, most: int) -> GreedyText:
    """What a model writes after a prompt, kept as long as the model is: greedy decoding never changes it."""
    loaded = models.get(name)
    texts = _texts_of.setdefault(loaded.model, {})
    if (prompt, most) not in texts:
        texts[prompt, most] = write_greedily(loaded, prompt, most=most)
    return texts[prompt, most]


def _checkpoint(models: Models, name: str) -> str:
    """The recorded checkpoint as it is in memory; "" if it isn't."""
    return next((one for one in models.in_memory() if names.without_precision(one)[0] == name), "")


def _table(steps: Sequence[Candidates]) -> list[list[str]]:
    """Rank by rank; a column for each step."""

    def cell(candidate: tuple[str, float | None] | None) -> str:
        if candidate is None:
            return ""
        label, share = candidate
        return f"{label.strip() or '␣'} {percent(share) if share is not None else '(not recorded)'}"

    rows = ranked(steps[:STEPS])
    return [[place, *map(cell, row)] for place, row in zip(_PLACES, rows, strict=False)]


def _repeats(text: str) -> str:
    """How much of a text was there before, in words."""
    again, count = repeated(text)
    return f"{again} of its {counted(count, 'stretch', 'stretches')} of four words"
