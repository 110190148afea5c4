"""Greedy decoding and beam search in a tree of words, with the strategies of `decoding`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from decoding.generate import generate
from decoding.request import Request
from decoding.settings import DecodingSettings
from decoding.step import Step
from lesson.generation.tree import DEPTH, ROOT, TokenPath, TreeModel, WordTree

Outcome = Literal["found", "kept", "dropped", "unseen"]


@dataclass(frozen=True, slots=True)
class TreeSearch:
    """What beam search did in a tree of words."""

    result: TokenPath
    kept: tuple[tuple[TokenPath, ...], ...]  # after each step, best first
    # For every text: whether it leads to the result, was kept for a step, was considered and dropped, or not
    # considered.
    outcomes: Mapping[TokenPath, Outcome]


def search_tree(tree: WordTree, beams: int) -> TreeSearch:
    """Beam search from the root to the end of the second word."""
    settings = DecodingSettings(strategy="beam", num_beams=beams, max_new_tokens=DEPTH)
    steps = list(_decode(tree, settings))
    best = steps[-1].returned[0].tokens
    ranked = (sorted(step.hypotheses, key=lambda each: -each.score) for step in steps)
    kept = tuple(tuple(hypothesis.tokens for hypothesis in step) for step in ranked)
    followed = {(), *(path for step in kept for path in step)}

    def outcome(path: TokenPath) -> Outcome:
        if path == best[: len(path)]:
            return "found"
        if path in followed:
            return "kept"
        return "dropped" if path[:-1] in followed else "unseen"

    return TreeSearch(best, kept, {path: outcome(path) for path in tree.paths()})


def greedy_path(tree: WordTree) -> TokenPath:
    """The text of greedy decoding from the root."""
    *_, last = _decode(tree, DecodingSettings(strategy="greedy", max_new_tokens=DEPTH))
    return last.returned[0].tokens


def _decode(tree: WordTree, settings: DecodingSettings) -> Iterator[Step]:
    """The steps of a strategy over the tree; its texts end by their length."""
    model = TreeModel(tree)
    return generate(model, (ROOT,), settings.strategy_for(Request.of_model(model, (ROOT,))))
