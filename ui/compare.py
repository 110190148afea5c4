"""Comparing: one prompt under several cards of settings, side by side, in one batch through the model.

Cards that would make the batch too large together take turns: the next are begun when those before them have ended.

All cards draw from one stream of random numbers, so that what differs between them comes of their settings; switched
off, every card has a stream of its own. Each card is followed like an answer of the chat.
Knows nothing of gradio, or of how any of it is shown; the numbers and files of a comparison are in `figures.py`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from decoding.settings import SEEDS, DecodingSettings
from decoding.step import Step
from decoding.trace import Trace
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.chat import chat_prompt, chat_settings
from ui.checks import checked_start, on_card
from ui.follow import Growth
from ui.models import Models
from ui.session import Run, Seen, Turn
from ui.spoken import Spoken
from ui.stream import Ending, stream
from ui.values import answer_tokens

FEWEST, MOST = 2, 6  # cards
MOST_ROWS = 64  # of one pass: as many as one card can need, which keeps a step of all cards as quick as that card's

# Values that show what a setting does, from careful to bold.
SWEEPS: Mapping[str, tuple[float | str, ...]] = MappingProxyType(
    {
        "temperature": (0, 0.5, 1, 1.5),
        "top_k": (1, 5, 40, 0),
        "top_p": (0.5, 0.8, 0.95, 1),
        "num_beams": (1, 2, 4, 8),
        "strategy": ("greedy", "sample", "beam"),
    }
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What all cards continue."""

    text: str  # as a person wrote it
    ids: tuple[int, ...]
    messages: tuple[Mapping[str, str], ...] = ()  # the conversation, where it is one, its system prompt first
    dropped: int = 0  # how many of its oldest messages had no room


@dataclass(slots=True)
class Card:
    """One column: settings, and what they have made of the prompt so far."""

    settings: DecodingSettings
    growth: Growth
    spoken: Spoken
    tokens: list[tuple[str, float]] = field(default_factory=list)  # text and probability of what it has said
    seconds: float = 0.0  # of computing in its turn, up to its newest token

    @property
    def run(self) -> Run:
        """It as the inspector shows it."""
        return self.growth.run

    @property
    def trace(self) -> Trace:
        return self.growth.trace

    @property
    def ids(self) -> tuple[int, ...]:
        return self.trace.ids

    def add(self, steps: Sequence[Step], *, ended: bool) -> int:
        """Returns the first token of the run that differs from before."""
        since = self.growth.add(steps)
        if steps or ended:
            made = self.run.tokens[len(self.trace.request.read) :]
            self.tokens = answer_tokens(made, self.spoken, finished=ended or self.growth.reason is not None)
        return since


@dataclass(slots=True)
class Comparison:
    """Several cards over one prompt."""

    model: str
    asked: Asked
    common_draws: bool
    cards: tuple[Card, ...]
    ending: Ending | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """What happened since the last one."""

    since: tuple[int, ...]  # of each card's run the first token that is new; the number of tokens where none is
    ending: Ending | None = None


def written(loaded: LoadedModel, text: object) -> Asked:
    """A raw text to continue."""
    checked = checked_start(text, "The prompt")
    return Asked(checked, loaded.prompt(checked))


def said(loaded: LoadedModel, turns: Sequence[Turn], settings: Sequence[DecodingSettings], system: str = "") -> Asked:
    """A conversation whose last message is to be answered, with room for the longest answer asked for."""
    if loaded.chat is None:
        raise AttendError(f"{loaded.name} was not made for conversations: let it continue the text instead.")
    longest = max(settings, key=lambda one: one.max_new_tokens)
    prompt, messages = chat_prompt(loaded, turns, longest, system)
    return Asked(turns[-1].text, prompt.ids, tuple(messages), prompt.dropped)


def sweep(base: DecodingSettings, name: str, values: Sequence[float | str]) -> list[DecodingSettings]:
    """A card for each value of one setting, all else as in `base`."""
    return [replace(base, **{name: value}) for value in values]


def check_count(cards: int) -> None:
    """`AttendError` for fewer or more cards than can be compared."""
    if not FEWEST <= cards <= MOST:
        raise AttendError(
            f"There {'is 1 card' if cards == 1 else f'are {cards:,} cards'}, but a comparison has {FEWEST} to {MOST}: "
            f"{'add some' if cards < FEWEST else 'take some away'}."
        )


