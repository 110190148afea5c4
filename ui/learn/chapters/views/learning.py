"""The parts of a training by hand, as the chapter on one training step shows them."""

from __future__ import annotations

from typing import Any

from lesson.block import WORDS
from lesson.parts.learning import chained_slopes, drop_out, loss_of_counts, preference
from model.errors import AttendError
from ui.learn.inputs import Input, Inputs, matrix, real, whole, without_slot
from ui.learn.wording import decimals, rounded, scientific, sent, short

MAX_COUNT, MAX_DRAWS = 1000, 10_000
MAX_FACTOR = 3  # of the chain, so that the logit is at most 27, where p is still less than 1
DROPPED = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)  # the vector that loses numbers
BATCH = ((6, 3, 4), (2,), (9, 8, 4, 1))  # answers of different lengths, as ids of the small model

LEARNING_INPUTS: dict[str, Input] = {
    "counts": matrix([[6.0, 3.0, 1.0]]),
    "guess": matrix([[0.5, 0.3, 0.2]]),
    "chain": matrix([[2.0, 0.5, 1.5]]),  # x, w1, w2
    "dropout": real(0.5, 0, 0.9, 0.1),
    "draw": without_slot(whole(1, 0, MAX_DRAWS)),
    "answers": matrix([[-12.0, -11.0], [-12.0, -13.0]]),  # log-probabilities of the preferred and the other: then, now
    "beta": real(0.1, 0.01, 1, 0.01),
}


def learning_by_hand(inputs: Inputs) -> dict[str, Any]:
    dropped = drop_out(DROPPED, inputs["dropout"], inputs["draw"])
    longest = max(map(len, BATCH))
    return {
        **_counting(inputs["counts"][0], inputs["guess"][0]),
        **_chain(*inputs["chain"][0]),
        "dropped": {"rows": [list(DROPPED), *sent(dropped[None])], "rowNames": ["before", "after"]},
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
    terms = " + ".join(
        f"{short(share, 3)} · {decimals(loss, 3)}"
        for share, loss in zip(counted.shares.tolist(), counted.losses.tolist(), strict=True)
    )
    return {
        "counting": {
            "rows": [sent(row[None])[0] for row in (counted.shares, counted.probabilities, counted.losses)],
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
