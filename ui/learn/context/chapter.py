"""The chapter on a word in its context: what `lesson/context.py` finds, as the page shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lesson.context import LayerSimilarities, similarities_by_layer, word_in_context
from model import names
from model.encoder import cosines
from model.errors import AttendError
from ui.learn.validation import Given, counted, matrix, rounded, rounded_rows, text
from ui.runs.models import Models

_NAMES = {"first": "The first meaning", "second": "The second meaning", "lines": "The list of texts"}
MAX_CHARACTERS, MAX_SENTENCES, FOLLOWING = 300, 6, 5
RECORDED_FILE = Path(__file__).parent / "recorded.json"
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
    return {
        **rows,
        "sums": rounded_rows(torch.stack([one, other])),
        "alike": rounded(cosines([one, other])[0, 1].item()),
    }


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
        "missing": missing,
        "words": tuple(words),
        "word": word,
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
        "cosines": rounded_rows(cosines([word.vector for word in found])) if found else [],
        "following": [
            [(reader.tokenizer.label(token), rounded(share)) for token, share in word.following] for word in found
        ]
        if reader
        else [],
    }
