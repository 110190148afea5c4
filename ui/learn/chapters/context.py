"""The chapter on a word in its context, which `lesson/context.py` reads in models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lesson.context import similarities_by_layer, word_in_context
from model.encoder import cosines
from model.errors import AttendError
from ui.learn.chapter import Chapter
from ui.learn.exercises.checks import needed
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, nearest, value_of
from ui.learn.inputs import Inputs, checked_by_chapter, matrix, offered, text
from ui.learn.text.slots import cases, field, select
from ui.learn.wording import counted, decimals, product_sum, rounded, sent, short, vector
from ui.runs.models import Models

_NAMES = {"first": "The first meaning", "second": "The second meaning", "lines": "The list of texts"}
MAX_CHARACTERS, MAX_SENTENCES, FOLLOWING = 300, 6, 5
RECORDED_FILE = Path(__file__).parent / "context_recorded.json"
WORD = "apple"
# `encoder`, its name, and `words`: of each the sentences of both meanings and its layers; made by docs/contexts.py
RECORDED: Mapping[str, Any] = json.loads(RECORDED_FILE.read_text())

# the verb, then the noun: what attend-chat, of 5.9 million parameters, tells apart well
TEXTS = ("I want to watch", "Tonight we will watch", "He bought a new watch", "She looked at her watch")
APPLE = [5.0, 7.0]
_MEANINGS = {name: "\n".join(RECORDED["words"][WORD][name]) for name in ("first", "second")}
INPUTS = {
    # lectures: 0.8 · (5, 7) + 0.2 · (0, 8) and 0.9 · (5, 7) + 0.1 · (6, 0)
    "with_fruit": matrix([[0.8, *APPLE], [0.2, 0.0, 8.0]]),
    "with_phone": matrix([[0.9, *APPLE], [0.1, 6.0, 0.0]]),
    "word": text(WORD, 40, "The word", size=10),
    # the recorded encoder, or one in use, which reads other words
    "encoder": checked_by_chapter(RECORDED["encoder"], select("encoders")),
    # one sentence a line
    **{name: checked_by_chapter(sentences, field(rows=4)) for name, sentences in _MEANINGS.items()},
    "lines": text("\n".join(TEXTS), MAX_SENTENCES * MAX_CHARACTERS, _NAMES["lines"], rows=4, wide=True),
    "meant": text("watch", 40, "The word", size=10),
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    return {**_by_hand(inputs), **_by_layer(models, inputs), **_left_to_right(models, inputs)}


def _by_hand(inputs: Inputs) -> dict[str, Any]:
    """The word's vector as the weighted sum of its own and a neighbour's, in two texts."""
    fruit, phone = inputs["with_fruit"], inputs["with_phone"]
    one, other = (_weighted(torch.tensor(rows, dtype=torch.float64)) for rows in (fruit, phone))
    alike = cosines([one, other])[0, 1].item()
    return {
        "sums": sent(torch.stack([one, other])),
        "fruit_sum": _sum(fruit, one),
        "phone_sum": _sum(phone, other),
        "alike": rounded(alike),
        "cosine": decimals(alike, 3),
    }


def _sum(rows: list[list[float]], total: Tensor) -> str:
    """A weighted sum written out."""
    terms = product_sum((short(weight) for weight, *_ in rows), (vector(of) for _, *of in rows))
    return f"{terms} = {vector(total.tolist(), 1)}"


def _weighted(rows: Tensor) -> Tensor:
    """The weighted sum (W,) of rows (N, 1 + W), each a weight and a vector."""
    return rows[:, 0] @ rows[:, 1:]


def _by_layer(models: Models, inputs: Inputs) -> dict[str, Any]:
    """One word in the sentences of two meanings, read by an encoder in use; without one, of a recorded word."""
    word = inputs["word"].strip()
    encoder, words = inputs.get("encoder"), RECORDED["words"]
    live = encoder in models.encoders()
    missing = "" if live or word in words else word
    word = WORD if missing else word
    if live:
        example = words.get(word, words[WORD])
        one, other = (_sentences(inputs.get(key, "\n".join(example[key])), _NAMES[key]) for key in ("first", "second"))
        layers = sent(similarities_by_layer(models.encoder(str(encoder)), word, (one, other)))
    else:
        one, other, layers = (words[word][key] for key in ("first", "second", "layers"))
    name = RECORDED["encoder"]
    return {
        "encoder": encoder if live else name,
        "encoders": [(name, f"{name} (recorded)"), *((name, models.display_name(name)) for name in models.encoders())],
        "recorded": not live,
        "source": [*(["missing"] if missing else []), "computed" if live else "recorded"],
        "readonly": [] if live else ["word", "first", "second"],
        "missing": missing,
        "recorded_from": name,
        "examples": [(one, {"word": one, "first": None, "second": None}) for one in words],
        "word": word,
        "word_read": word,
        "first": "\n".join(one),
        "second": "\n".join(other),
        "sentences": [*one, *other],
        "split": len(one),
        "layers": layers,
    }


def _sentences(typed: Any, subject: str) -> list[str]:
    lines = text("", MAX_SENTENCES * MAX_CHARACTERS, subject).read({"lines": typed}, "lines").splitlines()
    sentences = [line.strip() for line in lines if line.strip()]
    if not 2 <= len(sentences) <= MAX_SENTENCES:
        raise AttendError(
            f"{subject} has {counted(len(sentences), 'sentence')}: enter 2 to {MAX_SENTENCES}, one per line."
        )
    return sentences


def _left_to_right(models: Models, inputs: Inputs) -> dict[str, Any]:
    """One word in several texts, as the first model that continues texts has it when it has read them so far."""
    lines, meant = _sentences(inputs["lines"], _NAMES["lines"]), inputs["meant"].strip()
    known = offered(models, models.default)
    reader = next((loaded for loaded in map(models.get, known) if not loaded.model.decoder_start), None)
    result = {"lines": "\n".join(lines), "meant": meant}
    if reader is None:
        return {**result, "reader": "", "no_reader": ["no reader"], "cosines": None, "following": []}
    words, label = [word_in_context(reader, line, meant, FOLLOWING) for line in lines], reader.tokenizer.label
    return {
        **result,
        "reader": reader.name,
        "no_reader": [],
        "cosines": sent(cosines([word.vector for word in words])),
        "following": [
            (line, [(label(token), rounded(share)) for token, share in word.following])
            for line, word in zip(lines, words, strict=True)
        ],
    }


# ---- the exercises ----

_WORDS = tuple(RECORDED["words"])  # the options of the choice
_PAIRS = tuple(combinations(range(len(TEXTS)), 2))


_PHONE = [5.0, 7.0], [6.0, 0.0]


def _weighted_sum(compute: Compute, weights: tuple[float, float] = (0.7, 0.3)) -> float:
    rows = [[weight, *of] for weight, of in zip(weights, _PHONE, strict=True)]
    return compute({"with_phone": rows})["sums"][1][0]


def _cosine_of_two(compute: Compute) -> float:
    alone = [[1.0, 4.0, 3.0], [0.0, 0.0, 0.0]], [[1.0, 5.0, 0.0], [0.0, 0.0, 0.0]]
    return compute({"with_fruit": alone[0], "with_phone": alone[1]})["alike"]


def _gaps(compute: Compute) -> list[float]:
    """How far apart the meanings of each word are in the last layer."""
    last = (compute({"word": word})["layers"][-1] for word in _WORDS)
    return [layer["same"] - layer["different"] for layer in last]


def _likeness(compute: Compute) -> list[float]:
    cosines = needed(compute({})["cosines"])
    return [cosines[one][other] for one, other in _PAIRS]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values="fruit_sum phone_sum cosine missing word_read recorded_from examples reader cosines",
    slots={"source": cases("missing", "recorded", "computed"), "no_reader": cases("no reader")},
    exercises={
        "before_attention": nearest((1.0, 0.66, 0.0), value_of({}, "layers", 0, "different"), predicted=True),
        "weighted_sum": NumberExercise(
            _weighted_sum,
            digits=1,
            mistakes={
                "swapped": lambda compute: _weighted_sum(compute, (0.3, 0.7)),
                "mean": lambda compute: _weighted_sum(compute, (0.5, 0.5)),
            },
        ),
        "cosine_of_two": NumberExercise(
            _cosine_of_two,
            digits=2,
            mistakes={
                "dot": lambda compute: 25 * _cosine_of_two(compute),
                "one_length": lambda compute: 5 * _cosine_of_two(compute),
            },
        ),
        "points_elsewhere": ChangeExercise(
            [("alike", "<", 0.9)],
            {"with_phone": [[0.5, 5, 7], [0.5, 6, 0]]},
            {"closer": [("alike", ">", 0.99)]},
        ),
        "furthest_apart": ChoiceExercise(_gaps, len(_WORDS)),
        "closest": ChoiceExercise(_likeness, len(_PAIRS)),
    },
    facts={"start": vector(APPLE)},
)
