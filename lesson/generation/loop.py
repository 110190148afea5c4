"""The loop that writes a text token by token, greedily or at random, with the probability of its end at each step.

Shapes: V is the vocabulary, T the tokens written so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor

from decoding.generate import generate
from decoding.request import Request, RequestOptions
from decoding.settings import DecodingSettings
from decoding.step import Choice
from model.errors import AttendError
from model.interface import NO_RULES, GenerationRules, LanguageModel
from model.loaded import FairLock

TOP_CANDIDATES = 8  # for the next token, shown one by one
Ended = Literal["end token", "length"]


@dataclass(frozen=True, slots=True)
class LoopStart:
    """The text that a loop begins with, and the decoder-only model that continues it."""

    model: LanguageModel[Any]
    prompt: tuple[int, ...]
    end_tokens: frozenset[int]
    rules: GenerationRules = NO_RULES  # what the checkpoint's generation config demands
    lock: FairLock = field(default_factory=FairLock)  # held for one pass at a time


@dataclass(frozen=True, slots=True)
class WrittenToken:
    """One token of the text so far, and what the model gave it."""

    token: int
    probability: float
    end_probability: float  # of all end tokens at its position


@dataclass(frozen=True, slots=True)
class LoopState:
    """Where the loop is: the tokens written, and the choice of the next."""

    written: tuple[WrittenToken, ...]
    next: Choice | None  # None if the text has ended
    next_ends: Mapping[int, float]  # the probability of each end token as the next one; empty if the text has ended
    ended: Ended | None


def run_loop(
    start: LoopStart, tokens: Sequence[int], *, most: int, sample: bool, seed: int, to_end: bool = False
) -> LoopState:
    """Choose the token that follows a text, or all that follow until it ends.

    Args:
        tokens: the tokens written so far, after the prompt; `AttendError` if any of them follows an end token.
        most: how many tokens the text may have before it ends.
        sample: draw each token by its probability, rather than take the most probable one. The seed gives one draw for
            every token, so that single steps and a whole run give the same text.
    """
    model, prompt, ends = start.model, start.prompt, start.end_tokens
    written = tuple(tokens)
    if ends & set(written[:-1]):
        raise AttendError("The text goes on after its end token: start again.")
    room = min(most, model.context_length + 1 - len(prompt))  # the last token is never read
    choice = None
    if (ended := _ended(written, ends, room)) is None:
        read = (*prompt, *written)
        options = RequestOptions(draws_used=len(written))
        request = Request.of_model(model, read, options, end_tokens=ends, rules=start.rules)
        settings = DecodingSettings(
            strategy="sample" if sample else "greedy",
            seed=seed,
            max_new_tokens=room - len(written),
            top_candidates=TOP_CANDIDATES,
        )
        steps = generate(model, read, settings.strategy_for(request))
        while ended is None:
            with start.lock:
                step = next(steps)
            assert step.best is not None  # both strategies decide something in every step
            choice = step.best.choice
            if not to_end:
                break
            written = (*written, choice.token)
            ended = _ended(written, ends, room)
    probabilities = _probabilities(start, written, ahead=ended is None)  # (T + 1, V), or (T, V)
    of_ends = probabilities[:, sorted(ends)].sum(dim=-1).tolist()
    return LoopState(
        tuple(
            WrittenToken(token, float(probabilities[index, token]), of_ends[index])
            for index, token in enumerate(written)
        ),
        None if ended else choice,
        {} if ended else {end: float(probabilities[-1, end]) for end in sorted(ends)},
        ended,
    )


def _ended(tokens: Sequence[int], ends: frozenset[int], room: int) -> Ended | None:
    """Why a text of these tokens has ended; an empty one has not."""
    if not tokens:
        return None
    if tokens[-1] in ends:
        return "end token"
    return "length" if len(tokens) >= room else None


def _probabilities(start: LoopStart, tokens: Sequence[int], *, ahead: bool) -> Tensor:
    """The distribution that each token was chosen from, (T, V); with `ahead`, also that of the next token."""
    scored = (*tokens, 0) if ahead else tuple(tokens)  # the last token can be any, since only those before it are read
    with start.lock:
        return start.model.logits(start.prompt, scored).cpu().double().softmax(dim=-1)
