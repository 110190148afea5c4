"""The chapter on attention as a weighted sum, which `lesson/attention/weighted_sum.py` computes."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import torch

from lesson.attention.weighted_sum import Mixture, by_division, by_softmax, self_attention
from lesson.recurrence.by_hand import ScoredStates, by_dot_product, by_small_network
from model.errors import AttendError
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, value_of
from ui.learn.inputs import Inputs, matrix, switch, text, whole, without_slot
from ui.learn.text.slots import button, cases, select
from ui.learn.wording import counted, decimals, dot_terms, labels, product_sum, rounded, sent, short, vector
from ui.runs.models import Models

WIDTH = 6  # of the vectors of a sentence's words
MAX_WORDS = 10
APPLE = [[1.0, 0.25]]  # its similarities to itself and to fruit
TABLES = {  # of a recurrent translator; the first state, the decoder's state and the weight 0.7 are a lecture's
    "weighted": [[0.7, 0.8, 0.2], [0.3, 0.1, 0.9]],
    "query": [[0.7, 0.3]],
    "states": [[0.8, 0.2], [0.1, 0.9], [0.9, 0.6]],
    "query_weights": [[1.0, 0.0], [0.0, 1.0]],
    "state_weights": [[1.0, 0.0], [0.0, 1.0]],
    "score_weights": [[1.0, 1.0]],
}
# Six words of three numbers: Raschka, Build a Large Language Model (From Scratch), chapter 3
SIX = "Your journey starts with one step"
SIX_VECTORS = [
    [0.43, 0.15, 0.89],
    [0.55, 0.87, 0.66],
    [0.57, 0.85, 0.64],
    [0.22, 0.58, 0.33],
    [0.77, 0.25, 0.10],
    [0.05, 0.80, 0.55],
]
INPUTS = {
    # apple beside fruit, from lectures: similarities 1 and .25, vectors (5, 7) and (0, 8)
    "pair": text("apple fruit", 60, "The text", maxlength=60),
    "similarities": matrix(APPLE),
    "vectors": matrix([[5.0, 7.0], [0.0, 8.0]]),
    "six": text(SIX, 80, "The text", maxlength=80, wide=True),
    "six_vectors": matrix(SIX_VECTORS),
    "asking": whole(2, 1, len(SIX_VECTORS), select("askers")),  # counted from 1
    **{name: matrix(first) for name, first in TABLES.items()},
    "sentence": text("the dog bites the man", 200, maxlength=200, wide=True, also={"shuffle": 0}),
    "shuffle": without_slot(whole(0, 0, 1_000_000)),  # counts shuffles; 0 is the sentence as it was typed
    "positions": switch(subject="The positions"),
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    similarities, vectors = inputs["similarities"], inputs["vectors"]
    if min(similarities[0]) < 0 or sum(similarities[0]) <= 0:
        raise AttendError(
            f"The similarities are {' and '.join(f'{one:g}' for one in similarities[0])}, but division by their sum "
            "needs numbers that are not negative and not all zero: change them. Only softmax can use any numbers."
        )
    # double precision: in single, similarities that are tiny sum to zero
    near, points = (torch.tensor(rows, dtype=torch.float64) for rows in (similarities[0], vectors))  # (N,), (N, W)
    pair = labels(inputs["pair"], len(vectors))
    return {
        "pair": pair,
        "word": pair.split()[0],
        "division": _mixed(by_division(near, points), vectors),
        "softmax": _mixed(by_softmax(near, points), vectors),
        **_six(inputs),
        **_translator({name: inputs[name] for name in TABLES}),
        **_order(inputs),
    }


def _six(inputs: Inputs) -> dict[str, Any]:
    """A sentence in which one word asks all."""
    words, rows, asking = labels(inputs["six"], len(SIX_VECTORS)), inputs["six_vectors"], inputs["asking"] - 1
    vectors = torch.tensor(rows, dtype=torch.float64)  # (6, 3)
    scored = by_dot_product(vectors[asking], vectors)
    weights = scored.mixture.weights.tolist()
    return {
        "six": words,
        "askers": [(index, word) for index, word in enumerate(words.split(), start=1)],
        "asker": words.split()[asking],
        "six_scored": _scored(scored),
        "six_score": f"{dot_terms(rows[asking], rows[0])} = {short(float(scored.scores[0]))}",
        "six_first": words.split()[0],
        "six_sum": product_sum(map(decimals, weights), words.split()),
    }


def _translator(tables: Mapping[str, list[list[float]]]) -> dict[str, Any]:
    """The decoder of a recurrent translator asks the encoder's states, in two ways."""
    values = {name: torch.tensor(rows, dtype=torch.float64) for name, rows in tables.items()}
    query, states, weighted = values["query"][0], values["states"], values["weighted"]  # (2,), (3, 2), (2, 3)
    products = weighted[:, :1] * weighted[:, 1:]  # (2, 2)
    learned = (values["query_weights"], values["state_weights"], values["score_weights"][0])
    terms = product_sum(
        (short(weight) for weight, *_ in tables["weighted"]), (vector(of) for _, *of in tables["weighted"])
    )
    added, context = " + ".join(map(vector, products.tolist())), vector(products.sum(dim=0).tolist())
    dot = by_dot_product(query, states)
    return {
        "score_sum": f"{dot_terms(tables['query'][0], tables['states'][0])} = {short(float(dot.scores[0]))}",
        "products": sent(products),
        "context_sum": f"{terms} = {added} = {context}",
        "dot": _scored(dot),
        "additive": _scored(by_small_network(query, states, *learned)),
    }


