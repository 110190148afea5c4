"""The chapter on how a text is generated, which `lesson/generation/` computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

import torch

from decoding.processors.temperature import TEMPERATURE
from lesson.generation.filters import SLIDERS, changed, filter_step
from lesson.generation.recorded import RECORDINGS
from lesson.generation.tree import WEIGHTS, WORDS, WordTree
from ui.learn.chapter import Chapter
from ui.learn.chapters.views.filters import FOUR_WEIGHTS, VOCABULARY, bars_of, check_table, filtered_weights, stages_of
from ui.learn.chapters.views.greedy_texts import greedy_texts, looping_text
from ui.learn.chapters.views.loop import MAX_CHARACTERS, MODES, loop_words, run_of_loop, text_probability_words
from ui.learn.chapters.views.word_search import check_words, word_search
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise
from ui.learn.inputs import Input, Inputs, checked_by_chapter, choice, matrix, setting, switch, whole, without_slot
from ui.learn.text.slots import button, cases, drawing, field, options, presets
from ui.learn.wording import percent, short
from ui.runs.models import Models

MAX_SEED = 10_000
MAX_BEAMS = 3


# Raschka, "Build a Large Language Model (From Scratch)", 2024, section 5.3.1: what may follow "every effort moves you".
LOGITS = (4.51, 0.89, -1.90, 6.75, 1.63, -1.62, -1.89, 6.28, 1.79)
USED = (0, 0, 0, 2, 0, 0, 0, 1, 0)  # ours, so that the penalties have something to count

PRINTED = tuple(one.prompt for one in RECORDINGS)  # prompts whose answers are recorded

INPUTS = {
    # of the loop
    "mode": checked_by_chapter(slot=options(*MODES, also={"tokens": [], "prompt": None})),
    "prompt": checked_by_chapter(slot=field(maxlength=MAX_CHARACTERS, wide=True, also={"tokens": []})),
    "tokens": checked_by_chapter([]),
    "sample": switch(subject="Random draws"),
    "seed": without_slot(whole(1, 0, MAX_SEED)),
    "recorded": choice(RECORDINGS[0].prompt, PRINTED, options("life", "dream", values=PRINTED)),
    # of the filters, by hand and on nine words
    "weights": matrix([FOUR_WEIGHTS]),
    "hand_temperature": setting(SLIDERS[0]),
    "hand_top_k": whole(3, 0, 4),
    "hand_top_p": setting(SLIDERS[2]),
    "logits": matrix([LOGITS]),
    "used": matrix([USED]),
    **{slider.name: setting(slider) for slider in SLIDERS},
    # of the search
    "tree": without_slot(matrix(WEIGHTS)),
    "words": Input(WORDS, check_words, None),
    "beams": whole(2, 1, MAX_BEAMS, options("one", "two", "three", values=(1, 2, MAX_BEAMS))),
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    filters = {slider.name: inputs[slider.name] for slider in SLIDERS}
    tree = WordTree(tuple(map(tuple, inputs["tree"])), inputs["words"])
    beams, logits, used = inputs["beams"], inputs["logits"], inputs["used"]
    check_table(logits[0], used[0])
    record = filter_step(torch.tensor(logits[0]), [int(count) for count in used[0]], filters)
    loop = run_of_loop(models.for_task("generation"), models, inputs, tree)
    stages, cards = stages_of(record), _cards(filters, beams)
    by_hand = {name: inputs[f"hand_{name}"] for name in ("temperature", "top_k", "top_p")}
    return {
        **{name: loop[name] for name in ("mode", "prompt", "tokens")},
        "loop": loop,
        **loop_words(loop),
        **text_probability_words([one["probability"] for one in loop["written"]]),
        **greedy_texts(models, inputs["recorded"], loop["model"]),
        **looping_text(models, loop["model"]),
        "by_hand": filtered_weights(inputs["weights"][0], by_hand),
        "filters": {"bars": bars_of(record), "stages": stages},
        "vocabulary": VOCABULARY,
        "stages": [(name, kept, percent(1 - (mass or 0))) for name, kept, mass in stages],
        **word_search(tree, beams),
        "cards": cards,
        "limit": ["temperature"] if filters["temperature"] > TEMPERATURE.maximum else [],
    }


def _cards(filters: Mapping[str, float], beams: int) -> list[dict[str, Any]]:
    """The settings of this chapter as cards of a comparison: what is not as it is by default."""
    card = changed(filters)
    if "temperature" in card:  # which has a limit there
        card["temperature"] = min(card["temperature"], TEMPERATURE.maximum)
    return [
        {"strategy": "greedy"},
        *([{"strategy": "beam", "num_beams": beams}] if beams > 1 else []),
        {},
        *([card] if card else []),
    ]


# ---- the exercises ----

_SETTINGS = {"temperature": 5, "top_k": 3, "top_p": 0.9, "frequency_penalty": 1}  # of the choice, in its order


def _reorders(compute: Compute) -> list[bool]:
    """Whether each setting puts another word on top."""

    def best(inputs: dict[str, float]) -> str:
        return max(compute(inputs)["filters"]["bars"], key=lambda bar: bar["after"])["word"]

    return [best({name: value}) != best({}) for name, value in _SETTINGS.items()]


def _pair(compute: Compute, combine: Callable[[Sequence[float]], float]) -> float:
    """What becomes of the probabilities of “nice” and of “house” after it, in another tree."""
    search = compute({"tree": [(0.3, 0.5, 0.2), (0.2, 0.6, 0.2), *WEIGHTS[2:]]})["search"]
    return combine(next(path["factors"] for path in search["paths"] if path["path"] == (1, 5)))


def _first_share(compute: Compute, weights: Sequence[float], **settings: float) -> float:
    """The first of four weights after the settings, in percent."""
    inputs = {"hand_top_k": 0, **{f"hand_{name}": value for name, value in settings.items()}}
    return 100 * compute({"weights": [list(weights)], **inputs})["by_hand"]["rows"][-1][0]


_OF_TOP_P, _OF_TEMPERATURE = (50.0, 25.0, 15.0, 10.0), (4.0, 2.0, 1.0, 1.0)  # weights of two exercises
_GOES_ON = ("and to be understood as a whole", "and that is why we live", "the end token")


def _goes_on(compute: Compute) -> list[int]:
    """How often each option stands in the recorded text."""
    return [compute({})["recorded_loop"].count(words) for words in _GOES_ON]


# ---- the chapter ----

_OFF = {one.name: one.default for one in SLIDERS}
_EXAMPLES = {
    "temperature 0.1": {"temperature": 0.1},
    "temperature 5": {"temperature": 5},
    "top-k 3": {"top_k": 3},
    "top-p 0.9": {"top_p": 0.9},
    "frequency penalty 1": {"frequency_penalty": 1},
    "all off": {},
    "Reset": {"logits": None, "used": None},
}
CHAPTER = Chapter(
    compute,
    INPUTS,
    values="chosen_token chosen_share vocabulary_size draw stretch length end_tokens end_share most written_tokens "
    "vocabulary stages sums greedy_text greedy_product beam_count found_text found_product kept_first kept_second "
    "won lost best_text best_product by_hand text_product text_probability text_log text_perplexity recorded_model "
    "recorded_prompt recorded_table recorded_loop recorded_repeats own_model own_table own_loop own_repeats",
    slots={
        "missing": cases("no model"),
        "sample": options("greedy", "sample", values=(False, True), also={"tokens": []}),
        "draws": button({"tokens": []}, adds={"seed": 1}),
        "special": cases("message"),
        "chosen": cases("most probable", "drawn", "drawn from the rest", "end token", "length"),
        "ending": cases("end token now", "end token", "no end token", "length"),
        "text_measure": cases("nothing", "written"),
        "recording_state": cases("recorded", "live"),
        "own_state": cases("own"),
        "own_writes": cases("own"),
        "examples": presets({name: {**_OFF, **changes} for name, changes in _EXAMPLES.items()}),
        "tree_examples": presets({"Reset": {"tree": None, "words": None, "beams": None}}),
        "tree": drawing("found", "kept", "dropped", "unseen"),
        "searched": cases("beams", "better", "one beam", "same"),
        "missed": cases("missed"),
        "limit": cases("temperature"),
    },
    exercises={
        "goes_on": ChoiceExercise(_goes_on, len(_GOES_ON), predicted=True),
        "text_of_two": NumberExercise(
            lambda compute: _pair(compute, math.prod),
            digits=2,
            mistakes={"sum": lambda compute: _pair(compute, sum), "mean": lambda compute: _pair(compute, fmean)},
        ),
        "nucleus": NumberExercise(
            lambda compute: _first_share(compute, _OF_TOP_P, top_p=0.8),
            digits=1,
            mistakes={
                "stopped": lambda compute: _first_share(compute, _OF_TOP_P, top_k=2),
                "undivided": lambda compute: _first_share(compute, _OF_TOP_P),
                "by_p": lambda compute: _first_share(compute, _OF_TOP_P) / 0.8,
            },
        ),
        "colder": NumberExercise(
            lambda compute: _first_share(compute, _OF_TEMPERATURE, temperature=0.5),
            digits=1,
            mistakes={
                "hotter": lambda compute: _first_share(compute, _OF_TEMPERATURE, temperature=2),
                "unchanged": lambda compute: _first_share(compute, _OF_TEMPERATURE),
            },
        ),
        "reorders": ChoiceExercise(_reorders, len(_SETTINGS)),
        "greedy_wins": ChangeExercise(
            [
                ("beams", "==", 2),
                ("search.changes_others", "==", False),
                ("search.found.path", "==", "search.greedy.path"),
            ],
            {"tree": [*WEIGHTS[:2], (0.4, 0.3, 0.3), WEIGHTS[3]]},
            {"one_beam": [("beams", "!=", 2)], "other_numbers": [("search.changes_others", "==", True)]},
        ),
    },
    facts={"highest_temperature": short(TEMPERATURE.maximum)},
)
