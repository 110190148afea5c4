"""What the visitor's browser keeps of Compare: the prompt, and the cards with their settings, texts, runs, numbers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, cast, get_args

from decoding.settings import DecodingSettings
from decoding.step import FinishReason
from model.errors import AttendError
from model.text.languages import unmarked
from ui.compare.cards import MAX
from ui.compare.values import form_settings
from ui.kit.validation import MAX_CHARACTERS
from ui.runs.comparison import Card, CardMetrics, Comparison, Prompt
from ui.runs.documents.document import Document, OpenedDocument, first_words, refused, runs_so_far
from ui.runs.documents.reader import (
    InvalidDocument,
    as_count,
    as_mapping,
    as_number,
    as_switch,
    as_text,
    ids_in,
    list_in,
    wrong,
)
from ui.runs.documents.runs import MAX_NAME, MAX_TOKENS, run_name
from ui.runs.documents.steps import MAX_STEPS
from ui.runs.documents.traces import read_messages
from ui.runs.documents.turns import read_tokens
from ui.runs.run import RunRecord, name_kept
from ui.runs.session import Session

MAX_METRIC = math.exp(700.0)  # the largest perplexity there is
MAX_SEED = 2**64


def compare_document(session: Session, key: str = "") -> Document | None:
    """None while there is no comparison. See `name_kept` for the key."""
    comparison = session.comparison
    if comparison is None:
        return None
    prompt, runs = comparison.prompt, runs_so_far(session)
    cards = [(card, card.kept_run or runs[card.run.id]) for card in comparison.cards]
    content = {
        "model": comparison.model,
        "text": prompt.text,
        "ids": list(prompt.ids),
        "messages": [dict(message) for message in prompt.messages],
        "dropped": prompt.dropped,
        "context": comparison.context_length,
        "common": comparison.common_draws,
        "history": comparison.history,
        "seed": comparison.seed,
        "cards": [_card_document(card, run) for card, run in cards],
    }
    model, title = unmarked(comparison.model)[0], first_words(prompt.text)
    return Document("compare", name_kept(comparison, key), title, model, content, [run for _, run in cards])


def open_comparison(session: Session, document: OpenedDocument) -> None:
    """Put a comparison that was kept in place of the one in view; `AttendError` for what is none.

    A card whose run is missing keeps its text and its numbers.
    """
    try:
        comparison = _read_comparison(document, f"compare-{session.counter + 1}")
    except InvalidDocument as error:
        raise refused(error) from error
    # nothing is refused from here on
    session.counter += 1
    session.comparison = comparison
    session.runs |= {card.run.id: card.run for card in comparison.cards}
    session.drop_unused_runs()


def _card_document(card: Card, run: RunRecord | str) -> dict[str, Any]:
    return {
        "settings": card.settings.to_dict(),
        "form": dict(card.form),
        "length": card.length,
        "run": run if isinstance(run, str) else run_name(run),
        "tokens": card.tokens,
        "ids": list(card.ids),
        "finish_reason": card.finish_reason,
        "note": card.note,
        "metrics": dataclasses.asdict(card.metrics),
    }


def _read_comparison(document: OpenedDocument, identifier: str) -> Comparison:
    """
    Args:
        identifier: what the runs of the cards are called, with the card's number behind it.
    """
    content = document.content
    text = as_text("its prompt", content.get("text"), MAX_CHARACTERS)
    dropped = as_count("the number of dropped messages", content.get("dropped"), 0, MAX_STEPS)
    ids = ids_in("the tokens of its prompt", content, "ids", MAX_TOKENS)
    prompt = Prompt(text, ids, tuple(read_messages(content)), dropped)
    model = as_text("its model", content.get("model"), MAX_NAME)
    listed = list_in("its cards", content, "cards", MAX)
    if not listed:
        raise wrong("its cards", listed)
    cards = [
        _read_card(as_mapping("a card", each), document.runs, model, f"{identifier}-{number}")
        for number, each in enumerate(listed, start=1)
    ]
    return Comparison(
        model,
        prompt,
        as_count("the model's context", content.get("context"), 1, MAX_TOKENS),
        as_switch("the use of random numbers", content.get("common")),
        tuple(cards),
        history=as_switch("the use of the chat", content.get("history")),
        seed=as_count("its seed", content.get("seed"), -1, MAX_SEED),
        key=document.key,
    )


def _read_card(card: Mapping[str, Any], runs: Mapping[str, RunRecord], model: str, identifier: str) -> Card:
    reason, note = card.get("finish_reason"), card.get("note")
    if reason not in get_args(FinishReason):
        raise wrong("the end of a card", reason)
    name = as_text("the run of a card", card.get("run"))
    known = runs.get(name)
    form = as_mapping("the settings of a card", card.get("form"))
    read = Card(
        RunRecord(identifier, "compare", model, [], forgotten=True)
        if known is None
        else dataclasses.replace(known, id=identifier),
        _read_settings(card.get("settings")),
        as_count("the length of a card", card.get("length"), 0, MAX_TOKENS),
        kept_run="" if known else name,
        form=form_settings(_read_settings(form), form),
        tokens=read_tokens(card),
        ids=ids_in("the tokens of a card", card, "ids", MAX_STEPS),
        finish_reason=cast(FinishReason, reason),
        note=None if note is None else as_text("the note of a card", note),
        metrics=_read_metrics(as_mapping("the numbers of a card", card.get("metrics"))),
    )
    trace = read.run.trace
    read.text = trace.text if trace else "".join(text for text, _ in read.tokens)
    return read


def _read_settings(value: object) -> DecodingSettings:
    try:
        return DecodingSettings.from_dict(as_mapping("the settings of a card", value))
    except AttendError as error:
        raise InvalidDocument(str(error)) from error


def _read_metrics(numbers: Mapping[str, Any]) -> CardMetrics:
    """All but the first difference, which is found again."""
    read: dict[str, Any] = {
        field.name: as_number("a number of a card", value, -MAX_METRIC, MAX_METRIC)
        for field in dataclasses.fields(CardMetrics)
        if (value := numbers.get(field.name)) is not None and field.name not in ("tokens", "first_difference")
    }
    return CardMetrics(as_count("the tokens of a card", numbers.get("tokens"), 0, MAX_STEPS), **read)
