"""The chapter on what happens inside: one sentence of attend-chat, which `lesson/inside.py` looks into."""

from __future__ import annotations

import math
from typing import Any

from lesson.inside import Guesses, Insides, look_inside, patch_word
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.learn.chapter import Chapter
from ui.learn.exercises.checks import needed
from ui.learn.exercises.exercise import (
    ChangeExercise,
    ChoiceExercise,
    Compute,
    NumberExercise,
    value_of,
)
from ui.learn.inputs import Inputs, checked_by_chapter, matrix, text, whole
from ui.learn.text.slots import cases, select
from ui.learn.wording import bare_label, bare_labels, decimals, percent, rounded, sent, short
from ui.runs.models import Models

READER = "attend-chat"
SENTENCE, OTHER = "My dog is called Max. My dog is called", "My dog is called Tom. My dog is called"
LAYER, HEAD = 6, 7  # on which the sentence depends most; counted from 1
GUESSES, MAX_CHARACTERS = 4, 120
LEAST_DIFFERENCE = 1e-6  # between two sentences, a part of which is restored
_LOOK = {"maxlength": MAX_CHARACTERS, "wide": True}
INPUTS = {
    "sentence": text(SENTENCE, MAX_CHARACTERS, **_LOOK),
    "layer": checked_by_chapter(LAYER, select("layers")),
    "head": checked_by_chapter(HEAD, select("heads")),
    "other": text(OTHER, MAX_CHARACTERS, "The other sentence", **_LOOK),
    "two_shares": matrix([[0.6, 0.1]]),
    "three_differences": matrix([[3.0, -5.0, 1.0]]),
}
_NOTHING = {
    **dict.fromkeys(("guesses", "switched_off", "effects", "places", "carriers")),
    **dict.fromkeys(("tokens", "other_tokens", "with_head", "without_head", "answer", "other_answer"), ()),
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    by_hand = _by_hand(inputs["two_shares"][0], inputs["three_differences"][0])
    if READER not in models.names:
        numbers = {"layers": LAYER, "heads": HEAD, "layer": LAYER, "head": HEAD}
        return {**_NOTHING, **numbers, **by_hand, "reader": ["missing"]}
    loaded = models.get(READER)
    layers, heads = loaded.model.layer_count, loaded.model.inspect((0,)).attention.decoder.shape[2]
    layer, head = whole(LAYER, 1, layers).read(inputs, "layer"), whole(HEAD, 1, heads).read(inputs, "head")
    inside = look_inside(loaded, inputs["sentence"], (layer - 1, head - 1), count=GUESSES)
    others, answers, patched = patch_word(loaded, inputs["sentence"], inputs["other"])
    return {
        **by_hand,
        "reader": [],
        "layers": layers,
        "heads": heads,
        "layer": layer,
        "head": head,
        "tokens": bare_labels(loaded, inside.tokens),
        "other_tokens": bare_labels(loaded, others),
        "guesses": [_row(loaded, inside, position) for position in range(len(inside.tokens))],
        "with_head": _bars(loaded, inside.guesses),
        "without_head": _bars(loaded, inside.without),
        "switched_off": {"before": rounded(inside.guesses[0][1]), "after": rounded(inside.without[0][1])},
        "effects": sent(inside.effects),
        "answer": bare_label(loaded, answers[0][0]),
        "other_answer": bare_label(loaded, answers[1][0]),
        "places": sent(patched.positions),
        "carriers": sent(patched.heads),
    }


def _by_hand(shares: list[float], differences: list[float]) -> dict[str, Any]:
    """What switching off and patching measure, with numbers of the reader's."""
    if not all(0 < share <= 1 for share in shares):
        raise AttendError("A probability must be above 0 and at most 1.")
    first, other, patched = differences
    if abs(first - other) < LEAST_DIFFERENCE:
        raise AttendError(
            f"The differences of both sentences must be at least {short(LEAST_DIFFERENCE)} apart, or there is nothing "
            "to restore: change one of them."
        )
    with_head, without = shares
    change, restored = math.log(without) - math.log(with_head), (patched - other) / (first - other)
    way, whole_way = (f"({_term(end)} − {_term(other)})" for end in (patched, first))
    return {
        "change": rounded(change),
        "change_by_hand": f"ln {short(without)} − ln {short(with_head)} = {decimals(change)}",
        "restored": rounded(restored),
        "restored_by_hand": f"{way} / {whole_way} = {decimals(restored)}",
    }


def _term(number: float) -> str:
    """A number in a difference."""
    return f"({short(number)})" if number < 0 else short(number)


def _row(loaded: LoadedModel, inside: Insides, position: int) -> list[Any]:
    """A token, and each layer's guess after it."""
    tops, shares = (column[:, position].tolist() for column in (inside.lens.top, inside.lens.top_probability))
    guesses = (f"{bare_label(loaded, token)} {percent(share, 0)}" for token, share in zip(tops, shares, strict=True))
    return [{"token": loaded.tokenizer.label(inside.tokens[position])}, *guesses]


def _bars(loaded: LoadedModel, guesses: Guesses) -> list[tuple[Any, float | None, str]]:
    return [({"token": loaded.tokenizer.label(token)}, rounded(share), percent(share, 1)) for token, share in guesses]


# ---- the exercises ----


def _last_row(compute: Compute) -> list[float]:
    """How much each of the two heads that the text names restores, and two others."""
    carriers = needed(compute({})["carriers"])
    return [carriers[layer - 1][head - 1] for layer, head in CARRIERS]


def _first_seen(compute: Compute) -> list[bool]:
    """Whether each layer is the first after which the lens shows the answer, after the last token."""
    result = compute({})
    guesses = needed(result["guesses"])
    shows = [str(guess).startswith(f"{result['answer']} ") for guess in guesses[-1][1:]]
    return [shows.index(True) == layer for layer in LENS_LAYERS]


_CHANGE = value_of({"two_shares": [[0.8, 0.2]]}, "change")
_RESTORED = value_of({"three_differences": [[4.0, -6.0, -1.0]]}, "restored")
LENS_LAYERS = (2, 4, 6)  # options of the prediction
CARRIERS = ((6, 7), (5, 4), (4, 6), (1, 5))  # options of the choice

CHAPTER = Chapter(
    compute,
    INPUTS,
    values="guesses with_head without_head effects other_tokens places carriers answer other_answer change_by_hand "
    "restored_by_hand",
    slots={"reader": cases("missing")},
    exercises={
        "first_seen": ChoiceExercise(_first_seen, len(LENS_LAYERS), predicted=True),
        "change": NumberExercise(
            _CHANGE,
            digits=2,
            mistakes={
                "difference": lambda compute: math.exp(_CHANGE(compute)) * 0.8 - 0.8,
                "base_two": lambda compute: _CHANGE(compute) / math.log(2),
            },
        ),
        "restored": NumberExercise(
            _RESTORED,
            digits=2,
            mistakes={
                "way": lambda compute: _RESTORED(compute) * 10 / 4,
                "from_zero": lambda compute: _RESTORED(compute) - 0.75,
            },
        ),
        "a_head_against": ChangeExercise(
            [("switched_off.after", ">", "switched_off.before")],  # the answer becomes likelier without it
            {"layer": 1, "head": 5},
            {"for_it": [("switched_off.after", "<", "switched_off.before")]},
        ),
        "who_carries": ChoiceExercise(_last_row, len(CARRIERS)),
    },
    facts={"model": READER, "best_layer": str(LAYER), "best_head": str(HEAD)},
)
