"""How a text is generated: the loop token by token, what the settings do to one step, and beams in a tree of words.

All of it is run by decoding's own loop, processors and strategies; here is only what the course asks them.

Shapes: V is the vocabulary, T the tokens written so far.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from torch import Tensor

from decoding.generate import generate
from decoding.parameters.parameter import Parameter, Parameters
from decoding.processors import (
    Context,
    FrequencyPenalty,
    PresencePenalty,
    Processor,
    Temperature,
    TopK,
    TopP,
    run_chain,
)
from decoding.processors.penalties import FREQUENCY_PENALTY, PRESENCE_PENALTY
from decoding.processors.temperature import TEMPERATURE
from decoding.processors.truncation import TOP_K, TOP_P
from decoding.recorder import record
from decoding.request import Request
from decoding.settings import DecodingSettings
from decoding.step import Choice, Step
from lesson.tree import DEPTH, ROOT, TokenPath, TreeModel, WordTree
from model.errors import AttendError
from model.interface import LanguageModel

TOP_CANDIDATES = 8  # of the next token that are shown one by one
Ended = Literal["end token", "length"]


@dataclass(frozen=True, slots=True)
class LoopStart:
    """The text that a loop begins with, and the model that continues it, a decoder alone."""

    model: LanguageModel[Any]
    prompt: tuple[int, ...]
    end_tokens: frozenset[int]
    suppress_tokens: frozenset[int] = frozenset()  # never chosen, by the checkpoint's generation config
    lock: threading.Lock = field(default_factory=threading.Lock)  # held for one pass at a time


@dataclass(frozen=True, slots=True)
class WrittenToken:
    """One token of the text so far, and what the model gave it."""

    token: int
    probability: float
    end_probability: float  # of the end tokens in its place


@dataclass(frozen=True, slots=True)
class LoopState:
    """Where the loop is: the tokens written, and the choice of the next."""

    written: tuple[WrittenToken, ...]
    next: Choice | None  # None where the text has ended
    next_ends: Mapping[int, float]  # the probability of each end token next; empty where the text has ended
    ended: Ended | None

    @property
    def end_probability(self) -> float | None:
        """Of all end tokens next; None where the text has ended."""
        return None if self.next is None else sum(self.next_ends.values())


def run_loop(
    start: LoopStart, tokens: Sequence[int], *, most: int, sample: bool, seed: int, to_end: bool = False
) -> LoopState:
    """Choose the token that follows a text, or all that follow until it ends.

    Args:
        tokens: written so far, behind the prompt; `AttendError` where they go on after an end token.
        most: of them; where there are as many, the text has ended.
        sample: draw each token by its probability, rather than take the most probable one. The draws are those of the
            seed, one for every token, so that single steps and a whole run give the same text.
    """
    model, prompt, ends = start.model, start.prompt, start.end_tokens
    written = tuple(tokens)
    if ends & set(written[:-1]):
        raise AttendError("The text goes on after its end token: start again.")
    room = min(most, model.context_length - len(prompt))
    choice = None
    if (ended := _ended(written, ends, room)) is None:
        read = (*prompt, *written)
        request = Request.of_model(
            model, read, end_tokens=ends, suppress_tokens=start.suppress_tokens, draws_used=len(written)
        )
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
    """The distribution that each token was chosen from, (T, V); with `ahead`, that of the next as well."""
    scored = (*tokens, 0) if ahead else tuple(tokens)  # whichever token comes last, only those before it are read
    with start.lock:
        return start.model.logits(start.prompt, scored).cpu().double().softmax(dim=-1)


# Temperature has no upper limit; here it reaches far enough to see all words come close to each other.
SLIDERS: Parameters = (
    replace(TEMPERATURE, minimum=0.1, maximum=5, step=0.1),
    replace(TOP_K, maximum=9),
    TOP_P,
    FREQUENCY_PENALTY,
    PRESENCE_PENALTY,
)


@dataclass(frozen=True, slots=True)
class Filters:
    """The settings that a step's distribution passes through; `AttendError` for one out of its range in `SLIDERS`."""

    temperature: float = TEMPERATURE.default
    top_k: int = TOP_K.default
    top_p: float = TOP_P.default
    frequency_penalty: float = FREQUENCY_PENALTY.default
    presence_penalty: float = PRESENCE_PENALTY.default

    def __post_init__(self) -> None:
        for parameter in SLIDERS:
            object.__setattr__(self, parameter.name, parameter.checked(getattr(self, parameter.name)))

    def changed(self) -> Mapping[str, float]:
        """Those that do something, by their names."""
        values: dict[str, float] = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if value != _PARAMETERS[name].neutral}

    def chain(self) -> tuple[Processor, ...]:
        """The processors of those that do something, in decoding's order."""
        stages: Mapping[str, Processor] = {
            "frequency_penalty": FrequencyPenalty(self.frequency_penalty),
            "presence_penalty": PresencePenalty(self.presence_penalty),
            "temperature": Temperature(self.temperature),
            "top_k": TopK(max(1, self.top_k)),
            "top_p": TopP(self.top_p),
        }
        changed = self.changed()
        return tuple(stage for name, stage in stages.items() if name in changed)


