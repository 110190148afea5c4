"""Running a comparison: one prompt under several cards of settings, in one batch.

If all cards together would make the batch too large, they run one group after another; so do cards that switch off
different parts of the model, which can't share a pass. All cards draw from one stream of random numbers, so that only
their settings make them differ; with common draws switched off, each card has its own stream. Knows nothing of gradio
or of how cards are shown; metrics and files are in `results/metrics.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from types import MappingProxyType

from decoding.call import Passes
from decoding.scheduled_run import Pass
from decoding.settings import DecodingSettings
from decoding.uniform import SEEDS
from model.errors import AttendError
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from ui.compare.results.metrics import measure
from ui.kit.validation import checked_start, on_card
from ui.runs.answers import with_others
from ui.runs.comparison import Card, Comparison, Prompt
from ui.runs.generation import RunProgress, follow
from ui.runs.live_run import LiveRun, answer_text
from ui.runs.models import Models
from ui.runs.prompts import chat_prompt, chat_settings
from ui.runs.run import RunRecord, prompt_tokens
from ui.runs.traces import new_trace
from ui.runs.versions.conversation import Turn
from ui.settings.without import plain_settings, without_of

MIN, MAX = 2, 6  # cards

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


def text_prompt(loaded: LoadedModel, text: object) -> Prompt:
    """A raw text to continue."""
    checked = checked_start(text, "The prompt")
    return Prompt(checked, loaded.prompt(checked))


def message_prompt(
    loaded: LoadedModel, turns: Sequence[Turn], settings: Sequence[DecodingSettings], system: str = ""
) -> Prompt:
    """The prompt for an answer to the last message, with room for the longest answer that a card may give."""
    if loaded.chat is None:
        raise AttendError(f"{loaded.name} is not a chat model: let it continue the text instead.")
    longest = max(settings, key=lambda settings_: settings_.max_new_tokens)
    prompt, messages = chat_prompt(loaded, turns, longest, system)
    return Prompt(turns[-1].text, prompt.ids, tuple(messages), prompt.dropped)


def sweep(base: DecodingSettings, name: str, values: Sequence[float | str]) -> list[DecodingSettings]:
    """One card for each value of a setting, otherwise like `base`."""
    return [replace(base, **{name: value}) for value in values]


def check_count(cards: int) -> None:
    """`AttendError` for fewer or more cards than can be compared."""
    if not MIN <= cards <= MAX:
        raise AttendError(
            f"There {'is 1 card' if cards == 1 else f'are {cards:,} cards'}, but a comparison needs {MIN} to "
            f"{MAX}: {'add some' if cards < MIN else 'remove some'}."
        )


def checked_cards(settings: object, shared: Mapping[str, object] = MappingProxyType({})) -> list[DecodingSettings]:
    """The settings of several cards; `shared` are defaults for all of them, and a card of None changes nothing."""
    if not isinstance(settings, list):
        raise AttendError("The settings must be a list of JSON objects, one per card.")
    check_count(len(settings))
    cards = []
    for number, entry in enumerate(settings, start=1):
        with on_card(number):
            own = plain_settings(entry)
            cards.append(DecodingSettings.from_dict({**shared, **own} if isinstance(own, Mapping) else own))
    return cards


def checked_without(cards: Sequence[object]) -> list[tuple[Intervention, ...]]:
    """What each of several cards switches off inside the model."""
    interventions = []
    for number, card in enumerate(cards, start=1):
        with on_card(number):
            interventions.append(without_of(card))
    return interventions


def with_seeds(settings: Sequence[DecodingSettings], *, common_draws: bool) -> list[DecodingSettings]:
    """Definite seeds: the same for all cards, or consecutive ones from the first card's on."""
    seeds = sorted({card.seed for card in settings if card.seed >= 0})
    if len(seeds) > 1:
        raise AttendError(
            f"The cards have the seeds {seeds[0]} and {seeds[1]}, but a comparison uses one seed: set it once, or "
            "give all cards the same one."
        )
    seed = seeds[0] if seeds else next((card.seeded().seed for card in settings if card.drawn), 0)
    return [replace(card, seed=(seed + (0 if common_draws else index)) % SEEDS) for index, card in enumerate(settings)]


