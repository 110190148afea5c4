"""The chapter on one training step, which `lesson/training.py` computes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from lesson.block import LONGEST, PADDING, WIDTH, WORDS
from lesson.curves import recorded
from lesson.parts.learning import chained_slopes, drop_out, loss_of_counts, preference, smoothed_minimum
from lesson.training import BETAS, EPSILON, MATRICES, MAX_RATE, MAX_STEPS, StepSettings, TrainingStep, Update, train
from model.errors import AttendError
from ui.learn.chapter import Chapter
from ui.learn.chapters import block
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, value_of
from ui.learn.inputs import Input, Inputs, choice, matrix, real, whole, without_slot
from ui.learn.text.slots import button, cases, words
from ui.learn.wording import decimals, product_sum, rounded, scientific, sent, short
from ui.runs.models import Models

LEAST_RATE = 1e-6
MAX_COUNT, MAX_DRAWS = 1000, 10_000
MAX_FACTOR = 3  # of the chain, so that the logit is at most 27, where p is still less than 1
DROPPED = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)  # the vector that loses numbers
BATCH = ((6, 3, 4), (2,), (9, 8, 4, 1))  # answers of different lengths, as ids of the small model
SHARE_DIGITS = 6  # of a probability, so that −ln of what is shown is the loss that is shown

_COLUMNS = {  # of matrices that are several in one
    "encoder attention in": "QKV",
    "decoder attention in": "QKV",
    "cross-attention keys, values": "KV",
}


DEFAULT = StepSettings()
INPUTS: Mapping[str, Input] = {  # and what else the chapter on the block takes
    # earlier steps learned from other data
    **{name: replace(block.INPUTS[name], slot=words(also={"step": 1})) for name in ("source", "answer")},
    "learning_rate": without_slot(real(DEFAULT.learning_rate, LEAST_RATE, MAX_RATE)),
    "step": without_slot(whole(DEFAULT.step, 1, MAX_STEPS)),
    "matrix": choice(DEFAULT.matrix, tuple(MATRICES)),
    "counts": matrix([[6.0, 3.0, 1.0]]),
    "guess": matrix([[0.5, 0.3, 0.2]]),
    "chain": matrix([[2.0, 0.5, 1.5]]),  # x, w1, w2
    "dropout": real(0.5, 0, 0.9, 0.1),
    "draw": without_slot(whole(1, 0, MAX_DRAWS)),
    "answers": matrix([[-12.0, -11.0], [-12.0, -13.0]]),  # log-probabilities of the preferred and the other: then, now
    "beta": real(0.1, 0.01, 1, 0.01),
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    own = {name: inputs[name] for name in ("learning_rate", "step", "matrix")}
    step = train(StepSettings(block=block.read_settings(inputs), **own))
    positions = sent(step.positions, SHARE_DIGITS)
    return {
        "limits": {"step": (1, MAX_STEPS), "draw": (0, MAX_DRAWS)},
        "words": WORDS[:PADDING],
        "longest": LONGEST,
        "betas": BETAS,
        "epsilon": EPSILON,
        "positions": positions,
        "probabilities": {
            "rows": [position["probabilities"] for position in positions],
            "rowNames": [f"→ {WORDS[position['target']]}" for position in positions],
        },
        **_outcome(step, inputs["step"]),
        **_by_hand(inputs),
        "losses": sent(step.losses),
        # with the steps of an exercise, and with all
        "lowest_losses": sent((min(step.losses[: _GOAL_STEPS + 1]), min(step.losses))),
        "norms": sent(step.norms),
        "update": _update(step.update, inputs["matrix"]),
        "curves": sent(recorded(), 3) or None,
    }


def _outcome(step: TrainingStep, number: int) -> dict[str, Any]:
    """What the step has achieved, in words and numbers."""
    before, after = step.losses[-2:]
    last = ["last step"] if number >= MAX_STEPS else []
    return {
        "outcome": ["worse" if after > before else "better", "perplexity", *last],
        "loss_before": decimals(before, 3),
        "loss_after": decimals(after, 3),
        "perplexity": short(math.exp(after), 3),
        "gradient_norm": f"{step.norm:#.3g}".rstrip("."),
        "most_steps": str(MAX_STEPS),
    }


def _update(update: Update, matrix: str) -> dict[str, Any]:
    tensors = {one.name: getattr(update, one.name) for one in fields(update)}
    names = {
        "rowNames": WORDS if matrix == "embedding" else None,
        "columnNames": [f"{part} {i}" for part in _COLUMNS.get(matrix, "") for i in range(WIDTH)] or None,
    }
    return {
        name: {"rows": sent(values), "digits": _digits(float(values.abs().max())), **names}
        for name, values in tensors.items()
    }


def _by_hand(inputs: Inputs) -> dict[str, Any]:
    """What training is made of, one number at a time."""
    dropped = drop_out(DROPPED, inputs["dropout"], inputs["draw"])
    longest = max(map(len, BATCH))
    return {
        **_counting(inputs["counts"][0], inputs["guess"][0]),
        **_chain(*inputs["chain"][0]),
        "dropped": {"rows": [DROPPED, sent(dropped)], "rowNames": ["before", "after"]},
        "batch_rows": [[WORDS[id] for id in row] + ["<pad>"] * (longest - len(row)) for row in BATCH],
        "batch_targets": sum(map(len, BATCH)),
        **_preference(inputs["answers"], inputs["beta"]),
    }


def _counting(counts: list[float], guess: list[float]) -> dict[str, Any]:
    if not all(0 <= count <= MAX_COUNT for count in counts) or not any(counts):
        raise AttendError(f"Counts must be from 0 to {MAX_COUNT:,}, and not all 0.")
    if not all(0 < one <= MAX_COUNT for one in guess):
        raise AttendError(f"Each of the model's numbers must be above 0 and at most {MAX_COUNT:,}.")
    counted = loss_of_counts(counts, guess)
    shares, losses = counted.shares.tolist(), counted.losses.tolist()
    terms = product_sum((short(share, 3) for share in shares), (decimals(loss, 3) for loss in losses))
    return {
        "counting": {
            "rows": sent([counted.shares, counted.probabilities, counted.losses]),
            "rowNames": ["share of the text", "the model’s p", "−ln p"],
        },
        "counted_loss": rounded(counted.loss),
        "counted_sum": f"{terms} = {decimals(counted.loss, 3)}",
        "counted_least": decimals(counted.least, 3),
    }


def _chain(x: float, first: float, second: float) -> dict[str, Any]:
    for number in (x, first, second):
        if abs(number) > MAX_FACTOR:
            raise AttendError(f"{short(number)} is too large: each number must be from −{MAX_FACTOR} to {MAX_FACTOR}.")
    chain = chained_slopes(x, first, second)
    value, slope = (
        {name: {"formula": scientific(one, 3)} for name, one in of.items()} for of in (chain.values, chain.slopes)
    )
    opened = first * x > 0
    relu = "x" if opened else "0"
    rows = [
        ("L = −ln p", value["L"], "dL/dp = −1 / p", slope["p"]),
        ("p = σ(z)", value["p"], "dL/dz = dL/dp · p (1 − p) = p − 1", slope["z"]),
        ("z = w₂ h", value["z"], "dL/dw₂ = dL/dz · h", slope["w₂"]),
        ("", "", "dL/dh = dL/dz · w₂", slope["h"]),
        ("h = max(0, w₁ x)", value["h"], f"dL/dw₁ = dL/dh · {relu}", slope["w₁"]),
    ]
    return {
        "chain_rows": [
            [{"formula": formula} if formula else "", number, {"formula": rule}, result]
            for formula, number, rule, result in rows
        ],
        "chain_slope": rounded(chain.slopes["w₁"]),
        "nudged": {"formula": scientific(chain.nudged, 3)},
    }


def _preference(answers: list[list[float]], beta: float) -> dict[str, Any]:
    (better_start, better_now), (worse_start, worse_now) = answers
    if max(better_start, better_now, worse_start, worse_now) > 0:
        raise AttendError("A log-probability can't be above 0: that would be a probability above 1.")
    pair = preference((better_start, worse_start), (better_now, worse_now), beta)
    return {
        "margin": short(pair.margin, 3),
        "preferred": decimals(pair.probability, 3),
        "preference_loss": decimals(pair.loss, 3),
    }


def _digits(largest: float) -> int:
    """How many decimals show the largest number of a table with three digits."""
    return min(9, max(2, 2 - math.floor(math.log10(largest)))) if largest else 2


_GOAL, _GOAL_STEPS = 0.2, 20
_A_LOSS = 1.8
SMOOTHING, TRANSLATOR_OUTPUTS = 0.1, 5999  # of attend-translate, by its model card


_GUESSES = ((6.0, 3.0, 1.0), (98.0, 1.0, 1.0), (1.0, 1.0, 1.0), (74.0, 25.0, 1.0))  # in parts of their sum


def _fits(compute: Compute) -> list[float]:
    """How low the loss of each guess is, for the chapter's counts."""
    return [-compute({"guess": [list(guess)]})["counted_loss"] for guess in _GUESSES]


