"""The chapter on attention by hand: what `lesson/attention.py` computes, as the page shows it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import torch

from lesson.attention import Mixture, by_division, by_softmax, mask_scores, scale_scores, self_attention
from model.errors import AttendError
from ui.kit.validation import checked_switch
from ui.learn.validation import Given, counted, integer, matrix, rounded, rounded_rows, text
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
    shown, weights = mask_scores(torch.tensor(scores), mask=mask)  # (T, T) each
    return {
        "pair": _labels(given, "pair", len(vectors)),
        "similarities": similarities,
        "vectors": vectors,
        "division": _mixed(by_division(near, points)),
        "softmax": _mixed(by_softmax(near, points)),
        "dots": dots,
        "width": width,
        "scaled": rounded_rows(scaled.scaled[None]),
        "weights": rounded_rows(scaled.weights[None]),
        "unscaled": rounded_rows(scaled.unscaled[None]),
        "scores": scores,
        "mask": mask,
        "line": _labels(given, "line", len(scores)),
        "masked": rounded_rows(shown),
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
    moved = (after - before[order]).abs().max()  # of every word to itself at its other place
    return {
        "sentence": sentence,
        "shuffle": shuffle,
        "positions": positions,
        "words": words,
        "shuffled": shuffled,
        "before": rounded_rows(before),
        "after": rounded_rows(after),
        "moved": rounded(float(moved), 2),
    }


def _mixed(mixture: Mixture) -> dict[str, Any]:
    return {"weights": rounded_rows(mixture.weights[None]), "vector": rounded_rows(mixture.vector[None])}


def _in_words(values: list[float]) -> str:
    return " and ".join(f"{value:g}" for value in values)
