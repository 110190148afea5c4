"""The chapter on how a text is generated, which `lesson/generation/` computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from decoding.parameters.parameter import quoted
from decoding.processors.temperature import TEMPERATURE
from lesson.generation.filters import SLIDERS, Filters, filter_step
from lesson.generation.loop import LoopStart, LoopState, run_loop
from lesson.generation.tree import END, ROOT, WEIGHTS, WORDS, TreeModel, WordTree
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message
from ui.learn.chapter import Chapter
from ui.learn.chapters.views.filters import P_DIGITS, VOCABULARY, bars_of, check_table, stages_of
from ui.learn.chapters.views.word_search import check_words, search_value, search_words, tree_label
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, Result
from ui.learn.inputs import Given, Input, choice, matrix, own, setting, switch, text, unasked, whole
from ui.learn.text.slots import button, cases, drawing, field, options, presets
from ui.learn.wording import counted, decimals, percent, rounded, short
from ui.runs.models import Models

MAX_TOKENS = 48  # of the loop
MAX_CHARACTERS = 300  # of what it begins with
MAX_SEED = 10_000
MAX_BEAMS = 3

MODES = ("message", "text")  # what a model that chats makes of the prompt
PROMPTS: Mapping[str, str] = {"message": "Hi! How are you today?", "text": "Once upon a time there was a little fox"}

# Raschka, "Build a Large Language Model (From Scratch)", 2024, section 5.3.1: what may follow "every effort moves you".
LOGITS = (4.51, 0.89, -1.90, 6.75, 1.63, -1.62, -1.89, 6.28, 1.79)
USED = (0, 0, 0, 2, 0, 0, 0, 1, 0)  # ours, so that the penalties have something to count

INPUTS = {
    # of the loop
    "mode": own(slot=options(*MODES, also={"tokens": [], "prompt": None})),
    "prompt": own(slot=field(maxlength=MAX_CHARACTERS, wide=True, also={"tokens": []})),
    "tokens": own([]),
    "sample": switch(subject="Random draws"),
    "seed": unasked(whole(1, 0, MAX_SEED)),
    # of the filters
    "logits": matrix([LOGITS]),
    "used": matrix([USED]),
    **{slider.name: setting(slider) for slider in SLIDERS},
    # of the search
    "tree": unasked(matrix(WEIGHTS)),
    "words": Input(WORDS, check_words, None),
    "beams": whole(2, 1, MAX_BEAMS, options("one", "two", "three", values=(1, 2, MAX_BEAMS))),
}


def compute(models: Models, given: Given) -> dict[str, Any]:
    filters = Filters(**{slider.name: given[slider.name] for slider in SLIDERS})
    tree = WordTree(tuple(map(tuple, given["tree"])), given["words"])
    beams, logits, used = given["beams"], given["logits"], given["used"]
    check_table(logits[0], used[0])
    record = filter_step(torch.tensor(logits[0]), [int(count) for count in used[0]], filters)
    loop = _loop(models.for_task("generation"), models, given, tree)
    stages, cards = stages_of(record), _cards(filters, beams)
    return {
        **{name: loop[name] for name in ("mode", "prompt", "tokens")},
        "loop": loop,
        **_loop_words(loop),
        "filters": {"bars": bars_of(record), "stages": stages},
        "vocabulary": VOCABULARY,
        "stages": [(name, kept, percent(1 - (mass or 0))) for name, kept, mass in stages],
        "search": search_value(tree, beams),
        **search_words(tree, beams),
        "cards": cards,
        "limit": ["temperature"] if filters.temperature > TEMPERATURE.maximum else [],
    }


def _loop(name: str, models: Models, given: Given, tree: WordTree) -> dict[str, Any]:
    """The loop with a model that continues texts or, where there is none, with the tree."""
    loaded = models.get(name) if name else None
    mode = choice(MODES[0] if loaded and loaded.chat else MODES[1], MODES).read(given, "mode")
    prompt = text(PROMPTS[mode], MAX_CHARACTERS).read(given, "prompt")
    if loaded is None:
        prompt, start = tree.words[ROOT], LoopStart(TreeModel(tree), (ROOT,), frozenset({END}))
        label = partial(tree_label, tree)
    else:
        start, label = _start(loaded, prompt, mode), loaded.tokenizer.label
    sample, seed = given["sample"], given["seed"]
    to_end = switch(subject="To the end").read(given, "to_end")  # writes the whole text at once
    tokens = _tokens(given.get("tokens", []), start.model.vocabulary_size)
    state = run_loop(start, tokens, most=MAX_TOKENS, sample=sample, seed=seed, to_end=to_end)
    return {
        "model": name,
        "chats": bool(loaded and loaded.chat),
        "vocabulary_size": start.model.vocabulary_size,
        "mode": mode,
        "prompt": prompt,
        "sample": sample,
        "seed": seed,
        "most": MAX_TOKENS,
        "read": [label(token) for token in start.prompt],
        "tokens": [written.token for written in state.written],
        "written": [
            (label(written.token), rounded(written.probability, P_DIGITS), rounded(written.end_probability, P_DIGITS))
            for written in state.written
        ],
        "ended": state.ended,
        "ends": [label(token) for token in sorted(start.end_tokens)],
        "next": _next(state, start.end_tokens, label),
    }


def _loop_words(loop: Mapping[str, Any]) -> dict[str, Any]:
    """What the page says of the loop, case by case."""
    following, written = loop["next"], loop["written"]
    words: dict[str, Any] = {
        "hidden": [
            *([] if loop["chats"] else ["mode"]),
            *([] if loop["sample"] else ["draws"]),
        ],
        "readonly": [] if loop["model"] else ["prompt"],
        "missing": [] if loop["model"] else ["no model"],
        "special": ["message"] if loop["mode"] == "message" else [],
        "length": counted(len(written), "token"),
        "end_tokens": " or ".join(f"“{end}”" for end in loop["ends"]),
        "most": str(loop["most"]),
        "written_tokens": [
            (number, {"token": label}, percent(p), {"bar": end, "text": percent(end)})
            for number, (label, p, end) in enumerate(written, start=1)
        ],
    }
    if following is None:
        ended = "end token" if loop["ended"] == "end token" else "length"
        return {**words, "chosen": ended, "ending": ["end token" if loop["ends"] else "no end token", "length"]}
    chosen = next((entry for entry in following["candidates"] if entry[0] == following["token"]), None)
    share, draw = following["share"], following["draw"]
    case = "most probable" if draw is None else "drawn" if share else "drawn from the rest"
    end_share = sum(p for _, _, p, is_end in following["candidates"] if is_end)
    return {
        **words,
        "chosen": case,
        "vocabulary_size": f"{loop['vocabulary_size']:,}",
        "chosen_token": {"token": chosen[1]} if chosen else "another token",
        "chosen_share": percent(chosen[2]) if chosen else "",
        "draw": decimals(draw or 0, 3),
        "stretch": " to ".join(decimals(end, 3) for end in share or ()),
        "ending": ["end token now" if loop["ends"] else "no end token", "length"],
        "end_share": percent(end_share),
    }


def _start(loaded: LoadedModel, prompt: str, mode: str) -> LoopStart:
    if mode == "message":
        ids = loaded.chat_prompt([Message("user", prompt)], reserve=MAX_TOKENS).ids
    else:
        ids = loaded.prompt(prompt)
    return LoopStart(loaded.model, ids, loaded.end_tokens, loaded.rules, loaded.lock)


def _tokens(value: Any, vocabulary_size: int) -> list[int]:
    if not isinstance(value, list) or not all(type(token) is int and 0 <= token < vocabulary_size for token in value):
        raise AttendError(f"The tokens are {quoted(value)}, but must be a list of the model's ids: start again.")
    if len(value) > MAX_TOKENS:
        raise AttendError(f"The text has {len(value):,} tokens, but this loop stops at {MAX_TOKENS}: start again.")
    return value


def _next(state: LoopState, ends: frozenset[int], label: Callable[[int], str]) -> dict[str, Any] | None:
    """What can follow: the most probable tokens, an end token in any case, and what is left for all others."""
    following = state.next
    if following is None:
        return None
    likely = [(one.id, one.probabilities[-1]) for one in following.candidates]
    before = sum(p for _, p in likely[: following.rank - 1])
    rest = following.rest[-1]
    hidden = [(end, p) for end, p in state.next_ends.items() if end not in {token for token, _ in likely}]
    likely, rest = [*likely, *hidden], max(0.0, rest - sum(p for _, p in hidden))
    return {
        "token": following.token,
        "draw": None if following.draw is None else rounded(following.draw, P_DIGITS),
        # The part of the line from 0 to 1 that belongs to the token; None where it is not among the most probable.
        "share": [rounded(before, P_DIGITS), rounded(before + following.final_probability, P_DIGITS)]
        if following.rank <= len(following.candidates)
        else None,
        "candidates": [(token, label(token), rounded(p, P_DIGITS), token in ends) for token, p in likely],
        "rest": rounded(rest, P_DIGITS),
    }


def _cards(filters: Filters, beams: int) -> list[dict[str, Any]]:
    """The settings of this chapter as cards of a comparison: what is not as it is by default."""
    changed = dict(filters.changed())
    if "temperature" in changed:  # which has a limit there
        changed["temperature"] = min(changed["temperature"], TEMPERATURE.maximum)
    return [
        {"strategy": "greedy"},
        *([{"strategy": "beam", "num_beams": beams}] if beams > 1 else []),
        {},
        *([changed] if changed else []),
    ]


# ---- the exercises ----

_SETTINGS = {"temperature": 5, "top_k": 3, "top_p": 0.9, "frequency_penalty": 1}  # of the choice, in its order


def _reorders(compute: Compute) -> list[bool]:
    """Whether each setting puts another word on top."""

    def best(given: dict[str, float]) -> str:
        return max(compute(given)["filters"]["bars"], key=lambda bar: bar["after"])["word"]

    return [best({name: value}) != best({}) for name, value in _SETTINGS.items()]


def _keeps_five(result: Result) -> bool:
    left = sum(not bar["cut"] for bar in result["filters"]["bars"])
    return (result["top_p"], result["top_k"], result["logits"]) == (0.9, 0, [list(LOGITS)]) and left == 5


def _greedy_wins(result: Result) -> bool:
    search, weights = result["search"], [list(row) for row in WEIGHTS]
    others = [row for index, row in enumerate(map(list, search["tree"])) if index != 2]
    unchanged = others == [*weights[:2], weights[3]] and search["beams"] == 2
    return unchanged and search["found"]["path"] == search["greedy"]["path"]


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
    "won lost best_text best_product",
    slots={
        "missing": cases("no model"),
        "sample": options("greedy", "sample", values=(False, True), also={"tokens": []}),
        "draws": button({"tokens": []}, adds={"seed": 1}),
        "special": cases("message"),
        "chosen": cases("most probable", "drawn", "drawn from the rest", "end token", "length"),
        "ending": cases("end token now", "end token", "no end token", "length"),
        "examples": presets({name: {**_OFF, **changes} for name, changes in _EXAMPLES.items()}),
        "tree_examples": presets({"Reset": {"tree": None, "words": None, "beams": None}}),
        "tree": drawing("found", "kept", "dropped", "unseen"),
        "searched": cases("beams", "better", "one beam", "same"),
        "missed": cases("missed"),
        "limit": cases("temperature"),
    },
    exercises={
        "top_two": NumberExercise(lambda compute: 100 * compute({"top_k": 2})["filters"]["bars"][0]["after"], digits=1),
        "reorders": ChoiceExercise(_reorders, len(_SETTINGS)),
        "keeps_five": ChangeExercise(_keeps_five, {"top_p": 0.9, "temperature": 2.5}),
        "greedy_wins": ChangeExercise(_greedy_wins, {"tree": [*WEIGHTS[:2], (0.4, 0.3, 0.3), WEIGHTS[3]]}),
    },
    facts={"highest_temperature": short(TEMPERATURE.maximum)},
)
