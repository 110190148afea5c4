"""Scores a model on the test of skills, and finds the attention heads that point at a recalled value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from tqdm import tqdm

from decoding.settings import DecodingSettings
from model.interface import Want
from model.loaded import LoadedModel
from model.text.conversation import ChatFormat
from training.data import messages
from training.skills.testing import Item
from training.talk import answer_tokens

if TYPE_CHECKING:
    from torch import Tensor

GREEDY = DecodingSettings(strategy="greedy", max_new_tokens=40)
POINTING = 0.5  # a head with at least this attention weight on the value points at it


@dataclass(slots=True)
class Tally:
    """Counts right answers and all answers."""

    right: int = 0
    items: int = 0

    def add(self, right: bool) -> None:
        self.right += right
        self.items += 1

    @property
    def share(self) -> float:
        return self.right / max(1, self.items)

    def row(self) -> dict[str, float]:
        return {"right": self.right, "items": self.items, "share": round(self.share, 4)}


@dataclass(slots=True)
class SkillScores:
    """Right answers by skill, distance and kind, and how often each head points at the recalled value."""

    skills: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    distances: dict[int, Tally] = field(default_factory=lambda: defaultdict(Tally))  # of recall
    kinds: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))  # of recall, held-out kinds included
    pointing: Tally = field(default_factory=Tally)  # recalled facts; "right" if some head points at the value
    heads: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))  # by (layer, head), both from 1
    answers: list[str] = field(default_factory=list)  # one per item, in order


def score(loaded: LoadedModel, items: Sequence[Item], *, progress: bool = False) -> SkillScores:
    """Answer all items greedily, and inspect attention where a fact is recalled."""
    scores = SkillScores()
    for item in tqdm(items, disable=not progress, unit="item", leave=False):
        prompt, tokens = answer_tokens(loaded, messages(item.turns), GREEDY)
        text = loaded.text_of(tokens)
        right = item.is_right(text)
        scores.answers.append(text)
        scores.skills[item.skill].add(right)
        if item.skill.startswith("recall"):
            scores.kinds[item.kind].add(right)
        if item.skill == "recall":
            scores.distances[item.distance].add(right)
        if right and item.skill.startswith("recall"):
            weights = weight_on_value(loaded, item, prompt, tokens)  # (layers, H)
            scores.pointing.add(bool((weights >= POINTING).any()))
            for layer, head in (weights >= POINTING).nonzero().tolist():
                scores.heads[layer + 1, head + 1] += 1
    return scores


def weight_on_value(loaded: LoadedModel, item: Item, prompt: Sequence[int], answer: Sequence[int]) -> Tensor:
    """The weight that each head puts on the value in the conversation when the answer repeats it: (layers, H).

    The query is the position that predicts the value's first token; the keys are the value's tokens in the turn that
    stated it, not in later ones.
    """
    assert isinstance(loaded.chat, ChatFormat)
    turns = [loaded.chat.turn(message) for message in messages(item.turns)]
    before = 1 + sum(map(len, turns[: item.fact_turn]))  # `<s>` and the turns before
    keys = [before + position for position in value_positions(loaded, turns[item.fact_turn], item.accepted[0])]
    chosen = value_positions(loaded, answer, item.accepted[0])[0]  # tokens of the answer before the value
    forward = loaded.model.prefill((*prompt, *answer[:chosen]), want=Want(attention=True))
    assert forward.attention is not None
    return forward.attention.decoder[0, :, :, -1, keys].sum(dim=-1)  # (layers, H)


def value_positions(loaded: LoadedModel, tokens: Sequence[int], value: str) -> list[int]:
    """The positions of the tokens that overlap the first mention of a value in a text."""
    ends = list(accumulate(len(loaded.tokenizer.decode([token])) for token in tokens))
    start = loaded.tokenizer.decode(tokens).casefold().index(value.casefold())
    return [
        position
        for position, (begin, end) in enumerate(zip([0, *ends], ends, strict=False))
        if begin < start + len(value) and end > start
    ]