def _scored(scored: ScoredStates) -> dict[str, Any]:
    return {
        "scores": sent(scored.scores[None], 6),  # a table of four decimals shows all of them
        "weights": sent(scored.mixture.weights[None], 6),
        "context": sent(scored.mixture.vector[None], 6),
    }


def _order(inputs: Inputs) -> dict[str, Any]:
    """The sentence as it was typed and shuffled, through attention without parameters."""
    words, shuffle, positions = inputs["sentence"].lower().split(), inputs["shuffle"], inputs["positions"]
    if not 2 <= len(words) <= MAX_WORDS:
        raise AttendError(f"The sentence has {counted(len(words), 'word')}, but must have 2 to {MAX_WORDS}: change it.")
    order = list(range(len(words)))
    if shuffle:
        random.Random(shuffle).shuffle(order)
    shuffled = [words[index] for index in order]
    before, after = (
        self_attention(order_of_words, WIDTH, positions=positions) for order_of_words in (words, shuffled)
    )  # (N, W) each
    moved = float((after - before[order]).abs().max())  # of every word to itself at its other place
    changed = "unchanged" if moved < 1e-5 else "changed with positions" if positions else "changed"
    return {
        "words": words,
        "shuffled": shuffled,
        "before": sent(before),
        "after": sent(after),
        "moved": rounded(moved, 2),
        "verdict": changed if shuffle else "not shuffled",
    }


def _mixed(mixture: Mixture, vectors: list[list[float]]) -> dict[str, Any]:
    terms = product_sum(map(decimals, mixture.weights.tolist()), map(vector, vectors))
    return {
        "weights": sent(mixture.weights[None]),
        "vector": sent(mixture.vector[None]),
        "sum": f"{terms} = {vector(mixture.vector.tolist(), 2)}",
    }


def _first_weights(compute: Compute) -> list[float]:
    firsts = [compute({"similarities": [[1.0, other]]})["softmax"]["weights"][0][0] for other in (0.25, 0.0)]
    lead_of_two = compute({"similarities": [[2.0, 0.0]]})["softmax"]["weights"][0][0]  # as far apart as 1 and -1
    return [*firsts, lead_of_two]


def _shuffled(compute: Compute) -> list[bool]:
    """What shuffling does to a word's new vector: nothing, a little, or much."""
    moved = compute({"shuffle": 1})["moved"]
    return [moved < 1e-5, 1e-5 <= moved < 1, moved >= 1]


_DOT = value_of({"query": [[0.5, 0.4]], "states": [[0.6, 0.9], [0, 0], [0, 0]]}, "dot", "scores", 0, 0)
_APPLE = torch.tensor(APPLE[0])
_DIVIDED, _SOFTMAX = (mix(_APPLE, _APPLE[:, None]).weights.tolist() for mix in (by_division, by_softmax))

CHAPTER = Chapter(
    compute,
    INPUTS,
    values="word division.weights division.vector division.sum softmax.weights softmax.vector softmax.sum "
    "asker six_scored.scores six_scored.weights six_scored.context six_score six_first six_sum score_sum context_sum "
    "dot.scores dot.weights dot.context additive.scores additive.weights additive.context "
    "moved words shuffled before after",
    slots={
        "shuffle": button(adds={"shuffle": 1}),
        "verdict": cases("not shuffled", "unchanged", "changed", "changed with positions"),
    },
    exercises={
        "shuffled": ChoiceExercise(_shuffled, 3, predicted=True),
        "weight_of_fruit": NumberExercise(
            value_of({"similarities": [[1.0, 0.6]]}, "division", "weights", 0, 1),
            digits=2,
            mistakes={
                "ratio": lambda _: 0.6,
                "softmax": value_of({"similarities": [[1.0, 0.6]]}, "softmax", "weights", 0, 1),
            },
        ),
        "most_lopsided": ChoiceExercise(_first_weights, 3),
        "half_of_the_weight": ChangeExercise(
            [("asking", "==", 2), ("six_scored.weights.0.4", ">", 0.5)],
            {"six_vectors": [*SIX_VECTORS[:4], [2.0, 2.0, 2.0], SIX_VECTORS[5]]},
        ),
        "dot_product": NumberExercise(_DOT, digits=2, mistakes={"crosswise": lambda _: 0.5 * 0.9 + 0.4 * 0.6}),
    },
    facts={
        "own": short(APPLE[0][0]),
        "other": short(APPLE[0][1]),
        "own_by_division": short(_DIVIDED[0], 2),
        "other_by_division": short(_DIVIDED[1], 2),
        "own_by_softmax": decimals(_SOFTMAX[0]),
        "other_by_softmax": decimals(_SOFTMAX[1]),
        "lead_of_one": decimals(math.e),
        "lead_of_five": decimals(math.exp(5), 0),
    },
)
