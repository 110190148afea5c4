"""The chapter on how a text is generated: what `lesson/generation/` computes, as the page shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from decoding.parameters.parameter import Parameter, quoted
from decoding.processors.temperature import TEMPERATURE
from decoding.step import Choice
from lesson.generation.filters import SLIDERS, Filters, filter_step
from lesson.generation.loop import LoopStart, LoopState, run_loop
from lesson.generation.search import greedy_path, search_tree
from lesson.generation.tree import END, ROOT, WEIGHTS, WORDS, TokenPath, TreeModel, WordTree
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message
from ui.kit.labels import LABELS
from ui.kit.setting import setting_field
from ui.kit.validation import checked_switch
from ui.learn.validation import Given, choice, integer, matrix, number, rounded, text
from ui.runs.models import Models

MAX_TOKENS = 48  # of the loop
MAX_CHARACTERS = 300  # of what it begins with
MAX_SEED = 10_000
MAX_BEAMS = 3
MAX_LOGIT, MAX_USED = 20, 9
P_DIGITS = 6  # of a probability

MODES = ("message", "text")  # what a model that chats makes of the prompt
PROMPTS: Mapping[str, str] = {"message": "Hi! How are you today?", "text": "Once upon a time there was a little fox"}

# Raschka, "Build a Large Language Model (From Scratch)", 2024, section 5.3.1: what may follow "every effort moves you".
VOCABULARY = ("closer", "every", "effort", "forward", "inches", "moves", "pizza", "toward", "you")
LOGITS = (4.51, 0.89, -1.90, 6.75, 1.63, -1.62, -1.89, 6.28, 1.79)
USED = (0, 0, 0, 2, 0, 0, 0, 1, 0)  # ours, so that the penalties have something to count

FIRST: Mapping[str, Any] = {
    "tokens": [],
    "sample": False,
    "seed": 1,
    "logits": [LOGITS],
    "used": [USED],
    **{slider.name: slider.default for slider in SLIDERS},
    "tree": WEIGHTS,
    "words": WORDS,
    "beams": 2,
}
_SLIDER = ("name", "label", "minimum", "maximum", "step", "default")  # what the page needs of one
FORM: Mapping[str, Any] = {  # what the page draws its controls from
    "sliders": [{key: setting_field(slider)[key] for key in _SLIDER} for slider in SLIDERS],
    "vocabulary": VOCABULARY,
    "most_beams": MAX_BEAMS,
}


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: of the loop `mode`, `prompt`, `tokens`, `sample`, `seed`, and `to_end`, which writes the whole text at
            once; of the filters `logits`, `used` and the sliders by their names; of the search `tree`, which is its
            numbers, `words` and `beams`.
    """
    filters, tree = _filters(given), _tree(given)
    beams = integer(given, "beams", FIRST["beams"], 1, MAX_BEAMS)
    logits = matrix(given, "logits", FIRST["logits"])
    used = matrix(given, "used", FIRST["used"])
    _check_table(logits[0], used[0])
    record = filter_step(torch.tensor(logits[0]), [int(count) for count in used[0]], filters)
    loop = _loop(models.for_task("generation"), models, given, tree)
    return {
        "form": FORM,
        "loop": loop,
        "filters": {
            **{slider.name: getattr(filters, slider.name) for slider in SLIDERS},
            "logits": logits,
            "used": used,
            "bars": _bars(record),
            "stages": _stages(record),
        },
        "search": _search(tree, beams),
        "cards": _cards(filters, beams),
    }


def _loop(name: str, models: Models, given: Given, tree: WordTree) -> dict[str, Any]:
    """The loop with a model that continues texts or, where there is none, with the tree."""
    loaded = models.get(name) if name else None
    mode = choice(given, "mode", MODES[0] if loaded and loaded.chat else MODES[1], MODES)
    prompt = text(given, "prompt", PROMPTS[mode], MAX_CHARACTERS)
    if loaded is None:
        prompt, start = tree.words[ROOT], LoopStart(TreeModel(tree), (ROOT,), frozenset({END}))
        label = partial(_tree_label, tree)
    else:
        start, label = _start(loaded, prompt, mode), loaded.tokenizer.label
    sample = checked_switch(given.get("sample", FIRST["sample"]), "Random draws")
    seed = integer(given, "seed", FIRST["seed"], 0, MAX_SEED)
    to_end = checked_switch(given.get("to_end", False), "To the end")
    tokens = _tokens(given, start.model.vocabulary_size)
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


