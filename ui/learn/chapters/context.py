"""The chapter on a word in its context, which `lesson/context.py` reads in models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lesson.context import LayerSimilarities, similarities_by_layer, word_in_context
from model import names
from model.encoder import cosines
from model.errors import AttendError
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, Result
from ui.learn.text.slots import DRAWING, EXAMPLES, RESET, TEXT, area, cases, line, numbers, select, table
from ui.learn.validation import Given, counted, decimals, matrix, rounded, rounded_rows, short, text, vector
from ui.runs.models import Models

_NAMES = {"first": "The first meaning", "second": "The second meaning", "lines": "The list of texts"}
MAX_CHARACTERS, MAX_SENTENCES, FOLLOWING = 300, 6, 5
RECORDED_FILE = Path(__file__).parent / "context_recorded.json"
WORD = "apple"
# `encoder`, its name, and `words`: of each the sentences of both meanings and its layers; made by docs/contexts.py
RECORDED: Mapping[str, Any] = json.loads(RECORDED_FILE.read_text())

FIRST: Mapping[str, Any] = {
    # lectures: 0.8 · (5, 7) + 0.2 · (0, 8) and 0.9 · (5, 7) + 0.1 · (6, 0)
    "with_fruit": [[0.8, 5.0, 7.0], [0.2, 0.0, 8.0]],
    "with_phone": [[0.9, 5.0, 7.0], [0.1, 6.0, 0.0]],
    "word": WORD,
    "encoder": RECORDED["encoder"],
    "first": "\n".join(RECORDED["words"][WORD]["first"]),
    "second": "\n".join(RECORDED["words"][WORD]["second"]),
    # the verb, then the noun: what attend-chat, of 5.9 million parameters, tells apart well
    "lines": "I want to watch\nTonight we will watch\nHe bought a new watch\nShe looked at her watch",
    "meant": "watch",
}


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: any of the keys of `FIRST`; `encoder` is the recorded one or one in use, which alone reads other words
            and `first` and `second`, the sentences of each meaning, one a line.
    """
    return {**_by_hand(given), **_by_layer(models, given), **_left_to_right(models, given)}


def layer_value(layer: LayerSimilarities) -> dict[str, Any]:
    """A layer as it is recorded and sent."""
    return {
        "cosines": rounded_rows(layer.cosines),
        "same": rounded(layer.same),
        "different": rounded(layer.different),
        "control": rounded(layer.control),
        "points": rounded_rows(layer.points),
        "shares": [rounded(share) for share in layer.shares],
    }


def _by_hand(given: Given) -> dict[str, Any]:
    """The word's vector as the weighted sum of its own and a neighbour's, in two texts."""
    rows = {name: matrix(given, name, FIRST[name]) for name in ("with_fruit", "with_phone")}
    one, other = (_weighted(torch.tensor(of, dtype=torch.float64)) for of in rows.values())
    alike = cosines([one, other])[0, 1].item()
    return {
        **rows,
        "sums": rounded_rows(torch.stack([one, other])),
        "fruit_sum": _sum(rows["with_fruit"], one),
        "phone_sum": _sum(rows["with_phone"], other),
        "alike": rounded(alike),
        "cosine": decimals(alike, 3),
    }


def _sum(rows: list[list[float]], total: Tensor) -> str:
    """A weighted sum written out."""
    terms = " + ".join(f"{short(weight)} · {vector(of)}" for weight, *of in rows)
    return f"{terms} = {vector(total.tolist(), 1)}"


def _weighted(rows: Tensor) -> Tensor:
    """The weighted sum (W,) of rows (N, 1 + W), each a weight and a vector."""
    return rows[:, 0] @ rows[:, 1:]


def _by_layer(models: Models, given: Given) -> dict[str, Any]:
    """One word in the sentences of two meanings, read by an encoder in use; without one, of a recorded word."""
    word = text(given, "word", WORD, 40, "The word").strip()
    encoder, words = given.get("encoder"), RECORDED["words"]
    live = encoder in models.encoders()
    missing = "" if live or word in words else word
    word = WORD if missing else word
    if live:
        example = words.get(word, words[WORD])
        one, other = (_sentences(given, key, example[key], _NAMES[key]) for key in ("first", "second"))
        read = similarities_by_layer(models.encoder(str(encoder)), word, (one, other))
        layers = [layer_value(layer) for layer in read]
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


