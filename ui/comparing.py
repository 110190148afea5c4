"""What happens in Compare: run the cards, open a token of one, take one away, and the files.

Each is a function of the session and what was asked for that returns the new screen, or yields one after another while
the model writes. What is asked for comes from the page's script, so everything is checked before anything changes. The
file knows nothing of gradio.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from decoding.parameter import shown
from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from ui import figures
from ui.chat import drawn_seed, latest, opened, opened_if_there
from ui.checks import checked_message, checked_switch
from ui.compare import Comparison, Update, checked_cards, prepare, run_cards, said, written
from ui.compare_values import FROM_PANEL, comparison_value, no_comparison
from ui.contract import Answer, CompareValue, InspectorValue
from ui.models import Models
from ui.prompt_value import system_of
from ui.screen import Screen
from ui.session import Run, Session, Turn
from ui.values import OVERLAP, inspector_value, meter_value


def compare(
    session: Session,
    models: Models,
    name: str,
    text: object,
    cards: object,
    *,
    answer: object,
    history: object,
    common_draws: object,
    panel: DecodingSettings,
) -> Iterator[Screen]:
    """Run the cards over a text, or over a message to be answered.

    The last comparison stays until the first token has come, so that whatever cannot be run takes nothing away.

    Args:
        answer: whether the text is a message.
        history: whether the message goes on from the chat, whose turns then stand before it.
        panel: the settings beside the text. The seed of all cards is theirs, and how long a text may be and how much of
            it is recorded, where a card says nothing else.
    """
    session.refuse_while_busy()
    loaded = models.get(name)
    shared = {name: getattr(panel, name) for name in FROM_PANEL}
    settings = [replace(one, seed=panel.seed) for one in checked_cards(cards, shared)]
    goes_on = checked_switch(history, "history")
    if checked_switch(answer, "answer"):
        before = session.turns if goes_on else []
        turns = latest([*before, Turn("user", checked_message(text))])
        asked = said(loaded, turns, settings, system_of(session, loaded))
    else:
        asked = written(loaded, text)
    session.counter += 1
    identifier = f"compare-{session.counter}"
    common = checked_switch(common_draws, "common_draws")
    comparison = prepare(loaded, asked, settings, common_draws=common, identifier=identifier)
    stop = session.begin()
    try:
        yield Screen(comparison={**_value(session, models, name), "busy": True})
        for update in run_cards(comparison, models, stop=stop, attention=True):
            ended = update.ending is not None
            if session.comparison is not comparison and any(card.ids for card in comparison.cards):
                _keep(session, comparison)
                update = replace(update, since=(0,) * len(settings))
            if ended:
                session.end(stop)
            if session.comparison is comparison:
                yield _update(session, comparison, loaded, update)
            else:
                yield Screen(comparison=_value(session, models, name) if ended else None)
        keep = session.runs.get(session.shown or "") or comparison.cards[0].run
        session.limit_attention(keep=keep)
        session.limit_traces(keep=keep)
    except Exception:
        session.end(stop)
        yield Screen(comparison=_value(session, models, name))
        raise
    finally:
        session.end(stop)


def open_token(session: Session, models: Models, identifier: str, index: int) -> Screen:
    """What lies behind one token of a card."""
    run = _run_of_card(session, identifier)
    place = run.first + index
    if not run.first <= place < len(run.tokens):
        raise AttendError("This token is no longer here: compare again to see its numbers.")
    return Screen(inspector=opened(session, models, run, place))


def remove(session: Session, models: Models, name: str, identifiers: Sequence[object]) -> Screen:
    """Take cards and their texts away; the others are held against what is then the first."""
    session.refuse_while_busy()
    comparison = session.comparison
    if comparison is None:
        return Screen()
    comparison.cards = tuple(card for card in comparison.cards if card.run.id not in identifiers)
    if not comparison.cards:
        session.comparison = None
    session.drop_unused_runs()
    screen = whole(session, models, name)
    return screen if session.shown in session.runs else replace(screen, inspector=_first_card(session, models))


def overview(session: Session, models: Models, name: str) -> Screen:
    """Compare as it stands: the cards, the first one's numbers, and how full the context is."""
    session.shown = None
    return replace(whole(session, models, name), inspector=_first_card(session, models))


