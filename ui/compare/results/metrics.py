"""The numbers under each card of a comparison, and the comparison as tables (CSV, Markdown) and as a document (JSON).

Pure functions; they can be called while the cards are still running.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from decoding.run.trace import Trace
from ui.kit.labels import LABELS
from ui.runs.answer_text import common_prefix
from ui.runs.comparison import Card, CardMetrics, Comparison

SCHEMA = "attend.compare/1"


def card_metrics(card: Card, first: Card) -> CardMetrics:
    """A card's numbers; `first` is the one that the others are compared with."""
    return replace(card.metrics, first_difference=first_difference(card.ids, first.ids))


def measure(trace: Trace, seconds: float) -> CardMetrics:
    """The numbers of one run by itself. It has no speed if the model was changed inside, since such passes are slower
    for a reason that has nothing to do with the text.

    Args:
        seconds: that computing it took.
    """
    ids, choices, best = trace.ids, trace.choices(), trace.best
    count = len(ids)
    if best is None or not count:
        return CardMetrics()
    mean = best.log_probability / count
    pairs = list(itertools.pairwise(ids))
    return CardMetrics(
        tokens=count,
        tokens_per_second=count / seconds if seconds and not trace.request.options.interventions else None,
        mean_log_probability=mean,
        perplexity=math.exp(min(-mean, 700.0)),  # beyond it a float overflows
        mean_entropy=sum(choice.entropy for choice in choices) / count,
        distinct_2=len(set(pairs)) / len(pairs) if pairs else None,
        top_share=sum(choice.rank == 1 for choice in choices) / count,
    )


def first_difference(ids: Sequence[int], reference: Sequence[int]) -> int | None:
    """The index of the first token that differs; None where one text is the beginning of the other."""
    index = common_prefix(ids, reference)
    return index if index < min(len(ids), len(reference)) else None


def all_metrics(comparison: Comparison) -> list[CardMetrics]:
    return [card_metrics(card, comparison.cards[0]) for card in comparison.cards]


def table(comparison: Comparison) -> str:
    """CSV with a row for each card: its number, model and prompt, its settings, its numbers, how it ended, its text."""
    rows = []
    for number, (card, numbers) in enumerate(zip(comparison.cards, all_metrics(comparison), strict=True), start=1):
        row = {"card": number, "model": comparison.model, "prompt": comparison.prompt.text}
        row |= {**card.settings.to_dict(), "without": card.form.get("without", ""), **dataclasses.asdict(numbers)}
        row |= {"finish_reason": card.finish_reason, "text": card.text}
        rows.append({name: _harmless(value) if isinstance(value, str) else value for name, value in row.items()})
    written = io.StringIO()
    writer = csv.DictWriter(written, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def markdown(comparison: Comparison) -> str:
    """A text for a blog: what was asked, and a row for each card with its settings, its numbers and its text."""
    head = ["card", "settings", "tokens", "log-probability", "perplexity", "entropy, bits", "text"]
    rows = [head, ["---:", "---", *["---:"] * 4, "---"]]
    for number, (card, numbers) in enumerate(zip(comparison.cards, all_metrics(comparison), strict=True), start=1):
        settings = ", ".join(f"{LABELS.get(name, name)} {value}" for name, value in card.form.items())
        measures = (numbers.mean_log_probability, numbers.perplexity, numbers.mean_entropy)
        figures = [f"{figure:.2f}" if figure is not None else "" for figure in measures]
        rows.append([str(number), _plain(settings), str(numbers.tokens), *figures, _plain(card.text)])
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"**Prompt** ({_plain(comparison.model)}): {_plain(comparison.prompt.text)}\n\n{lines}\n"


def _plain(text: str) -> str:
    """A text in which nothing has a meaning in Markdown, in one line."""
    return re.sub(r"([\\`*_\[\]<>|&~$#])", r"\\\1", " ".join(text.split()))


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison in plain values, ready for JSON; each card with its run as an attend.trace/2 document.

    `AttendError` where the runs were too large to store.
    """
    return {
        "schema": SCHEMA,
        "model": comparison.model,
        "prompt": {"text": comparison.prompt.text, "ids": list(comparison.prompt.ids)},
        "common_draws": comparison.common_draws,
        "cards": [
            {
                "settings": card.settings.to_dict(),
                "text": card.text,
                **dataclasses.asdict(numbers),
                "finish_reason": card.finish_reason,
                "trace": card.trace.document(),
            }
            for card, numbers in zip(comparison.cards, all_metrics(comparison), strict=True)
        ],
    }


def _harmless(text: str) -> str:
    """A spreadsheet would run a text that looks like a formula, so it is escaped; JSON has the text unchanged."""
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") else text
