"""The chapter on queries, keys and values, which `lesson/attention/by_hand.py` computes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lesson.attention.by_hand import (
    AttentionSteps,
    additive_mask,
    attention_steps,
    dot_spread,
    head_steps,
    soft_lookup,
)
from lesson.attention.weighted_sum import scale_scores
from lesson.positions import rotary_scores
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, value_of
from ui.learn.inputs import Inputs, choice, matrix, real, text, whole
from ui.learn.text.slots import options, select, slider
from ui.learn.wording import decimals, dot_terms, labels, product_sum, sent, short, vector
from ui.runs.models import Models

WORDS = "animal street it"  # of “The animal didn’t cross the street because it was too tired”
SOURCE, TARGET = "je suis étudiant", "I am a student"
MASKS = {"none": "none", "later": "later words", "padding": "padding"}
ROTARY_POSITIONS = 6
WIDTHS = (4, 16, 64, 256)  # at which random dot products are measured
DIGITS = 6  # of a number that is sent: four would be rounded twice by a table of two decimals
_LABELS = {"maxlength": 60}
INPUTS = {
    "words": text(WORDS, 60, "The text", **_LABELS),
    "vectors": matrix([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]]),
    "query_weights": matrix([[1.0, -1.0], [1.0, 1.0]]),
    "key_weights": matrix([[1.0, 0.0], [0.0, 1.0]]),
    "value_weights": matrix([[1.0, 2.0], [3.0, 0.0]]),
    "asking": whole(3, 1, 3, select("askers")),  # the word whose query is followed, counted from 1
    "sharpness": real(1, 0, 10, 0.5),
    # a lecture's dot products (../shared/REFERENCE.md), as are the scores that are masked
    "dots": matrix([[112.0, 96.0]]),
    "width": whole(64, 1, 4096, slider(1, 256)),
    "line": text(TARGET, 60, "The text", **_LABELS),
    "scores": matrix([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.3, 0.6, 0.1], [0.1, 0.3, 0.3, 0.3]]),
    "mask": choice("later", tuple(MASKS), options(*MASKS)),
    # the lecture's weights of “student” are .15, .05 and .8; the numbers that lead to them are ours
    "source": text(SOURCE, 60, "The French text", **_LABELS),
    "target": text(TARGET, 60, "The English text", **_LABELS),
    "cross_queries": matrix([[0.0, 2.0], [-2.0, -2.0], [1.0, 0.0], [2.0, 0.0]]),
    "cross_keys": matrix([[-1.18, 2.0], [-1.96, 0.0], [0.0, 0.0]]),
    "cross_values": matrix([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]),
    "output_weights": matrix([[1.0, 0.0], [1.0, 1.0]]),
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    words = labels(inputs["words"], 3)
    vectors, query_weights, key_weights, value_weights = (
        _tensor(inputs[name]) for name in ("vectors", "query_weights", "key_weights", "value_weights")
    )
    steps = attention_steps(vectors @ query_weights, vectors @ key_weights, vectors @ value_weights)
    asking = inputs["asking"] - 1
    return {
        "words": words,
        "askers": [(index, word) for index, word in enumerate(words.split(), start=1)],
        "asker": words.split()[asking],
        "steps": sent(steps, DIGITS),
        **_written_out(steps, vectors, query_weights, words.split(), asking),
        **_dictionary(steps, words.split(), asking, inputs["sharpness"]),
        **_scaling(inputs),
        **_masked(inputs),
        **_cross(inputs),
        "heads": sent(head_steps(steps, 2, _tensor(inputs["output_weights"])), DIGITS),
        "rotary": sent(rotary_scores(steps.queries[asking], steps.keys[0], ROTARY_POSITIONS)),
        "rotary_key": words.split()[0],
    }


def _tensor(rows: Sequence[Sequence[float]]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def _written_out(
    steps: AttentionSteps, inputs: Tensor, query_weights: Tensor, words: Sequence[str], asking: int
) -> dict[str, Any]:
    """What one word computes, number by number."""
    query, keys = steps.queries[asking].tolist(), steps.keys.tolist()
    row = inputs[asking].tolist()
    terms = ", ".join(dot_terms(row, column) for column in query_weights.T.tolist())
    scores, scaled = steps.scores[asking].tolist(), steps.scaled[asking].tolist()
    powers = [f"e^({decimals(score)})" for score in scaled]
    weights = steps.weights[asking].tolist()
    mixed = product_sum(map(decimals, weights), map(vector, steps.values.tolist()))
    return {
        "query_sum": f"q = {vector(row)} · W_q = ({terms}) = {vector(query)}",
        "score_sum": "; ".join(
            f"{word}: {dot_terms(query, key)} = {short(score)}"
            for word, key, score in zip(words, keys, scores, strict=True)
        ),
        "scaled_sum": "; ".join(
            f"{short(score)} / √2 = {decimals(one)}" for score, one in zip(scores, scaled, strict=True)
        ),
        "weight_sum": [
            part
            for index, (word, power, weight) in enumerate(zip(words, powers, weights, strict=True))
            for part in (
                f"{'; ' if index else ''}{word}: ",
                {"formula": power},
                " / (",
                {"formula": " + ".join(powers)},
                f") = {decimals(weight)}",
            )
        ],
        "output_sum": f"{mixed} = {vector(steps.output[asking].tolist(), 2)}",
    }


def _dictionary(steps: AttentionSteps, words: Sequence[str], asking: int, sharpness: float) -> dict[str, Any]:
    """Look up one query among all keys."""
    weights, value = soft_lookup(steps.queries[asking], steps.keys, steps.values, sharpness)
    rows = zip(words, steps.keys.tolist(), steps.scores[asking].tolist(), weights.tolist(), steps.values, strict=True)
    return {
        "entries": [
            [word, vector(key), short(score), {"bar": weight, "text": decimals(weight)}, vector(value.tolist())]
            for word, key, score, weight, value in rows
        ],
        "query": vector(steps.queries[asking].tolist()),
        "found": vector(value.tolist(), 2),
    }


def _scaling(inputs: Inputs) -> dict[str, Any]:
    scaled = scale_scores(torch.tensor(inputs["dots"][0]), inputs["width"])
    return {
        "scaling.scaled": sent(scaled.scaled[None]),
        "scaling.weights": sent(scaled.weights[None]),
        "scaling.unscaled": sent(scaled.unscaled[None]),
    }


def _masked(inputs: Inputs) -> dict[str, Any]:
    scores = torch.tensor(inputs["scores"])  # (T, T)
    mask = additive_mask(len(scores), MASKS[inputs["mask"]])  # type: ignore[arg-type]
    return {
        "line": labels(inputs["line"], len(scores)),
        "masking.mask": sent(mask),
        "masking.sum": sent(scores + mask),
        "masking.weights": sent((scores + mask).softmax(dim=-1), DIGITS),
    }


def _cross(inputs: Inputs) -> dict[str, Any]:
    steps = attention_steps(*(_tensor(inputs[f"cross_{part}"]) for part in ("queries", "keys", "values")))
    source, target = labels(inputs["source"], len(steps.keys)), labels(inputs["target"], len(steps.queries))
    weights, values = steps.weights[-1].tolist(), steps.values.tolist()
    parts, numbers = (product_sum(map(decimals, weights), of) for of in (source.split(), map(vector, values)))
    return {
        "source": source,
        "target": target,
        "last": target.split()[-1],
        "cross": sent(steps, DIGITS),
        "cross_sum": f"{parts} = {numbers} = {vector(steps.output[-1].tolist(), 2)}",
    }


# ---- the exercises ----


def _shape_of_cross(compute: Compute) -> list[bool]:
    """Weights have a row for each query and a column for each key."""
    cross = compute({})["cross"]
    rows, columns = len(cross["queries"]), len(cross["keys"])
    shape = (len(cross["weights"]), len(cross["weights"][0]))
    return [shape == option for option in ((rows, rows), (columns, rows), (rows, columns), (columns, columns))]


def _sharpened(compute: Compute) -> list[bool]:
    """What a longer query does to the largest weight: nothing, raise it, or lower it."""
    before, after = (
        max(entry[3]["bar"] for entry in compute({"sharpness": sharpness})["entries"]) for sharpness in (1, 10)
    )
    return [math.isclose(after, before), after > before, after < before]


_SCALED_SCORE = value_of({"vectors": [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]]}, "steps", "scaled", 2, 0)

CHAPTER = Chapter(
    compute,
    INPUTS,
    values=" ".join(f"steps.{name}" for name in AttentionSteps.__slots__)
    + " asker query_sum score_sum scaled_sum weight_sum output_sum entries query found"
    " scaling.scaled scaling.weights scaling.unscaled masking.mask masking.sum masking.weights"
    " last cross.scaled cross.weights cross.output cross_sum"
    " heads.weights heads.mixed heads.joined heads.output rotary rotary_key",
    exercises={
        "sharpened": ChoiceExercise(_sharpened, 3, predicted=True),
        "scaled_score": NumberExercise(
            _SCALED_SCORE,
            digits=2,
            mistakes={
                "unscaled": lambda compute: _SCALED_SCORE(compute) * math.sqrt(2),
                "width": lambda compute: _SCALED_SCORE(compute) / math.sqrt(2),
            },
        ),
        "masked_row": NumberExercise(
            value_of({"mask": "later"}, "masking.weights", 1, 0),
            digits=2,
            mistakes={"unmasked": value_of({"mask": "none"}, "masking.weights", 1, 0)},
        ),
        "shape_of_cross": ChoiceExercise(_shape_of_cross, 4),
        "one_word_decides": ChangeExercise(
            [("steps.weights.1.1", ">", 0.9)], {"query_weights": [[1.0, -1.0], [-1.0, 3.0]]}
        ),
    },
    facts={
        f"spread_{width}": decimals(spread, 1)
        for width, spread in zip(WIDTHS, dot_spread(WIDTHS, samples=10_000, seed=0), strict=True)
    }
    | {"one_dot": "112", "other_dot": "96"},
)