_PARAMETERS: Mapping[str, Parameter[Any]] = {parameter.name: parameter for parameter in SLIDERS}


def filter_step(logits: Tensor, used: Sequence[int], filters: Filters) -> Choice:
    """The record of one step: every token's probability before the filters and after each of them.

    Args:
        logits: (V,).
        used: how often the text so far has each token, V numbers.
    """
    written = tuple(token for token, count in enumerate(used) for _ in range(count))
    chain = filters.chain()
    stages = run_chain(chain, logits[None].float(), Context(prompt=(), tokens=(written,)))  # (1, V) each
    names = ("model", *(processor.name for processor in chain))
    return record(names, stages, len(logits))[0].choice(int(stages[-1][0].argmax()))


Outcome = Literal["found", "kept", "dropped", "unseen"]


@dataclass(frozen=True, slots=True)
class TreeSearch:
    """What beam search did in a tree of words."""

    found: TokenPath
    kept: tuple[tuple[TokenPath, ...], ...]  # after each step, best first
    # Of every text: whether it leads to what was found, was kept for a step, was weighed and dropped, or never weighed.
    outcomes: Mapping[TokenPath, Outcome]


def search_tree(tree: WordTree, beams: int) -> TreeSearch:
    """Beam search from the root to the end of the second word."""
    settings = DecodingSettings(strategy="beam", num_beams=beams, max_new_tokens=DEPTH)
    steps = list(_decode(tree, settings))
    found = steps[-1].returned[0].tokens
    ranked = (sorted(step.hypotheses, key=lambda each: -each.score) for step in steps)
    kept = tuple(tuple(hypothesis.tokens for hypothesis in step) for step in ranked)
    followed = {(), *(path for step in kept for path in step)}

    def outcome(path: TokenPath) -> Outcome:
        if path == found[: len(path)]:
            return "found"
        if path in followed:
            return "kept"
        return "dropped" if path[:-1] in followed else "unseen"

    return TreeSearch(found, kept, {path: outcome(path) for path in tree.paths()})


def greedy_path(tree: WordTree) -> TokenPath:
    """The text of greedy decoding from the root."""
    *_, last = _decode(tree, DecodingSettings(strategy="greedy", max_new_tokens=DEPTH))
    return last.returned[0].tokens


def _decode(tree: WordTree, settings: DecodingSettings) -> Iterator[Step]:
    """The steps of a strategy over the tree; its texts end by their length."""
    model = TreeModel(tree)
    return generate(model, (ROOT,), settings.strategy_for(Request.of_model(model, (ROOT,))))
