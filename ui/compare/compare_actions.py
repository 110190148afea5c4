"""The actions of Compare: run the cards, open a token of one, remove one or put it back, and save the results.

Each function takes the session and the request, and returns an update of the page, or yields successive ones while the
model writes. Everything is checked before anything changes. Knows nothing of gradio.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from decoding.parameters.parameter import quoted
from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.compare.compare_contract import CompareValue
from ui.compare.comparison_value import FROM_PANEL, comparison_value, form_settings, no_comparison
from ui.compare.repeated import repeated_comparison, repeated_prompt
from ui.compare.results import metrics
from ui.compare.results.shared import file_name
from ui.compare.running import (
    checked_cards,
    checked_without,
    live_runs,
    message_prompt,
    passes_of,
    prepare,
    text_prompt,
    update_cards,
)
from ui.inspector.inspector_contract import InspectorValue
from ui.inspector.opening import open_token as inspect_token
from ui.inspector.opening import opened_if_loaded, streamed
from ui.inspector.why.question import Question
from ui.kit.validation import checked_message, checked_switch, checked_system
from ui.page_update import PageUpdate
from ui.runs.comparison import Comparison
from ui.runs.generation import RunProgress, run_for_visitor
from ui.runs.models import Models
from ui.runs.prompts import latest, supported_system_prompt
from ui.runs.run import RunRecord
from ui.runs.run_values import meter_value
from ui.runs.session import Session
from ui.runs.versions.conversation import Turn
from ui.settings.without import typed_without

TAB = "Compare"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareUpdate(PageUpdate):
    """What changes in Compare."""

    comparison: CompareValue | None = None
    update: int = 0  # taken before `comparison` was made, so that of two the higher one has seen more


def compare(
    session: Session,
    models: Models,
    name: str,
    text: object,
    cards: object,
    *,
    answer: object,
    history: object,
    common: object,
    shared: DecodingSettings,
    system: object = None,
) -> Iterator[CompareUpdate]:
    """Run the cards over a text, or over a message to be answered.

    The last comparison stays until the first token is there, so a failure loses nothing.

    Args:
        answer: whether the text is a message.
        history: whether the message continues the chat's conversation.
        system: the system prompt in its box, which becomes the session's; None keeps the session's.
        shared: the settings beside the text: the seed of all cards, and the default of `FROM_PANEL`.
    """
    session.refuse_while_busy()
    loaded = models.get(name)
    defaults = {name: getattr(shared, name) for name in FROM_PANEL}
    settings = [replace(card, seed=shared.seed) for card in checked_cards(cards, defaults)]
    given_cards = cast(list[dict[str, Any] | None], cards)
    without = checked_without(given_cards)
    instruction = session.system if system is None else checked_system(system)
    goes_on = checked_switch(history, "history")
    is_message = checked_switch(answer, "answer")
    system_prompt = supported_system_prompt(instruction, loaded)
    unchanged = repeated_prompt(session, loaded, (text, is_message, goes_on, system_prompt if is_message else ""))
    if unchanged:
        prompt = unchanged
    elif is_message:
        before = session.turns if goes_on else []
        turns = latest([*before, Turn("user", checked_message(text))])
        prompt = message_prompt(loaded, turns, settings, system_prompt)
    else:
        prompt = text_prompt(loaded, text)
    common_draws, identifier = checked_switch(common, "common_draws"), _next_identifier(session)
    comparison = prepare(loaded, prompt, settings, without=without, common_draws=common_draws, identifier=identifier)
    session.system = instruction
    comparison.history, comparison.seed, comparison.repeats = goes_on, shared.seed, bool(unchanged)
    for card, form in zip(comparison.cards, given_cards, strict=True):
        card.form = form_settings(card.settings, form or {}) | typed_without(card.run.interventions)
    yield from _run(session, models, loaded, comparison)


def repeat(session: Session, models: Models, run: str, changes: list[Any]) -> Iterator[CompareUpdate]:
    """Write a text of any tab again on two cards: as it was, and with parts of the model switched off as well.

    Both read exactly the prompt of that text and draw the random numbers that it drew.

    Args:
        changes: the parts, each as `Intervention.of` reads it.
    """
    session.refuse_while_busy()
    question = Question(session, models, {"run": run, "changes": changes})
    comparison = repeated_comparison(question, _next_identifier(session))
    yield from _run(session, models, models.require_loaded(comparison.model), comparison)


def _next_identifier(session: Session) -> str:
    """What the runs of a new comparison are called, with the card's number behind it."""
    session.counter += 1
    return f"compare-{session.counter}"


def _run(session: Session, models: Models, loaded: LoadedModel, comparison: Comparison) -> Iterator[CompareUpdate]:
    """Run all cards of a comparison that was prepared."""
    passes = passes_of(comparison, models, attention=True, visitor=session.visitor)
    view = _Cards(session, models, loaded, comparison)
    yield from run_for_visitor(session, models, live_runs(comparison), passes, view)


@dataclass(slots=True)
class _Cards:
    """What Compare shows of its cards while they run."""

    session: Session
    models: Models
    loaded: LoadedModel
    comparison: Comparison
    is_kept: bool = False  # once, since the visitor may delete the comparison while it runs

    def started(self) -> CompareUpdate:
        update = _whole(self.session, self.models, self.loaded.name)
        return replace(update, comparison={**cast(CompareValue, update.comparison), "busy": True})

    def updated(self, progress: RunProgress) -> CompareUpdate:
        session, comparison = self.session, self.comparison
        update_cards(comparison, progress)
        since = progress.since
        if not self.is_kept and any(card.ids for card in comparison.cards):
            _keep(session, comparison)
            self.is_kept = True
            since = (0,) * len(since)
        if session.comparison is comparison:
            return _update(session, comparison, self.loaded, since, busy=not progress.ended)
        return _whole(session, self.models, self.loaded.name) if progress.ended else CompareUpdate()


