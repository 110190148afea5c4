"""How many of the test's items a model answers rightly, and where its attention is when it chooses a recalled value."""

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
MOST = 0.5  # of a head's weight, from which on it points at the value


@dataclass(slots=True)
class Tally:
    """Right answers among all."""

    right: int = 0
    items: int = 0

    def count(self, right: bool) -> None:
        self.right += right
        self.items += 1

    @property
    def share(self) -> float:
        return self.right / max(1, self.items)

    def row(self) -> dict[str, float]:
        return {"right": self.right, "items": self.items, "share": round(self.share, 4)}


@dataclass(slots=True)
class SkillScores:
    """Tallies by what was asked, and of each head how often it points at the value that is chosen."""

    skills: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    distances: dict[int, Tally] = field(default_factory=lambda: defaultdict(Tally))  # of recall
    kinds: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))  # of recall, held-out kinds included
    pointing: Tally = field(default_factory=Tally)  # of rightly recalled facts: whether some head points at the value
    heads: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))  # (layer, head), from 1
    answers: list[str] = field(default_factory=list)  # of each item, in their order


def score(loaded: LoadedModel, items: Sequence[Item], *, progress: bool = False) -> SkillScores:
    """Greedy answers to all items; attention is looked at for rightly recalled facts alone."""
    scores = SkillScores()
    for item in tqdm(items, disable=not progress, unit="item", leave=False):
        prompt, tokens = answer_tokens(loaded, messages(item.turns), GREEDY)
        text = loaded.text_of(tokens)
        right = item.is_right(text)
        scores.answers.append(text)
        scores.skills[item.skill].count(right)
        if item.skill.startswith("recall"):
            scores.kinds[item.kind].count(right)
        if item.skill == "recall":
            scores.distances[item.distance].count(right)
        if right and item.skill.startswith("recall"):
            weights = weight_on_value(loaded, item, prompt, tokens)  # (layers, H)
            scores.pointing.count(bool((weights >= MOST).any()))
            for layer, head in (weights >= MOST).nonzero().tolist():
                scores.heads[layer + 1, head + 1] += 1
    return scores


def weight_on_value(loaded: LoadedModel, item: Item, prompt: Sequence[int], answer: Sequence[int]) -> Tensor:
    """How much of its weight each head puts on the value in the conversation when the answer repeats it: (layers, H).

    The query is the one that predicts the first token with a part of the value; the keys are all tokens of the value in
    the turn that told it, and no other mention.
    """
    assert isinstance(loaded.chat, ChatFormat)
    turns = [loaded.chat.turn(message) for message in messages(item.turns)]
    before = 1 + sum(map(len, turns[: item.told]))  # `<s>` and the turns before it
    keys = [before + position for position in value_positions(loaded, turns[item.told], item.accepted[0])]
    chosen = value_positions(loaded, answer, item.accepted[0])[0]  # so many tokens of the answer are read by then
    forward = loaded.model.prefill((*prompt, *answer[:chosen]), want=Want(attention=True))
    assert forward.attention is not None
    return forward.attention.decoder[0, :, :, -1, keys].sum(dim=-1)  # (layers, H)


def value_positions(loaded: LoadedModel, tokens: Sequence[int], value: str) -> list[int]:
    """The positions of the tokens that hold a part of a value, which the text mentions once."""
    ends = list(accumulate(len(loaded.tokenizer.decode([token])) for token in tokens))
    start = loaded.tokenizer.decode(tokens).casefold().index(value.casefold())
    return [
        position
        for position, (begin, end) in enumerate(zip([0, *ends], ends, strict=False))
        if begin < start + len(value) and end > start
    ]