def prepare(
    loaded: LoadedModel,
    prompt: Prompt,
    settings: Sequence[DecodingSettings],
    *,
    without: Sequence[tuple[Intervention, ...]] = (),
    common_draws: bool = True,
    identifier: str = "compare",
) -> Comparison:
    """All that can be refused is refused here, before anything runs.

    Args:
        without: what each card switches off inside the model; empty where none does.
        identifier: what the runs of the cards are called, with the card's number behind it; another one for every
            comparison that a page shows.
    """
    check_count(len(settings))
    if prompt.messages:
        settings = [chat_settings(loaded, card) for card in settings]
    limit = loaded.model.context_length
    cards = []
    seeded = with_seeds(settings, common_draws=common_draws)
    for number, (card, off) in enumerate(zip(seeded, without or [()] * len(seeded), strict=True), start=1):
        with on_card(number):
            trace = new_trace(
                loaded,
                prompt.ids,
                card,
                text=prompt.text,
                messages=prompt.messages,
                draws_used=prompt.draws_used,
                interventions=off,
            )
        request = trace.request
        name, tokens, source = f"{identifier}-{number}", prompt_tokens(request), request.source
        run = RunRecord(name, "compare", loaded.name, tokens, dropped=prompt.dropped, source=source)
        cards.append(
            Card(run, card, request.room(card.max_new_tokens), LiveRun(run, trace, answer_text(trace, loaded)))
        )
    return Comparison(loaded.name, prompt, limit, common_draws, tuple(cards))


def update_cards(comparison: Comparison, progress: RunProgress) -> None:
    """Let the cards say what their runs say, after every update and at the end."""
    for card, live in zip(comparison.cards, live_runs(comparison), strict=True):
        card.tokens = live.answer()
        card.ids = card.run.ids[card.run.first :]
        card.metrics = measure(live.trace, live.seconds)
        card.finish_reason = live.reason or "cancelled"
        card.note = with_others(live.note, card.run)
        if progress.ended:
            card.text = live.trace.text
    comparison.ending = progress.ending


def live_runs(comparison: Comparison) -> list[LiveRun]:
    """What writes the cards of a comparison that was prepared."""
    return [card.live for card in comparison.cards if card.live is not None]


def passes_of(comparison: Comparison, models: Models, *, attention: bool, visitor: str = "") -> Passes:
    """Run all cards to their ends; computing is timed separately for each turn."""
    for indices in _turns(comparison, models.limits.rows):
        cards = [comparison.cards[index] for index in indices]
        call = cards[0].trace.call(visitor, attention=attention)  # the others differ only in their settings
        call = replace(call, settings=tuple(card.settings for card in cards))
        with closing(models.decode(call)) as passes:
            for each in passes:
                yield each and Pass({indices[number]: step for number, step in each.steps.items()}, each.seconds)


def run_cards(
    comparison: Comparison,
    models: Models,
    *,
    stop: threading.Event,
    attention: bool,
    visitor: str = "",
    per_second: float = 20.0,
) -> Iterator[RunProgress]:
    """Run all cards to their ends with no screen, at most `per_second` updates a second; `stop` or closing it ends
    the work."""
    passes = passes_of(comparison, models, attention=attention, visitor=visitor)
    limits = {"time_limit": models.limits.run_seconds, "per_second": per_second}
    for progress in follow(live_runs(comparison), passes, stop=stop, **limits):
        update_cards(comparison, progress)
        yield progress


def _turns(comparison: Comparison, max_rows: int) -> Iterator[list[int]]:
    """The indices of the cards that run together, which switch off the same parts."""
    groups: dict[tuple[Intervention, ...], list[int]] = {}
    for index, card in enumerate(comparison.cards):
        groups.setdefault(card.run.interventions, []).append(index)
    for group in groups.values():
        for turn in turns_of([comparison.cards[index].settings for index in group], max_rows):
            yield [group[number] for number in turn]


def turns_of(settings: Sequence[DecodingSettings], max_rows: int) -> list[list[int]]:
    """The indices of the cards that run together, in their order: as many at a time as a pass has rows for."""
    turns: list[list[int]] = []
    room = 0
    for index, card in enumerate(settings):
        if card.rows > room:
            turns.append([])
            room = max_rows
        turns[-1].append(index)
        room -= card.rows
    return turns
