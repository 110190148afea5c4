"""The loop that writes a text token by token, as the chapter on how a text is generated shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from decoding.parameters.parameter import quoted
from lesson.generation.loop import LoopStart, LoopState, run_loop
from lesson.generation.probability import text_probability
from lesson.generation.tree import END, ROOT, TreeModel, WordTree
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message
from ui.learn.chapters.views.filters import P_DIGITS
from ui.learn.chapters.views.word_search import tree_label
from ui.learn.inputs import Inputs, choice, switch, text
from ui.learn.wording import counted, decimals, percent, rounded, scientific, short
from ui.runs.models import Models

MAX_TOKENS = 48  # of the loop
MAX_CHARACTERS = 300  # of what it begins with
MAX_FACTORS = 6  # of a product that is written out
MODES = ("message", "text")  # what a model that chats makes of the prompt
PROMPTS: Mapping[str, str] = {"message": "Hi! How are you today?", "text": "Once upon a time there was a little fox"}


def run_of_loop(name: str, models: Models, inputs: Inputs, tree: WordTree) -> dict[str, Any]:
    """The loop with a model that continues texts or, where there is none, with the tree."""
    loaded = models.get(name) if name else None
    mode = choice(MODES[0] if loaded and loaded.chat else MODES[1], MODES).read(inputs, "mode")
    prompt = text(PROMPTS[mode], MAX_CHARACTERS).read(inputs, "prompt")
    if loaded is None:
        prompt, start = tree.words[ROOT], LoopStart(TreeModel(tree), (ROOT,), frozenset({END}))
        label = partial(tree_label, tree)
    else:
        start, label = _start(loaded, prompt, mode), loaded.tokenizer.label
    sample, seed = inputs["sample"], inputs["seed"]
    to_end = switch(subject="To the end").read(inputs, "to_end")  # writes the whole text at once
    tokens = _tokens(inputs.get("tokens", []), start.model.vocabulary_size)
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
            {
                "label": label(written.token),
                "probability": rounded(written.probability, P_DIGITS),
                "end_probability": rounded(written.end_probability, P_DIGITS),
            }
            for written in state.written
        ],
        "ended": state.ended,
        "ends": [label(token) for token in sorted(start.end_tokens)],
        "next": _next(state, start.end_tokens, label),
    }


def loop_words(loop: Mapping[str, Any]) -> dict[str, Any]:
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
            (
                number,
                {"token": one["label"]},
                percent(one["probability"]),
                {"bar": one["end_probability"], "text": percent(one["end_probability"])},
            )
            for number, one in enumerate(written, start=1)
        ],
    }
    if following is None:
        ended = "end token" if loop["ended"] == "end token" else "length"
        return {**words, "chosen": ended, "ending": ["end token" if loop["ends"] else "no end token", "length"]}
    chosen = next((one for one in following["candidates"] if one["id"] == following["token"]), None)
    share, draw = following["share"], following["draw"]
    case = "most probable" if draw is None else "drawn" if share else "drawn from the rest"
    end_share = sum(one["probability"] for one in following["candidates"] if one["is_end"])
    return {
        **words,
        "chosen": case,
        "vocabulary_size": f"{loop['vocabulary_size']:,}",
        "chosen_token": {"token": chosen["label"]} if chosen else "another token",
        "chosen_share": percent(chosen["probability"]) if chosen else "",
        "draw": decimals(draw or 0, 3),
        "stretch": " to ".join(decimals(end, 3) for end in share or ()),
        "ending": ["end token now" if loop["ends"] else "no end token", "length"],
        "end_share": percent(end_share),
    }


def text_probability_words(factors: list[float]) -> dict[str, Any]:
    """The probability of the text so far, written out."""
    text = text_probability(factors)
    written_factors = [short(factor, 3) for factor in factors[:MAX_FACTORS]]
    p = scientific(text.probability) if text.probability else f"10^({short(text.power_of_ten, 4)})"
    return {
        "text_measure": "written" if factors else "nothing",
        "text_product": " × ".join([*written_factors, *(["…"] if len(factors) > MAX_FACTORS else [])]),
        "text_probability": {"formula": p},
        "text_log": decimals(text.log),
        "text_perplexity": short(text.perplexity, 3),
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
        "candidates": [
            {"id": token, "label": label(token), "probability": rounded(p, P_DIGITS), "is_end": token in ends}
            for token, p in likely
        ],
        "rest": rounded(rest, P_DIGITS),
    }
