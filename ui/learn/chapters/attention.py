"""The chapter on attention by hand, which `lesson/attention.py` computes."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import torch

from lesson.attention import Mixture, by_division, by_softmax, mask_scores, scale_scores, self_attention
from model.errors import AttendError
from ui.kit.validation import checked_switch
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise
from ui.learn.text.slots import CHECK, DRAWING, RESET, TEXT, button, cases, line, numbers, slider, table
from ui.learn.validation import (
    Given,
    counted,
    decimals,
    integer,
    matrix,
    rounded,
    rounded_rows,
    short,
    text,
    vector,
)
from ui.runs.models import Models

WIDTH = 6  # of the vectors of a sentence's words
MAX_WORDS = 10
FIRST: Mapping[str, Any] = {
    # apple beside fruit, from lectures: similarities 1 and .25, vectors (5, 7) and (0, 8)
    "pair": "apple fruit",
    "similarities": [[1.0, 0.25]],
    "vectors": [[5.0, 7.0], [0.0, 8.0]],
    "dots": [[112.0, 96.0]],
    "width": 64,
    "scores": [[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.3, 0.6, 0.1], [0.1, 0.3, 0.3, 0.3]],
    "mask": True,
    "line": "I am a student",
    "sentence": "the dog bites the man",
    "shuffle": 0,
    "positions": False,
}


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: any of the keys of `FIRST`; `shuffle` counts shuffles, 0 is the sentence as it was typed.
    """
    similarities = matrix(given, "similarities", FIRST["similarities"])
    vectors = matrix(given, "vectors", FIRST["vectors"])
    dots, width = matrix(given, "dots", FIRST["dots"]), integer(given, "width", FIRST["width"], 1, 4096)
    scores = matrix(given, "scores", FIRST["scores"])
    mask = checked_switch(given.get("mask", FIRST["mask"]), "The mask")
    if min(similarities[0]) < 0 or sum(similarities[0]) <= 0:
        raise AttendError(
            f"The similarities are {_in_words(similarities[0])}, but division by their sum needs numbers that are not "
            "negative and not all zero: change them. Only softmax can use any numbers."
        )
    # double precision: in single, similarities that are tiny sum to zero
    near, points = (torch.tensor(rows, dtype=torch.float64) for rows in (similarities[0], vectors))  # (N,), (N, W)
    scaled = scale_scores(torch.tensor(dots[0]), width)
    remaining, weights = mask_scores(torch.tensor(scores), mask=mask)  # (T, T) each
    pair = _labels(given, "pair", len(vectors))
    return {
        "pair": pair,
        "word": pair.split()[0],
        "similarities": similarities,
        "vectors": vectors,
        "division": _mixed(by_division(near, points), vectors),
        "softmax": _mixed(by_softmax(near, points), vectors),
        "dots": dots,
        "width": width,
        "scaled": rounded_rows(scaled.scaled[None]),
        "weights": rounded_rows(scaled.weights[None]),
        "unscaled": rounded_rows(scaled.unscaled[None]),
        "scores": scores,
        "mask": mask,
        "line": _labels(given, "line", len(scores)),
        "masked": rounded_rows(remaining),
        "looked": rounded_rows(weights),
        **_order(given),
    }


def _labels(given: Given, name: str, count: int) -> str:
    """The words that stand beside a table's rows and columns, so many as it has."""
    label = text(given, name, FIRST[name], 60, "The text")
    words = label.split()
    if len(words) != count:
        raise AttendError(f"The text has {counted(len(words), 'word')}, but this table needs {count}: change it.")
    return " ".join(words)


def _order(given: Given) -> dict[str, Any]:
    """The sentence as it was typed and shuffled, through attention without parameters."""
    sentence = text(given, "sentence", FIRST["sentence"], 200)
    words = sentence.lower().split()
    if not 2 <= len(words) <= MAX_WORDS:
        raise AttendError(f"The sentence has {counted(len(words), 'word')}, but must have 2 to {MAX_WORDS}: change it.")
    shuffle = integer(given, "shuffle", FIRST["shuffle"], 0, 1_000_000)
    positions = checked_switch(given.get("positions", FIRST["positions"]), "The positions")
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
        "sentence": sentence,
        "shuffle": shuffle,
        "positions": positions,
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
    similarities = torch.tensor(FIRST["similarities"][0])
    return decimals(mix(similarities, similarities[:, None]).weights[index].item())


def _most_lopsided(compute: Compute) -> int:
    firsts = [compute({"similarities": [[1.0, other]]})["softmax"]["weights"][0][0] for other in (0.25, 0.0)]
    lead_of_two = compute({"similarities": [[2.0, 0.0]]})["softmax"]["weights"][0][0]  # as far apart as 1 and -1
    return [*firsts, lead_of_two].index(max(*firsts, lead_of_two))


_KEYS = ("key 1", "key 2")
CHAPTER = Chapter(
    answer,
    slots={
        "reset": RESET,
        "pair": line(60),
        "similarities": numbers(columns="pair"),
        "vectors": numbers("pair", ("x", "y")),
        **{f"{way}.weights": table(columns="pair", scale="share") for way in ("division", "softmax")},
        **{f"{way}.vector": table(columns=("x", "y"), scale="plain") for way in ("division", "softmax")},
        "division.sum": TEXT,
        "softmax.sum": TEXT,
        "word": TEXT,
        "plane": DRAWING,
        "width": slider(1, 256),
        "dots": numbers(columns=_KEYS),
        "scaled": table(columns=_KEYS, scale="plain"),
        "weights": table(columns=_KEYS, scale="share"),
        "unscaled": table(columns=_KEYS, scale="share"),
        "line": line(60),
        "mask": CHECK,
        "scores": numbers("line", "line"),
        "masked": table("line", "line", scale="plain"),
        "looked": table("line", "line", scale="share"),
        "sentence": line(200, wide=True, also={"shuffle": 0}),
        "shuffle": button(adds={"shuffle": 1}),
        "positions": CHECK,
        "verdict": cases("not shuffled", "unchanged", "changed", "changed with positions"),
        "moved": TEXT,
        "before": table("words", "1"),
        "after": table("shuffled", "1"),
    },
    exercises={
        "weight_of_fruit": NumberExercise(
            lambda compute: compute({"similarities": [[1.0, 0.6]]})["division"]["weights"][0][1], digits=2
        ),
        "most_lopsided": ChoiceExercise(_most_lopsided, 3),
        "wide_enough": ChangeExercise(
            lambda result: result["dots"] == [[112.0, 96.0]] and result["weights"][0][0] < 0.75, {"width": 240}
        ),
    },
    first=FIRST,
    facts={
        "own": lambda: short(FIRST["similarities"][0][0]),
        "other": lambda: short(FIRST["similarities"][0][1]),
        "own_by_division": lambda: short(float(_first_weight(by_division, 0))),
        "other_by_division": lambda: short(float(_first_weight(by_division, 1))),
        "own_by_softmax": lambda: _first_weight(by_softmax, 0),
        "other_by_softmax": lambda: _first_weight(by_softmax, 1),
        "lead_of_one": lambda: decimals(math.e),
        "lead_of_five": lambda: decimals(math.exp(5), 0),
        "one_dot": lambda: short(FIRST["dots"][0][0]),
        "other_dot": lambda: short(FIRST["dots"][0][1]),
    },
)
