"""The filters on one choice, as the chapter on how a text is generated shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from decoding.step import Choice
from lesson.generation.filters import changed, filter_step
from model.errors import AttendError
from ui.kit.labels import LABELS
from ui.learn.wording import rounded, short

FOUR_WEIGHTS = (30.0, 15.0, 5.0, 1.0)  # of a lecture, which keeps the three largest: 60 %, 30 %, 10 %
MAX_WEIGHT, MAX_LOGIT, MAX_USED = 1000, 20, 9
P_DIGITS = 6  # of a probability
VOCABULARY = ("closer", "every", "effort", "forward", "inches", "moves", "pizza", "toward", "you")


def check_table(logits: Sequence[float], used: Sequence[float]) -> None:
    if (wrong := next((logit for logit in logits if abs(logit) > MAX_LOGIT), None)) is not None:
        raise AttendError(f"A logit is {wrong:g}, but must be from −{MAX_LOGIT} to {MAX_LOGIT}.")
    wrong = next((count for count in used if not (0 <= count <= MAX_USED and count == int(count))), None)
    if wrong is not None:
        raise AttendError(f"A word is used {wrong:g} times, but it must be a whole number from 0 to {MAX_USED}.")


def bars_of(record: Choice) -> list[dict[str, Any]]:
    """Every word, the most probable first, before and after; and the filter that removed it."""
    return [
        {
            "word": VOCABULARY[candidate.id],
            "before": rounded(candidate.probabilities[0], P_DIGITS),
            "after": rounded(candidate.probabilities[-1], P_DIGITS),
            "cut": next(
                (
                    LABELS[stage]
                    for stage, p in zip(record.stages, candidate.probabilities, strict=True)
                    if p == 0 and stage != "model"
                ),
                "",
            ),
        }
        for candidate in record.candidates
    ]


def stages_of(record: Choice) -> list[tuple[str, int, float | None]]:
    """Each filter, how many words it left, and the share of the probability that it kept."""
    numbers = zip(record.stages, record.kept, record.mass, strict=True)
    return [(LABELS[stage], kept, rounded(mass, P_DIGITS)) for stage, kept, mass in numbers if stage != "model"]


def filtered_weights(weights: list[float], filters: Mapping[str, float]) -> dict[str, object]:
    """The shares of four words by hand: at first, and after each setting that does something."""
    if (wrong := next((one for one in weights if not 0 < one <= MAX_WEIGHT), None)) is not None:
        raise AttendError(f"A weight is {short(wrong)}, but must be above 0 and at most {MAX_WEIGHT:,}.")
    record = filter_step(torch.tensor(weights).log(), [0] * len(weights), filters)
    by_word = sorted(record.candidates, key=lambda one: one.id)
    values = changed(filters)
    return {
        "rows": [
            [rounded(one.probabilities[stage], P_DIGITS) for one in by_word] for stage in range(len(record.stages))
        ],
        "rowNames": ["share of all", *(f"{LABELS[name]} {short(values[name])}" for name in record.stages[1:])],
    }
