"""Temperature, top-k and top-p by hand on four weights, as the chapter on how a text is generated shows them."""

from __future__ import annotations

import torch

from lesson.generation.filters import Filters, filter_step
from model.errors import AttendError
from ui.kit.labels import LABELS
from ui.learn.wording import rounded, short

WEIGHTS = (30.0, 15.0, 5.0, 1.0)  # of a lecture, which keeps the three largest: 60 %, 30 %, 10 %
MAX_WEIGHT = 1000


def filtered_weights(weights: list[float], *, temperature: float, top_k: int, top_p: float) -> dict[str, object]:
    """The shares of four words: at first, and after each setting that does something."""
    if (wrong := next((one for one in weights if not 0 < one <= MAX_WEIGHT), None)) is not None:
        raise AttendError(f"A weight is {short(wrong)}, but must be above 0 and at most {MAX_WEIGHT:,}.")
    filters = Filters(temperature=temperature, top_k=top_k, top_p=top_p)
    record = filter_step(torch.tensor(weights).log(), [0] * len(weights), filters)
    by_word = sorted(record.candidates, key=lambda one: one.id)
    changed = filters.changed()
    return {
        "rows": [[rounded(one.probabilities[stage], 6) for one in by_word] for stage in range(len(record.stages))],
        "rowNames": ["share of all", *(f"{LABELS[name]} {short(changed[name])}" for name in record.stages[1:])],
    }
