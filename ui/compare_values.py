"""What Compare shows: pure functions that build the values of its component, and the words that go with its numbers.

Knows nothing of gradio's events, of threads or of how cards are run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from decoding.parameter import Parameter
from decoding.settings import PRESETS, DecodingSettings, parameters
from ui.chat import ending_note
from ui.compare import FEWEST, MOST, SWEEPS, Card, Comparison, sweep
from ui.contract import CardValue, CompareValue
from ui.figures import Figures, figures
from ui.follow import Progress
from ui.settings_panel import EXAMPLES, LABELS, PLAIN, RUN, WORDS
from ui.values import OVERLAP

EXAMPLE = "Once upon a time there was a little fox"

FROM_PANEL = ("max_new_tokens", "top_candidates")  # the panel's, where a card says nothing else
MAIN = (*(name for name in PLAIN if name not in RUN), "max_new_tokens")  # in sight on every card
_SHARED = "seed"  # the panel's, for all cards: what differs between them shall come of their settings


class FigureText(TypedDict):
    """How one number of `Figures` is shown."""

    name: str
    label: str
    unit: Literal["", "%"]
    digits: int
    help: str


FIGURES: tuple[FigureText, ...] = (
    {"name": "tokens", "label": "Tokens", "unit": "", "digits": 0, "help": "How many tokens the text has."},
    {
        "name": "tokens_per_second",
        "label": "Tokens/s (batch)",
        "unit": "",
        "digits": 1,
        "help": "How fast this card’s tokens came while all cards were computed together in one batch; alone, a card "
        "is faster.",
    },
    {
        "name": "mean_log_probability",
        "label": "Log-probability",
        "unit": "",
        "digits": 2,
        "help": "The mean of the tokens' log-probabilities (natural logarithm) under the model itself, before any "
        "filter. Nearer to 0: the model finds the text more likely.",
    },
    {
        "name": "perplexity",
        "label": "Perplexity",
        "unit": "",
        "digits": 2,
        "help": "As if the model had chosen among this many equally likely tokens each time: e to the power of minus "
        "the mean log-probability. Lower: less surprising to the model.",
    },
    {
        "name": "mean_entropy",
        "label": "Entropy, bits",
        "unit": "",
        "digits": 2,
        "help": "How unsure the model was before each choice, on average. 0 bits: certain; each bit more doubles the "
        "number of tokens in question.",
    },
    {
        "name": "distinct_2",
        "label": "Distinct-2",
        "unit": "%",
        "digits": 0,
        "help": "How many of the pairs of neighbouring tokens differ from all others. Low: the text repeats itself.",
    },
    {
        "name": "top_share",
        "label": "Top token",
        "unit": "%",
        "digits": 0,
        "help": "How often the token that the model found most probable was taken.",
    },
)


def no_comparison(*, chats: bool, history: bool = False) -> CompareValue:
    """Nothing was compared yet."""
    return {"run": None, "busy": False, "chats": chats, "history": history, "cards": []}


def comparison_value(
    comparison: Comparison,
    *,
    busy: bool,
    chats: bool,
    history: bool,
    since: Sequence[int] | None = None,
) -> CompareValue:
    """The comparison as it stands, or what is new of it.

    Args:
        chats: whether the model that is chosen by now, maybe another, answers messages.
        history: whether there is a chat that a message could go on from.
        since: of each card's run the first token that is new; None sends the whole.
    """
    starts = since or [0] * len(comparison.cards)
    cards = [_card_value(card, comparison, busy, start) for card, start in zip(comparison.cards, starts, strict=True)]
    return {
        "run": comparison.cards[0].run.id.rpartition("-")[0],
        "busy": busy,
        "chats": chats,
        "history": history,
        "cards": cards,
    }


def compare_form() -> dict[str, Any]:
    """All that the component must know to offer cards: settings, ways to fill them, and what their numbers mean."""
    return {
        "example": EXAMPLE,
        "fewest": FEWEST,
        "most": MOST,
        "parameters": [_field(parameter) for parameter in parameters() if parameter.name != _SHARED],
        "fills": [
            *({"name": LABELS[name], "sweep": name, "cards": _sweep(name)} for name in SWEEPS),
            {"name": "Presets", "sweep": None, "cards": [_changed(preset) for preset in PRESETS.values()]},
        ],
        "presets": [{"name": name, "settings": _changed(preset)} for name, preset in PRESETS.items()],
        "words": dict(WORDS),
        "figures": list(FIGURES),
    }


def card_settings(settings: DecodingSettings) -> dict[str, Any]:
    """The settings of the panel as a card has them: what holds for every card anyway is not repeated."""
    return {name: value for name, value in _changed(settings).items() if name not in (_SHARED, *FROM_PANEL)}


def _card_value(card: Card, comparison: Comparison, busy: bool, since: int) -> CardValue:
    start, limit = len(comparison.asked.ids), card.trace.request.context_length
    reason = card.growth.reason
    growing = busy and reason is None
    # what is held back for a stop text may be let go much later
    first = 0 if card.settings.stop_texts else max(0, since - start - OVERLAP)
    numbers = figures(card, comparison.cards[0])
    progress = Progress(0, "finished" if reason else comparison.ending, reason)
    return {
        "run": card.run.id,
        "since": first,
        "tokens": card.tokens[first:],
        "state": "streaming" if growing else "done" if reason else "stopped",
        "note": ending_note(progress, card.run),
        "length": min(card.settings.max_new_tokens, limit - start),
        "first_difference": numbers.first_difference,
        "figures": [_number(numbers, figure["name"]) for figure in FIGURES],
    }


def _number(numbers: Figures, name: str) -> float | None:
    value = getattr(numbers, name)
    return None if value is None else float(f"{value:.6g}")


def _field(parameter: Parameter) -> dict[str, Any]:
    """What a card's form needs of a setting; it is typed as in the panel."""
    return {
        "name": parameter.name,
        "label": LABELS[parameter.name],
        "help": None if parameter.name == "strategy" else parameter.help,  # its choices say as much
        "kind": parameter.control,
        "main": parameter.name in MAIN,
        "panel": parameter.name in FROM_PANEL,
        "strategies": list(parameter.strategies),
        "choices": list(parameter.choices) if parameter.control == "word" else [],
        "range": [parameter.minimum, parameter.maximum, parameter.step] if parameter.control == "number" else None,
        "integer": parameter.integer,
        "placeholder": EXAMPLES.get(parameter.name, ""),
        "default": parameter.typed(parameter.default),
        "neutral": None if parameter.neutral is None else parameter.typed(parameter.neutral),
    }


def _sweep(name: str) -> list[dict[str, Any]]:
    base = DecodingSettings(strategy="beam" if name == "num_beams" else "sample")
    cards = sweep(base, name, SWEEPS[name])
    return [_changed(card) for card in cards]


def _changed(settings: DecodingSettings) -> dict[str, Any]:
    """What is not as it is by default, as typed."""
    return {one.name: one.typed(value) for one in parameters() if (value := getattr(settings, one.name)) != one.default}