def _sentences(given: Given, key: str, default: list[str], subject: str) -> list[str]:
    lines = text(given, key, "\n".join(default), MAX_SENTENCES * MAX_CHARACTERS, subject).splitlines()
    sentences = [line.strip() for line in lines if line.strip()]
    if not 2 <= len(sentences) <= MAX_SENTENCES:
        raise AttendError(
            f"{subject} has {counted(len(sentences), 'sentence')}: enter 2 to {MAX_SENTENCES}, one per line."
        )
    return sentences


def _left_to_right(models: Models, given: Given) -> dict[str, Any]:
    """One word in several texts, as the first model that continues texts has it when it has read them so far."""
    lines = _sentences(given, "lines", FIRST["lines"].splitlines(), _NAMES["lines"])
    meant = text(given, "meant", FIRST["meant"], 40, "The word").strip()
    offered = dict.fromkeys((*(name for name in names.embedded() if name in models.names), models.default))
    reader = next((loaded for loaded in map(models.get, offered) if not loaded.model.decoder_start), None)
    found = [] if reader is None else [word_in_context(reader, line, meant, FOLLOWING) for line in lines]
    return {
        "lines": "\n".join(lines),
        "meant": meant,
        "reader": "" if reader is None else reader.name,
        "no_reader": ["no reader"] if reader is None else [],
        "cosines": rounded_rows(cosines([word.vector for word in found])) if found else None,
        "following": [
            (line, [(reader.tokenizer.label(token), rounded(share)) for token, share in word.following])
            for line, word in zip(lines, found, strict=True)
        ]
        if reader
        else [],
    }


# ---- the exercises ----

_WORDS = tuple(RECORDED["words"])  # the options of the choice
_PAIRS = tuple(combinations(range(len(FIRST["lines"].splitlines())), 2))


def _last(compute: Compute, word: str) -> Result:
    return compute({"word": word})["layers"][-1]


def _furthest_apart(compute: Compute) -> int:
    gaps = [last["same"] - last["different"] for last in (_last(compute, word) for word in _WORDS)]
    return gaps.index(max(gaps))


def _closest(compute: Compute) -> int:
    alike = compute({})["cosines"]
    pairs = [alike[one][other] for one, other in _PAIRS]
    return pairs.index(max(pairs))


_COLUMNS = ("weight", "x", "y")
CHAPTER = Chapter(
    answer,
    slots={
        "reset": RESET,
        "with_fruit": numbers(("apple", "fruit"), _COLUMNS),
        "with_phone": numbers(("apple", "phone"), _COLUMNS),
        "fruit_sum": TEXT,
        "phone_sum": TEXT,
        "cosine": TEXT,
        "encoder": select("encoders"),
        "word": line(size=10),
        "examples": EXAMPLES,
        "first": area(4),
        "second": area(4),
        "source": cases("missing", "recorded", "computed"),
        **dict.fromkeys(("missing", "word_read", "recorded_from"), TEXT),
        "layers": DRAWING,
        "meant": line(size=10),
        "lines": area(4, wide=True),
        "no_reader": cases("no reader"),
        "reader": TEXT,
        "cosines": table("1", "1", scale="share"),
        "following": DRAWING,
    },
    exercises={
        "points_elsewhere": ChangeExercise(
            lambda result: result["alike"] < 0.9, {"with_phone": [[0.5, 5, 7], [0.5, 6, 0]]}
        ),
        "different_meanings": NumberExercise(lambda compute: _last(compute, WORD)["different"], digits=2),
        "furthest_apart": ChoiceExercise(_furthest_apart, len(_WORDS)),
        "closest": ChoiceExercise(_closest, len(_PAIRS)),
    },
    first=FIRST,
    facts={"start": lambda: vector(FIRST["with_fruit"][0][1:])},
)