def open_token(session: Session, models: Models, run: str, index: int) -> PageUpdate:
    """Show one token of a card in the inspector."""
    return PageUpdate(
        inspector=inspect_token(session, models, _run_of_card(session, run), index, again="compare again")
    )


def remove(session: Session, models: Models, name: str, runs: Sequence[object]) -> CompareUpdate:
    """Take cards and their texts away; the others are compared with what is then the first. See `restore`."""
    session.refuse_while_busy()
    comparison = session.comparison
    if comparison is None:
        return CompareUpdate()
    comparison.removed += tuple(card for card in comparison.cards if card.run.id in runs)
    comparison.cards = tuple(card for card in comparison.cards if card.run.id not in runs)
    if not comparison.cards:
        session.comparison = None
    session.drop_unused_runs()
    update = resend(session, models, name)
    is_inspected = any(card.run.id == session.inspected_run for card in comparison.cards)
    return update if is_inspected else replace(update, inspector=_first_card(session, models))


def restore(session: Session, models: Models, name: str, run: str, index: int) -> CompareUpdate:
    """Put a removed card back, with its text, before the card at this index; do nothing if there is no such card.

    The page shows it already, so it isn't refused while another tab writes. While a comparison is running, it has no
    removed cards.
    """
    comparison = session.comparison
    back = tuple(card for card in comparison.removed if card.run.id == run) if comparison else ()
    if comparison and back:
        comparison.removed = tuple(card for card in comparison.removed if card.run.id != run)
        comparison.cards = (*comparison.cards[:index], *back, *comparison.cards[index:])
    return resend(session, models, name)


def overview(session: Session, models: Models, name: str) -> CompareUpdate:
    """The current state of Compare: the cards, the first one's numbers, and the context usage."""
    session.inspected_run = None
    return replace(resend(session, models, name), inspector=_first_card(session, models))


def resend(session: Session, models: Models, name: str) -> CompareUpdate:
    """All of the comparison, and the meter; the inspector stays. The model that is chosen may be another by now."""
    comparison = session.comparison
    if comparison is None:
        meter = meter_value(0, models.get(name).model.context_length)
    else:
        meter = meter_value(_longest(comparison), comparison.context_length, comparison.prompt.dropped)
    return replace(_whole(session, models, name), meter=meter)


def file(session: Session, kind: str) -> tuple[list[str], str]:
    """What names the comparison's file, and its content as CSV, as JSON or as Markdown."""
    if session.comparison is None:
        raise AttendError("There is nothing to download yet: press Compare first.")
    if kind == "csv":
        text = metrics.table(session.comparison)
    elif kind == "json":
        text = json.dumps(metrics.document(session.comparison), ensure_ascii=False, indent=1)
    elif kind == "md":
        text = metrics.markdown(session.comparison)
    else:
        raise AttendError(f"A comparison can't be downloaded as {quoted(kind)}: choose csv, json or md.")
    return file_name(session.comparison), text


def _whole(session: Session, models: Models, name: str) -> CompareUpdate:
    """All of the comparison."""
    update = session.next_update()
    chats, comparison, history = models.get(name).chat is not None, session.comparison, bool(session.turns)
    if comparison is None:
        return CompareUpdate(comparison=no_comparison(chats=chats, history=history), update=update)
    value = comparison_value(comparison, busy=_growing(session), chats=chats, history=history)
    return CompareUpdate(comparison=value, update=update)


def _keep(session: Session, comparison: Comparison) -> None:
    """Replace the last comparison, and its runs, by this one; only while Compare is in view, the inspector follows."""
    with session.lock:  # what another tab does meanwhile may drop runs
        session.comparison = comparison
        session.runs |= {card.run.id: card.run for card in comparison.cards}
        session.drop_unused_runs()
        if session.tab.requested in ("", TAB):
            session.inspected_run = comparison.cards[0].run.id


def _update(
    session: Session, comparison: Comparison, loaded: LoadedModel, since: Sequence[int], *, busy: bool
) -> CompareUpdate:
    """The new tokens of the cards; at the end, the complete cards."""
    is_new_to_page = comparison.repeats and not any(since)
    sent, update = since if busy and not is_new_to_page else None, session.next_update()
    chats = loaded.chat is not None
    inspected = [
        streamed(session, card.run, new, loaded, busy=busy)
        for card, new in zip(comparison.cards, since, strict=True)
        if card.run.id == session.inspected_run
    ]
    meter = meter_value(_longest(comparison), loaded.model.context_length, comparison.prompt.dropped)
    return CompareUpdate(
        comparison=comparison_value(comparison, busy=busy, chats=chats, history=bool(session.turns), since=sent),
        update=update,
        inspector=inspected[0] if inspected else None,
        meter=meter if inspected else None,
        seed=None if busy else session.seed,
    )


def _run_of_card(session: Session, identifier: str) -> RunRecord:
    """The card with this run; `AttendError` if there is none."""
    cards = () if session.comparison is None else session.comparison.cards
    for card in cards:
        if card.run.id == identifier:
            return card.run
    raise AttendError("This card's text is no longer stored: compare again to inspect it.")


def _first_card(session: Session, models: Models) -> InspectorValue:
    comparison = session.comparison
    return opened_if_loaded(session, models, comparison and comparison.cards[0].run, "compare")


def _growing(session: Session) -> bool:
    cards = () if session.comparison is None else session.comparison.cards
    return any(card.run.id in session.growing for card in cards)


def _longest(comparison: Comparison) -> int:
    """Tokens of the fullest context."""
    return max(card.run.length for card in comparison.cards)