# of a word to which the model gives a quarter
_LOSS_OF_QUARTER = value_of({"counts": [[1.0, 0.0, 0.0]], "guess": [[0.25, 0.5, 0.25]]}, "counted_loss")
_SLOPE = value_of({"chain": [[1.0, 1.0, 2.0]]}, "chain_slope")

CHAPTER = Chapter(
    compute,
    INPUTS,
    values="step loss_before loss_after perplexity gradient_norm most_steps words probabilities "
    "batch_targets counting counted_sum counted_least chain_rows nudged dropped margin preferred preference_loss "
    "update.before update.gradient update.first update.second update.change update.after",
    slots={
        "one_step": button(adds={"step": 1}, primary=True),
        "ten_steps": button(adds={"step": 10}),
        "redraw": button(adds={"draw": 1}),
        "outcome": cases("better", "worse", "perplexity", "last step"),
    },
    exercises={
        "best_guess": ChoiceExercise(_fits, len(_GUESSES), predicted=True),
        "loss_of_quarter": NumberExercise(
            _LOSS_OF_QUARTER,
            digits=2,
            mistakes={
                "base_two": lambda compute: _LOSS_OF_QUARTER(compute) / math.log(2),
                "base_ten": lambda compute: _LOSS_OF_QUARTER(compute) / math.log(10),
            },
        ),
        "slope": NumberExercise(
            _SLOPE,
            digits=2,
            mistakes={
                "outer": lambda compute: _SLOPE(compute) / 2,  # without w₂
                "probability": lambda compute: 2 + _SLOPE(compute),  # p instead of p - 1
            },
        ),
        "perplexity": NumberExercise(
            lambda compute: math.exp(compute({})["losses"][0]),
            digits=1,
            mistakes={
                "loss": value_of({}, "losses", 0),
                "after": lambda compute: math.exp(compute({})["losses"][1]),
            },
            from_shown=lambda compute: [
                math.exp(float(loss)) for loss in (compute({})["loss_before"], block.CHAPTER.facts["untrained_loss"])
            ],
        ),
        "too_large_a_step": ChangeExercise(
            [("step", "==", 1), ("losses.-1", ">", "losses.0")],
            {"learning_rate": 1.0},
            {"later": [("step", ">", 1)], "smaller": [("learning_rate", "<", 0.1)]},
        ),
        "learned": ChangeExercise(
            [("lowest_losses.0", "<", _GOAL)],
            {"learning_rate": 0.05, "step": _GOAL_STEPS},
            {
                "late": [("lowest_losses.1", "<", _GOAL)],
                "early": [("step", "<", _GOAL_STEPS), ("losses.-1", "<", "losses.0")],
            },
        ),
    },
    facts={
        "a_loss": str(_A_LOSS),
        "its_perplexity": decimals(math.exp(_A_LOSS)),
        "least_smoothed": decimals(smoothed_minimum(SMOOTHING, TRANSLATOR_OUTPUTS)),
        "smoothing": str(SMOOTHING),
        "smoothed_vocabulary": f"{TRANSLATOR_OUTPUTS:,}",
        "preference_at_start": decimals(math.log(2), 3),
        "untrained_loss": block.CHAPTER.facts["untrained_loss"],
        "goal": str(_GOAL),
        "goal_steps": str(_GOAL_STEPS),
    },
)
