"""The chapter on one training step: what `lesson/training.py` computes, as the page shows it."""

from __future__ import annotations

from typing import Any

from lesson.block import LONGEST, PADDING, WIDTH, WORDS
from lesson.curves import recorded
from lesson.training import BETAS, EPSILON, MATRICES, MAX_RATE, MAX_STEPS, StepSettings, Update, train
from ui.learn.block.chapter import read_settings
from ui.learn.validation import Given, choice, integer, number, rounded, rounded_rows
from ui.runs.models import Models

LEAST_RATE = 1e-6
SHARE_DIGITS = 6  # of a probability, so that −ln of what is shown is the loss that is shown

_COLUMNS = {  # of matrices that are several in one
    "encoder attention in": "QKV",
    "decoder attention in": "QKV",
    "cross-attention keys, values": "KV",
}


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: `learning_rate`, `step` and `matrix`, and of the small model what `lesson_block` takes.
    """
    default = StepSettings()
    settings = StepSettings(
        block=read_settings(given),
        learning_rate=number(given, "learning_rate", default.learning_rate, LEAST_RATE, MAX_RATE),
        step=integer(given, "step", default.step, 1, MAX_STEPS),
        matrix=choice(given, "matrix", default.matrix, tuple(MATRICES)),
    )
    step = train(settings)
    return {
        "given": {
            "source": settings.block.source,
            "answer": settings.block.answer,
            "learning_rate": settings.learning_rate,
            "step": settings.step,
            "matrix": settings.matrix,
        },
        "words": WORDS[:PADDING],
        "longest": LONGEST,
        "most_steps": MAX_STEPS,
        "betas": BETAS,
        "epsilon": EPSILON,
        "positions": [
            {
                "read": position.read,
                "target": position.target,
                "probabilities": [rounded(p, SHARE_DIGITS) for p in position.probabilities.tolist()],
                "loss": rounded(position.loss),
            }
            for position in step.positions
        ],
        "curves": [
            {
                "name": curve.name,
                "steps": curve.steps,
                "tokens": curve.tokens,
                "losses": [rounded(loss, 3) for loss in curve.losses],
            }
            for curve in recorded()
        ],
        "losses": [rounded(loss) for loss in step.losses],
        "norms": {name: rounded(norm) for name, norm in step.norms.items()},
        "norm": rounded(step.norm),
        "update": _update(step.update),
        "rows": WORDS if settings.matrix == "embedding" else (),
        "columns": [f"{part} {i}" for part in _COLUMNS.get(settings.matrix, "") for i in range(WIDTH)],
    }


def _update(update: Update) -> dict[str, Any]:
    before, after = update.moments_before, update.moments
    return {
        "before": rounded_rows(update.before),
        "gradient": rounded_rows(update.gradient),
        "first_before": rounded_rows(before.first),
        "first": rounded_rows(after.first),
        "second_before": rounded_rows(before.second),
        "second": rounded_rows(after.second),
        "change": rounded_rows(update.change),
        "after": rounded_rows(update.after),
    }
