"""What sets the strategies apart, in one table: whatever depends on a strategy asks for a trait, not for its name.

What each does is in the file of its class. Knows nothing of settings or of how a strategy is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

StrategyName = Literal["greedy", "sample", "beam", "beam_sample", "diverse_beam", "contrastive", "dola"]
STRATEGIES: tuple[StrategyName, ...] = get_args(StrategyName)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """Of one strategy."""

    beams: bool = False  # follows several continuations, so that words may change until the search is over
    groups: bool = False  # divides them into groups that avoid each other's tokens
    drawn: bool = False  # leaves something to chance, so the seed has a say
    undrawn: StrategyName | None = None  # what it comes to at temperature 0, where nothing is left to draw
    filtered: bool = False  # reshapes or cuts the distribution; greedy takes its top in any case
    token_by_token: bool = False  # chooses by the model's distribution at each place, which one pass tells of them all
    looks_ahead: bool = False  # feeds its top_k candidates to the model before it takes one
    chain: StrategyName | None = None  # whose processors it runs, where that is another one's
    layers: bool = False  # contrasts the last layer with those below it


TRAITS: Mapping[StrategyName, Traits] = MappingProxyType(
    {
        "greedy": Traits(token_by_token=True),
        "sample": Traits(drawn=True, undrawn="greedy", filtered=True, token_by_token=True),
        "beam": Traits(beams=True, filtered=True),
        "beam_sample": Traits(beams=True, drawn=True, undrawn="beam", filtered=True),
        "diverse_beam": Traits(beams=True, groups=True, filtered=True),
        # As in transformers, it filters nothing: its top_k are candidates to weigh, no stage.
        "contrastive": Traits(looks_ahead=True, chain="greedy"),
        "dola": Traits(drawn=True, undrawn="greedy", filtered=True, layers=True),
    }
)
