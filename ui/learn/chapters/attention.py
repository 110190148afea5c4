"""The chapter on attention by hand, which `lesson/attention.py` computes."""

from __future__ import annotations

import math
import random
from typing import Any

import torch

from lesson.attention import Mixture, by_division, by_softmax, mask_scores, scale_scores, self_attention
from model.errors import AttendError
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise
from ui.learn.inputs import Given, matrix, switch, text, unasked, whole
from ui.learn.text.slots import button, cases, slider
from ui.learn.wording import counted, decimals, rounded, rounded_rows, short, vector
from ui.runs.models import Models

WIDTH = 6  # of the vectors of a sentence's words
MAX_WORDS = 10
APPLE = [[1.0, 0.25]]  # its similarities to itself and to fruit
DOTS = [[112.0, 96.0]]
INPUTS = {
    # apple beside fruit, from lectures: similarities 1 and .25, vectors (5, 7) and (0, 8)
    "pair": text("apple fruit", 60, "The text", maxlength=60),
    "similarities": matrix(APPLE),
    "vectors": matrix([[5.0, 7.0], [0.0, 8.0]]),
    "dots": matrix(DOTS),
    "width": whole(64, 1, 4096, slider(1, 256)),
    "scores": matrix([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.3, 0.6, 0.1], [0.1, 0.3, 0.3, 0.3]]),
    "mask": switch(first=True, subject="The mask"),
    "line": text("I am a student", 60, "The text", maxlength=60),
    "sentence": text("the dog bites the man", 200, maxlength=200, wide=True, also={"shuffle": 0}),
    "shuffle": unasked(whole(0, 0, 1_000_000)),  # counts shuffles; 0 is the sentence as it was typed
    "positions": switch(subject="The positions"),
}


def compute(models: Models, given: Given) -> dict[str, Any]:
    similarities, vectors, dots, scores = (given[name] for name in ("similarities", "vectors", "dots", "scores"))
    if min(similarities[0]) < 0 or sum(similarities[0]) <= 0:
        raise AttendError(
            f"The similarities are {_in_words(similarities[0])}, but division by their sum needs numbers that are not "
            "negative and not all zero: change them. Only softmax can use any numbers."
        )
    # double precision: in single, similarities that are tiny sum to zero
    near, points = (torch.tensor(rows, dtype=torch.float64) for rows in (similarities[0], vectors))  # (N,), (N, W)
    scaled = scale_scores(torch.tensor(dots[0]), given["width"])
    remaining, weights = mask_scores(torch.tensor(scores), mask=given["mask"])  # (T, T) each
    pair = _labels(given["pair"], len(vectors))
    return {
        "pair": pair,
        "word": pair.split()[0],
        "division": _mixed(by_division(near, points), vectors),
        "softmax": _mixed(by_softmax(near, points), vectors),
        "scaled": rounded_rows(scaled.scaled[None]),
        "weights": rounded_rows(scaled.weights[None]),
        "unscaled": rounded_rows(scaled.unscaled[None]),
        "line": _labels(given["line"], len(scores)),
        "masked": rounded_rows(remaining),
        "looked": rounded_rows(weights),
        **_order(given),
    }


def _labels(line: str, count: int) -> str:
    """The words that stand beside a table's rows and columns, so many as it has."""
    words = line.split()
    if len(words) != count:
        raise AttendError(f"The text has {counted(len(words), 'word')}, but this table needs {count}: change it.")
    return " ".join(words)


def _order(given: Given) -> dict[str, Any]:
    """The sentence as it was typed and shuffled, through attention without parameters."""
    words, shuffle, positions = given["sentence"].lower().split(), given["shuffle"], given["positions"]
    if not 2 <= len(words) <= MAX_WORDS:
        raise AttendError(f"The sentence has {counted(len(words), 'word')}, but must have 2 to {MAX_WORDS}: change it.")
    order = list(range(len(words)))
    if shuffle:
        random.Random(shuffle).shuffle(order)
    shuffled = [words[index] for index in order]
    before, after = (
        self_attention(order_of_words, WIDTH, positions=positions).vectors for order_of_words in (words, shuffled)
    )  # (N, W) each
    moved = float((after - before[order]).abs().max())  # of every word to itself at its other place
    changed = "unchanged" if moved < 1e-5 else "changed with positions" if positions else "changed"
    return {
        "words": words,
        "shuffled": shuffled,
        "before": rounded_rows(before),
        "after": rounded_rows(after),
        "moved": rounded(moved, 2),
        "verdict": changed if shuffle else "not shuffled",
    }


def _mixed(mixture: Mixture, vectors: list[list[float]]) -> dict[str, Any]:
    weights, mixed = mixture.weights.tolist(), mixture.vector.tolist()
    terms = " + ".join(f"{decimals(weight)} · {vector(of)}" for weight, of in zip(weights, vectors, strict=True))
    return {
        "weights": rounded_rows(mixture.weights[None]),
        "vector": rounded_rows(mixture.vector[None]),
        "sum": f"{terms} = {vector(mixed, 2)}",
    }


def _in_words(values: list[float]) -> str:
    return " and ".join(f"{value:g}" for value in values)


def _first_weight(mix: Any, index: int) -> str:
    similarities = torch.tensor(APPLE[0])
    return decimals(mix(similarities, similarities[:, None]).weights[index].item())


def _first_weights(compute: Compute) -> list[float]:
    firsts = [compute({"similarities": [[1.0, other]]})["softmax"]["weights"][0][0] for other in (0.25, 0.0)]
    lead_of_two = compute({"similarities": [[2.0, 0.0]]})["softmax"]["weights"][0][0]  # as far apart as 1 and -1
    return [*firsts, lead_of_two]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values="word division.weights division.vector division.sum softmax.weights softmax.vector softmax.sum "
    "scaled weights unscaled masked looked moved words shuffled before after",
    slots={
        "shuffle": button(adds={"shuffle": 1}),
        "verdict": cases("not shuffled", "unchanged", "changed", "changed with positions"),
    },
    exercises={
        "weight_of_fruit": NumberExercise(
            lambda compute: compute({"similarities": [[1.0, 0.6]]})["division"]["weights"][0][1], digits=2
        ),
        "most_lopsided": ChoiceExercise(_first_weights, 3),
        "wide_enough": ChangeExercise(
            lambda result: result["dots"] == [[112.0, 96.0]] and result["weights"][0][0] < 0.75, {"width": 240}
        ),
    },
    facts={
        "own": short(APPLE[0][0]),
        "other": short(APPLE[0][1]),
        "own_by_division": short(float(_first_weight(by_division, 0))),
        "other_by_division": short(float(_first_weight(by_division, 1))),
        "own_by_softmax": _first_weight(by_softmax, 0),
        "other_by_softmax": _first_weight(by_softmax, 1),
        "lead_of_one": decimals(math.e),
        "lead_of_five": decimals(math.exp(5), 0),
        "one_dot": short(DOTS[0][0]),
        "other_dot": short(DOTS[0][1]),
    },
)