def whole(session: Session, models: Models, name: str) -> Screen:
    """All of the comparison, and the meter; the inspector stays. The model that is chosen may be another by now."""
    comparison = session.comparison
    if comparison is None:
        meter = meter_value(0, models.get(name).model.context_length)
    else:
        limit = comparison.cards[0].trace.request.context_length
        meter = meter_value(_longest(comparison), limit, comparison.asked.dropped)
    return Screen(comparison=_value(session, models, name), meter=meter)


def file(session: Session, number: int, kind: str) -> Screen:
    """The comparison as CSV or as JSON, in reply to question `number` of the page."""
    if session.comparison is None:
        raise AttendError("There is nothing to download yet: compare first.")
    if kind == "csv":
        text = figures.table(session.comparison)
    elif kind == "json":
        text = json.dumps(figures.document(session.comparison), ensure_ascii=False, indent=1)
    else:
        raise AttendError(f"There is no {shown(kind)} file of a comparison: choose csv or json.")
    answer: Answer = {"number": number, "file": (f"attend-compare.{kind}", text)}
    return Screen(comparison=answer)


def _value(session: Session, models: Models, name: str) -> CompareValue:
    """What stands in Compare, whole."""
    chats, comparison = models.get(name).chat is not None, session.comparison
    if comparison is None:
        return no_comparison(chats=chats, history=bool(session.turns))
    return comparison_value(comparison, busy=_growing(session), chats=chats, history=bool(session.turns))


def _keep(session: Session, comparison: Comparison) -> None:
    """Let its cards be opened, in place of those of the last comparison."""
    session.comparison = comparison
    session.runs |= {card.run.id: card.run for card in comparison.cards}
    session.drop_unused_runs()
    session.growing = tuple(card.run.id for card in comparison.cards)
    session.shown = session.growing[0]


def _update(session: Session, comparison: Comparison, loaded: LoadedModel, update: Update) -> Screen:
    """What an update of the cards changes on the page; at the end, all of them are sent whole."""
    busy = update.ending is None
    since = update.since if busy else None
    chats = loaded.chat is not None
    return Screen(
        comparison=comparison_value(comparison, busy=busy, chats=chats, history=bool(session.turns), since=since),
        inspector=_followed(session, comparison, loaded, update),
        meter=meter_value(_longest(comparison), loaded.model.context_length, comparison.asked.dropped),
        seed=None if busy else _seed(comparison),
    )


def _followed(session: Session, comparison: Comparison, loaded: LoadedModel, update: Update) -> InspectorValue | None:
    """What is new of the card that the inspector shows, if it shows one."""
    for card, new in zip(comparison.cards, update.since, strict=True):
        if card.run.id == session.shown:
            since = max(0, new - OVERLAP)
            return inspector_value(card.run, loaded.tokenizer, busy=update.ending is None, since=since)
    return None


def _seed(comparison: Comparison) -> int:
    """That of the first card, which the others share or count on from; -1 where no card drew anything."""
    drawn = any(drawn_seed(card.settings) >= 0 for card in comparison.cards)
    return comparison.cards[0].settings.seed if drawn else -1


def _run_of_card(session: Session, identifier: str) -> Run:
    """`AttendError` for a card that is not there, whoever made up its name."""
    cards = () if session.comparison is None else session.comparison.cards
    for card in cards:
        if card.run.id == identifier:
            return card.run
    raise AttendError("This card's text is no longer here: compare again to see its numbers.")


def _first_card(session: Session, models: Models) -> InspectorValue:
    comparison = session.comparison
    return opened_if_there(session, models, None if comparison is None else comparison.cards[0].run)


def _growing(session: Session) -> bool:
    cards = () if session.comparison is None else session.comparison.cards
    return any(card.run.id in session.growing for card in cards)


def _longest(comparison: Comparison) -> int:
    """Tokens of the fullest context."""
    return max(card.run.length for card in comparison.cards)
