"""The numbers under each card of a comparison, and the comparison as a table (CSV) and as a document (JSON).

Pure functions over what `compare.py` gathered; they can be called while the cards are still running.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ui.compare import Card, Comparison

SCHEMA = "attend.compare/1"


@dataclass(frozen=True, slots=True)
class Figures:
    """One card in numbers; None where there is nothing yet to count."""

    tokens: int
    tokens_per_second: float | None  # in the company of the other cards
    mean_log_probability: float | None  # nats a token, the model's own, whatever the filters did
    perplexity: float | None  # exp(-mean log-probability)
    mean_entropy: float | None  # bits, of the model's own distributions along the text
    distinct_2: float | None  # different pairs of neighbouring tokens / all of them (after Li et al. 2016)
    top_share: float | None  # how often the model's most probable token was taken
    first_difference: int | None  # the first token that is another than the first card's, from 0; None where none is


def figures(card: Card, first: Card) -> Figures:
    """A card's numbers; `first` is the one that the others are held against."""
    ids, choices, best = card.ids, card.trace.choices(), card.trace.best
    count = len(ids)
    if best is None or not count:
        return Figures(0, None, None, None, None, None, None, None)
    mean = best.log_probability / count
    pairs = list(itertools.pairwise(ids))
    return Figures(
        tokens=count,
        tokens_per_second=count / card.seconds if card.seconds else None,
        mean_log_probability=mean,
        perplexity=math.exp(min(-mean, 700.0)),  # beyond it a float overflows
        mean_entropy=sum(choice.entropy for choice in choices) / count,
        distinct_2=len(set(pairs)) / len(pairs) if pairs else None,
        top_share=sum(choice.rank == 1 for choice in choices) / count,
        first_difference=first_difference(ids, first.ids),
    )


def first_difference(ids: Sequence[int], reference: Sequence[int]) -> int | None:
    """The first place where two texts have different tokens; a text that only ends earlier differs nowhere."""
    return next((place for place, (one, other) in enumerate(zip(ids, reference, strict=False)) if one != other), None)


def all_figures(comparison: Comparison) -> list[Figures]:
    return [figures(card, comparison.cards[0]) for card in comparison.cards]


def table(comparison: Comparison) -> str:
    """CSV with a row for each card: its number, its settings, its numbers, how it ended, its text."""
    rows = []
    for number, (card, numbers) in enumerate(zip(comparison.cards, all_figures(comparison), strict=True), start=1):
        told = {"card": number, **card.settings.to_dict(), **dataclasses.asdict(numbers)}
        rows.append({**told, "finish_reason": card.trace.finish_reason, "text": _harmless(card.trace.text)})
    written = io.StringIO()
    writer = csv.DictWriter(written, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison in plain values, ready for JSON; each card with its run as an attend.trace/1 document."""
    return {
        "schema": SCHEMA,
        "model": comparison.model,
        "prompt": {"text": comparison.asked.text, "ids": list(comparison.asked.ids)},
        "common_draws": comparison.common_draws,
        "cards": [
            {
                "settings": card.settings.to_dict(),
                "text": card.trace.text,
                **dataclasses.asdict(numbers),
                "finish_reason": card.trace.finish_reason,
                "trace": card.trace.document(),
            }
            for card, numbers in zip(comparison.cards, all_figures(comparison), strict=True)
        ],
    }


def _harmless(text: str) -> str:
    """A spreadsheet runs a cell that begins like a formula, whoever wrote it; JSON has the text as it is."""
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") else text