def _start(loaded: LoadedModel, prompt: str, mode: str) -> LoopStart:
    if mode == "message":
        ids = loaded.chat_prompt([Message("user", prompt)], reserve=MAX_TOKENS).ids
    else:
        ids = loaded.prompt(prompt)
    return LoopStart(loaded.model, ids, loaded.end_tokens, loaded.rules, loaded.lock)


def _tree_label(tree: WordTree, token: int) -> str:
    """A word of the tree as a tokenizer would show it, with the space before it."""
    if token == END:
        return "<end>"
    return tree.words[token] if token == ROOT else f" {tree.words[token]}"


def _tokens(given: Given, vocabulary_size: int) -> list[int]:
    value = given.get("tokens", FIRST["tokens"])
    right = isinstance(value, list) and all(type(token) is int and 0 <= token < vocabulary_size for token in value)
    if not right:
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


def _filters(given: Given) -> Filters:
    return Filters(**{slider.name: _slider(given, slider) for slider in SLIDERS})


def _slider(given: Given, slider: Parameter[Any]) -> Any:
    name, default, least, most = slider.name, slider.default, slider.minimum, slider.maximum
    if slider.integer:
        return integer(given, name, default, int(least), int(most))
    return number(given, name, default, least, most)


def _check_table(logits: Sequence[float], used: Sequence[float]) -> None:
    if (wrong := next((logit for logit in logits if abs(logit) > MAX_LOGIT), None)) is not None:
        raise AttendError(f"A logit is {wrong:g}, but must be from −{MAX_LOGIT} to {MAX_LOGIT}.")
    wrong = next((count for count in used if not (0 <= count <= MAX_USED and count == int(count))), None)
    if wrong is not None:
        raise AttendError(f"A word is used {wrong:g} times, but it must be a whole number from 0 to {MAX_USED}.")


def _bars(record: Choice) -> list[dict[str, Any]]:
    """Every word, the most probable first, before and after; and the filter that removed it."""
    return [
        {
            "word": VOCABULARY[candidate.id],
            "before": rounded(candidate.probabilities[0], P_DIGITS),
            "after": rounded(candidate.probabilities[-1], P_DIGITS),
            "cut": next(
                (
                    LABELS[stage]
                    for stage, p in zip(record.stages, candidate.probabilities, strict=True)
                    if p == 0 and stage != "model"
                ),
                "",
            ),
        }
        for candidate in record.candidates
    ]


def _stages(record: Choice) -> list[tuple[str, int, float | None]]:
    """Each filter, how many words it left, and the share of the probability that it kept."""
    numbers = zip(record.stages, record.kept, record.mass, strict=True)
    return [(LABELS[stage], kept, rounded(mass, P_DIGITS)) for stage, kept, mass in numbers if stage != "model"]


def _tree(given: Given) -> WordTree:
    return WordTree(tuple(map(tuple, matrix(given, "tree", FIRST["tree"]))), _words(given))


def _words(given: Given) -> tuple[str, ...]:
    """The words of the tree, without the spaces around them."""
    value = given.get("words", FIRST["words"])
    right = isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)
    if not right or len(value) != len(WORDS):
        raise AttendError(
            f"The tree's words are {quoted(value)}, but must be {len(WORDS)} texts: reload the page to start again."
        )
    return tuple(word.strip() for word in value)


def _search(tree: WordTree, beams: int) -> dict[str, Any]:
    found = search_tree(tree, beams)

    def entry(path: TokenPath) -> dict[str, Any]:
        factors = [rounded(factor) for factor in tree.factors(path)]
        return {"path": path, "factors": factors, "p": rounded(tree.probability(path))}

    return {
        "tree": tree.weights,
        "words": tree.words,
        "beams": beams,
        "paths": [{**entry(path), "outcome": found.outcomes[path]} for path in tree.paths()],
        "steps": [[entry(path) for path in kept] for kept in found.kept],
        "found": entry(found.found),
        "greedy": entry(greedy_path(tree)),
        "best": entry(tree.most_probable()),
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
