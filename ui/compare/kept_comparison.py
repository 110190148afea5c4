"""What the visitor's browser keeps of Compare: the prompt, and the cards with their settings, texts, runs, numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, StrictBool
from typing_extensions import TypedDict

from decoding.run.reader import checked
from decoding.run.run_document import MAX_STEPS, MAX_TOKENS, Count, Label, Name, TokenIds
from decoding.settings import DecodingSettings
from decoding.step import FinishReason
from model.text.languages import unmarked
from ui.compare.comparison_value import form_settings
from ui.compare.running import MAX
from ui.runs.comparison import Card, CardMetrics, Comparison, Prompt
from ui.runs.documents.kept_document import Document, OpenedDocument, first_words, runs_so_far
from ui.runs.documents.runs import run_name
from ui.runs.documents.turns import ShortText, Tokens
from ui.runs.run import RunRecord, name_kept
from ui.runs.session import Session
from ui.settings.without import plain_settings, typed_without, without_of


class KeptCard(TypedDict):
    settings: dict[str, Any]
    form: dict[str, Any]  # what the visitor typed
    length: Annotated[int, Field(ge=0, le=MAX_TOKENS)]
    run: Label
    tokens: Tokens
    ids: Annotated[TokenIds, Field(max_length=MAX_STEPS)]
    finish_reason: FinishReason
    note: Label | None
    metrics: CardMetrics  # but for the first difference, which is found again


class KeptMessage(TypedDict):
    role: Literal["system", "user", "assistant"]
    content: ShortText


class KeptComparison(TypedDict):
    model: Name
    text: ShortText
    ids: TokenIds
    messages: Annotated[list[KeptMessage], Field(max_length=1000)]
    dropped: Count
    context: Annotated[int, Field(ge=1, le=MAX_TOKENS)]
    common: StrictBool
    history: StrictBool
    repeats: NotRequired[StrictBool]  # absent in older documents
    seed: Annotated[int, Field(ge=-1, le=2**64)]
    cards: Annotated[list[KeptCard], Field(min_length=1, max_length=MAX)]


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
        "repeats": comparison.repeats,
        "seed": comparison.seed,
        "cards": [_card_document(card, run) for card, run in cards],
    }
    model, title = unmarked(comparison.model)[0], first_words(prompt.text)
    return Document("compare", name_kept(comparison, key), title, model, content, [run for _, run in cards])


def open_comparison(session: Session, document: OpenedDocument) -> None:
    """Put a comparison that was kept in place of the one in view.

    A card whose run is missing keeps its text and its numbers.
    """
    comparison = _read_comparison(document, f"compare-{session.counter + 1}")
    # nothing is refused from here on
    session.counter += 1
    session.comparison = comparison
    session.runs |= {card.run.id: card.run for card in comparison.cards}
    session.drop_unused_runs()


def discard_comparison(session: Session) -> None:
    """Remove the texts in view; the page keeps the settings of their cards."""
    session.comparison = None


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
    content = checked(KeptComparison, document.content)
    messages = tuple({"role": str(one["role"]), "content": one["content"]} for one in content["messages"])
    cards = [
        _read_card(card, document.runs, content["model"], f"{identifier}-{number}")
        for number, card in enumerate(content["cards"], start=1)
    ]
    return Comparison(
        content["model"],
        Prompt(content["text"], tuple(content["ids"]), messages, content["dropped"]),
        content["context"],
        content["common"],
        tuple(cards),
        history=content["history"],
        repeats=content.get("repeats", False),
        seed=content["seed"],
        key=document.key,
    )


def _read_card(card: KeptCard, runs: Mapping[str, RunRecord], model: str, identifier: str) -> Card:
    known, tokens = runs.get(card["run"]), card["tokens"]
    if known is None:
        run = RunRecord(identifier, "compare", model, [], forgotten=True)
    else:
        run = dataclasses.replace(known, id=identifier)
    return Card(
        run,
        DecodingSettings.from_dict(card["settings"]),
        card["length"],
        kept_run="" if known else card["run"],
        form=_read_form(card["form"]),
        tokens=tokens,
        ids=tuple(card["ids"]),
        text=run.trace.text if run.trace else "".join(token["text"] for token in tokens),
        finish_reason=card["finish_reason"],
        note=card["note"],
        metrics=dataclasses.replace(card["metrics"], first_difference=None),
    )


def _read_form(form: Mapping[str, Any]) -> dict[str, Any]:
    settings = plain_settings(form)
    return form_settings(DecodingSettings.from_dict(settings), settings) | typed_without(without_of(form))
