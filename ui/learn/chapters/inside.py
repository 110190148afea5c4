"""The chapter on what happens inside: one sentence of attend-chat, which `lesson/inside.py` looks into."""

from __future__ import annotations

from typing import Any

from lesson.inside import Guesses, Insides, look_inside, patch_word
from model.loaded import LoadedModel
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, Result
from ui.learn.inputs import Given, own, text, whole
from ui.learn.text.slots import cases, select
from ui.learn.wording import percent, rounded, rounded_rows
from ui.runs.models import Models

READER = "attend-chat"
SENTENCE, OTHER = "My dog is called Max. My dog is called", "My dog is called Tom. My dog is called"
LAYER, HEAD = 6, 7  # on which the sentence depends most; counted from 1
GUESSES, MAX_CHARACTERS = 4, 120
_LOOK = {"maxlength": MAX_CHARACTERS, "wide": True}
INPUTS = {
    "sentence": text(SENTENCE, MAX_CHARACTERS, **_LOOK),
    "layer": own(LAYER, select("layers")),
    "head": own(HEAD, select("heads")),
    "other": text(OTHER, MAX_CHARACTERS, "The other sentence", **_LOOK),
}
_NOTHING = {"tokens": [], "other_tokens": [], "guesses": None, "effects": None, "places": None, "carriers": None}


def compute(models: Models, given: Given) -> dict[str, Any]:
    if READER not in models.names:
        return {**_NOTHING, "reader": ["missing"], "layers": LAYER, "heads": HEAD, "layer": LAYER, "head": HEAD} | {
            name: [] for name in ("with_head", "without_head", "answer", "other_answer")
        }
    loaded = models.get(READER)
    layers, heads = loaded.model.layer_count, loaded.model.inspect((0,)).attention.decoder.shape[2]
    layer, head = whole(LAYER, 1, layers).read(given, "layer"), whole(HEAD, 1, heads).read(given, "head")
    inside = look_inside(loaded, given["sentence"], (layer - 1, head - 1), count=GUESSES)
    others, answers, patched = patch_word(loaded, given["sentence"], given["other"])
    return {
        "reader": [],
        "layers": layers,
        "heads": heads,
        "layer": layer,
        "head": head,
        "tokens": _labels(loaded, inside.tokens),
        "other_tokens": _labels(loaded, others),
        "guesses": [_row(loaded, inside, position) for position in range(len(inside.tokens))],
        "with_head": _bars(loaded, inside.guesses),
        "without_head": _bars(loaded, inside.without),
        "before": rounded(inside.guesses[0][1]),
        "after": rounded(inside.without[0][1]),
        "effects": rounded_rows(inside.effects),
        "answer": _label(loaded, answers[0][0]),
        "other_answer": _label(loaded, answers[1][0]),
        "places": rounded_rows(patched.positions),
        "carriers": rounded_rows(patched.heads),
    }


def _row(loaded: LoadedModel, inside: Insides, position: int) -> list[Any]:
    """A token, and each layer's guess after it."""
    tops, shares = (column[:, position].tolist() for column in (inside.lens.top, inside.lens.top_probability))
    guesses = (f"{_label(loaded, token)} {percent(share, 0)}" for token, share in zip(tops, shares, strict=True))
    return [{"token": loaded.tokenizer.label(inside.tokens[position])}, *guesses]


def _label(loaded: LoadedModel, token: int) -> str:
    """A token without the space before it."""
    label = loaded.tokenizer.label(token)
    return label.strip() or label


def _labels(loaded: LoadedModel, tokens: tuple[int, ...]) -> list[str]:
    return [_label(loaded, token) for token in tokens]


def _bars(loaded: LoadedModel, guesses: Guesses) -> list[tuple[Any, float | None, str]]:
    return [({"token": loaded.tokenizer.label(token)}, rounded(share), percent(share, 1)) for token, share in guesses]


# ---- the exercises ----


def _last_row(compute: Compute) -> list[float]:
    """How much each of the two heads that the text names restores, and two others."""
    carriers = compute({})["carriers"]
    return [carriers[layer - 1][head - 1] for layer, head in CARRIERS]


def _least_effect(result: Result) -> bool:
    """The head that is off is one without which the answer becomes likelier."""
    return bool(result["effects"]) and result["after"] > result["before"]


CARRIERS = ((6, 7), (5, 4), (4, 6), (1, 5))  # options of the choice

CHAPTER = Chapter(
    compute,
    INPUTS,
    values="guesses with_head without_head effects other_tokens places carriers answer other_answer",
    slots={"reader": cases("missing")},
    exercises={
        "without_the_head": NumberExercise(lambda compute: 100 * compute({})["after"]),
        "a_head_against": ChangeExercise(_least_effect, {"layer": 1, "head": 5}),
        "who_carries": ChoiceExercise(_last_row, len(CARRIERS)),
    },
    facts={"model": READER, "best_layer": str(LAYER), "best_head": str(HEAD)},
)
