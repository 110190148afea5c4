"""Exercises on today's models."""

from __future__ import annotations

import math

from model.errors import AttendError
from ui.learn.exercise import ChangeExercise, ChoiceExercise, Compute, Exercise, NumberExercise, Result

_KINDS = ("ReLU", "GELU", "SiLU")
_READER = "attend-chat"
_LEAST = 0.1  # of a vector's largest number, so that the norms' epsilon doesn't count


def _rms_of_a_constant(compute: Compute) -> float:
    return compute({"vector": [[5.0, 5.0, 5.0, 5.0]]})["norms"]["RMSNorm"][0][0]


def _cache_of_a_text(compute: Compute) -> float:
    """In MiB; `AttendError` on a page that doesn't offer the model."""
    cache = compute({"tokens": 512})["cache"]
    if cache is None or cache["name"] != _READER:
        raise AttendError(f"This page doesn't offer {_READER}, so this can't be checked: go on with the next exercise.")
    return cache["bytes"] / 2**20


def _lowest(compute: Compute) -> int:
    """The activation whose curve falls lowest."""
    curves = compute({})["curves"]
    lows = [min(curves[kind]) for kind in _KINDS]
    return lows.index(min(lows))


def _norms_agree(result: Result) -> bool:
    """Whether the two norms of a vector that isn't near 0 are the same, but for rounding."""
    pairs = zip(result["norms"]["LayerNorm"][0], result["norms"]["RMSNorm"][0], strict=True)
    return max(map(abs, result["vector"][0])) >= _LEAST and all(
        math.isclose(one, other, abs_tol=0.005) for one, other in pairs
    )


EXERCISES: tuple[Exercise, ...] = (
    NumberExercise(
        "RMSNorm of (5, 5, 5, 5): what is each number?",
        "Divide by the root mean square.",
        _rms_of_a_constant,
        "The root mean square is 5. LayerNorm would give zeros: it subtracts the mean first.",
        digits=2,
    ),
    ChoiceExercise(
        "Which of the three activations falls lowest below zero?",
        "Look at the curves between −2 and 0.",
        _KINDS,
        _lowest,
        "SiLU reaches −0.28 near −1.28 and GELU −0.17; ReLU never goes below zero.",
    ),
    NumberExercise(
        "How many MiB does attend-chat’s cache take for 512 tokens?",
        "Two times layers, heads, width of a head and tokens, four bytes each; 1 MiB is 2²⁰ bytes.",
        _cache_of_a_text,
        "2 · 6 · 8 · 32 · 512 · 4 bytes. A model with a few key heads for all its query heads needs a fraction of it.",
        digits=1,
    ),
    ChangeExercise(
        "Change the vector, not to zeros, so that both norms give the same.",
        f"They differ by the mean alone. Use numbers of at least {_LEAST}.",
        _norms_agree,
        {"vector": [[-3.0, -1.0, 1.0, 3.0]]},
        "(−3, −1, 1, 3)",
        "Its mean is 0, so the standard deviation is the root mean square.",
    ),
)