def checked_cards(settings: object, shared: Mapping[str, object] = MappingProxyType({})) -> list[DecodingSettings]:
    """What several cards should run under; `shared` holds where a card says nothing else, and None says nothing."""
    if not isinstance(settings, list):
        raise AttendError("The settings must be a list of JSON objects, one for each card: send such a list.")
    check_count(len(settings))
    cards = []
    for number, one in enumerate(settings, start=1):
        with on_card(number):
            own = {} if one is None else one
            cards.append(DecodingSettings.from_dict({**shared, **own} if isinstance(own, Mapping) else own))
    return cards


def with_seeds(settings: Sequence[DecodingSettings], *, common_draws: bool) -> list[DecodingSettings]:
    """Definite seeds: one for all cards, or that of the first and those that follow it."""
    given = sorted({one.seed for one in settings if one.seed >= 0})
    if len(given) > 1:
        raise AttendError(
            f"The cards have the seeds {given[0]} and {given[1]}, but a comparison has one, which all cards share or "
            "count on from: give it once, or the same to all."
        )
    seed = given[0] if given else next((one.seeded().seed for one in settings if one.drawn), 0)
    return [replace(one, seed=(seed + (0 if common_draws else place)) % SEEDS) for place, one in enumerate(settings)]


def prepare(
    loaded: LoadedModel,
    asked: Asked,
    settings: Sequence[DecodingSettings],
    *,
    common_draws: bool = True,
    identifier: str = "compare",
) -> Comparison:
    """All that can be refused is refused here, before anything runs.

    Args:
        identifier: what the runs of the cards are called, with the card's number behind it; another one for every
            comparison that a page shows.
    """
    check_count(len(settings))
    request = Models.request(loaded, asked.ids)
    if asked.messages:
        settings = [chat_settings(loaded, one) for one in settings]
    cards = []
    for number, one in enumerate(with_seeds(settings, common_draws=common_draws), start=1):
        with on_card(number):
            one.strategy_for(request)  # refuses what cannot be done with this prompt
        trace = Models.trace(loaded, asked.text, request, one, asked.messages)
        prompt = [Seen(token, "given") for token in request.read]
        run = Run(f"{identifier}-{number}", "chat", loaded.name, prompt, dropped=asked.dropped)
        cards.append(Card(one, Growth(run, trace), Spoken(loaded.tokenizer, one.stop_texts, begins=loaded.begins_anew)))
    return Comparison(loaded.name, asked, common_draws, tuple(cards))


def run_cards(
    comparison: Comparison, models: Models, *, stop: threading.Event, attention: bool, per_second: float = 20.0
) -> Iterator[Update]:
    """Run all cards to their ends, at most `per_second` updates a second; `stop` or closing it ends the work."""
    loaded = models.get(comparison.model)
    passes = _passes(comparison, models, attention)
    for batch in stream(passes, lock=loaded.lock, stop=stop, time_limit=models.time_limit, per_second=per_second):
        new: list[list[Step]] = [[] for _ in comparison.cards]
        for seconds, steps in batch.steps:
            for place, step in steps.items():
                comparison.cards[place].seconds = seconds
                new[place].append(step)
        ended = batch.ending is not None
        since = tuple(card.add(steps, ended=ended) for card, steps in zip(comparison.cards, new, strict=True))
        comparison.ending = batch.ending
        yield Update(since, batch.ending)


def turns_of(settings: Sequence[DecodingSettings]) -> list[list[int]]:
    """The places of the cards that run together, in their order: as many at a time as `MOST_ROWS` has room for."""
    turns: list[list[int]] = []
    room = 0
    for place, one in enumerate(settings):
        if one.rows > room:
            turns.append([])
            room = MOST_ROWS
        turns[-1].append(place)
        room -= one.rows
    return turns


def _passes(
    comparison: Comparison, models: Models, attention: bool
) -> Generator[tuple[float, dict[int, Step]], None, None]:
    """Of every pass what it decided, by the card's place, and the seconds that computing took so far in its turn;
    waiting for other visitors or for the page does not count."""
    settings = [card.settings for card in comparison.cards]
    for places in turns_of(settings):
        cards = {place + 1: settings[place] for place in places}
        passes = models.decode_together(comparison.model, comparison.asked.ids, cards, attention)
        with closing(passes):
            seconds, begun = 0.0, time.perf_counter()
            for steps in passes:
                seconds += time.perf_counter() - begun
                yield seconds, {number - 1: step for number, step in steps.items()}
                begun = time.perf_counter()
