"""The values of Compare's component, and the labels of its metrics. Pure functions."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from decoding.parameters.parameter import Parameter
from decoding.settings import PRESETS, DecodingSettings, parameters
from ui.compare.compare_contract import CardField, CardValue, CompareForm, CompareRequest, CompareValue, MetricField
from ui.compare.results.metrics import card_metrics
from ui.compare.running import MAX, MIN, SWEEPS, sweep
from ui.kit.labels import LABELS
from ui.kit.setting import setting_field
from ui.runs.comparison import Card, CardMetrics, Comparison
from ui.runs.run_values import OVERLAP
from ui.settings.methods import RUN
from ui.settings.without import WITHOUT

EXAMPLE = "Once upon a time there was a little fox"

FROM_PANEL = ("max_new_tokens", "top_candidates")  # the panel's, unless a card has its own value
_MAX_OF_A_PROMPT = 200  # characters, of which a card shows the last words
_SHARED = "seed"  # the panel's for all cards, so that only their settings make them differ


METRICS: tuple[MetricField, ...] = (
    {
        "name": "tokens",
        "label": "Tokens",
        "unit": "",
        "digits": 0,
        "help": "How many tokens the text has.",
        "term": "token",
    },
    {
        "name": "tokens_per_second",
        "label": "Tokens/s (batch)",
        "unit": "",
        "digits": 1,
        "help": "How fast this card’s tokens were generated while all cards ran together in one batch. A card on its "
        "own is faster. A card with parts of the model switched off shows no speed, since that slows it down.",
        "term": "",
    },
    {
        "name": "mean_log_probability",
        "label": "Log-probability",
        "unit": "",
        "digits": 2,
        "help": "The average log-probability of the tokens (natural logarithm), before any filter. Closer to 0 means "
        "the model finds the text more likely.",
        "term": "log-probability",
    },
    {
        "name": "perplexity",
        "label": "Perplexity",
        "unit": "",
        "digits": 2,
        "help": "The model was as uncertain as if choosing among this many equally likely tokens: e to the power of "
        "minus the average log-probability. Lower means the text surprises the model less.",
        "term": "perplexity",
    },
    {
        "name": "mean_entropy",
        "label": "Entropy, bits",
        "unit": "",
        "digits": 2,
        "help": "How uncertain the model was before each choice, on average. 0 bits means certain; each extra bit "
        "doubles the number of equally likely tokens.",
        "term": "entropy",
    },
    {
        "name": "distinct_2",
        "label": "Distinct-2",
        "unit": "%",
        "digits": 0,
        "help": "The share of different pairs among all pairs of neighbouring tokens. Low means the text repeats "
        "itself.",
        "term": "distinct-2",
    },
    {
        "name": "top_share",
        "label": "Top token",
        "unit": "%",
        "digits": 0,
        "help": "How often the chosen token was the model’s most probable one.",
        "term": "",
    },
)


def no_comparison(*, chats: bool, history: bool = False) -> CompareValue:
    """Nothing was compared yet."""
    return {"run": None, "busy": False, "chats": chats, "history": history, "continued": "", "seed": -1, "cards": []}


def comparison_value(
    comparison: Comparison,
    *,
    busy: bool,
    chats: bool,
    history: bool,
    since: Sequence[int] | None = None,
) -> CompareValue:
    """The comparison, or what is new in it.

    Args:
        chats: whether the model that is chosen by now, which may be another one, answers messages.
        history: whether there is a chat that a message could continue.
        since: the first new token of each card's run; None sends everything.
    """
    starts = since or [0] * len(comparison.cards)
    cards = [_card_value(card, comparison, busy, start) for card, start in zip(comparison.cards, starts, strict=True)]
    value: CompareValue = {
        "run": comparison.cards[0].run.id.rpartition("-")[0],
        "busy": busy,
        "chats": chats,
        "history": history,
        "continued": _continued(comparison),
        "seed": comparison.cards[0].settings.seed if any(card.settings.drawn for card in comparison.cards) else -1,
        "cards": cards,
    }
    return value if since is not None else {**value, "request": _request(comparison)}


def _request(comparison: Comparison) -> CompareRequest:
    """What the visitor asked for."""
    return {
        "text": comparison.prompt.text,
        "answer": bool(comparison.prompt.messages),
        "history": comparison.history,
        "common": comparison.common_draws,
        "seed": comparison.seed,
        "cards": [dict(card.form) for card in comparison.cards],
        "lengths": [card.settings.max_new_tokens for card in comparison.cards],
    }


def _continued(comparison: Comparison) -> str:
    """The end of the prompt, where the texts of the cards continue it: neither a message nor what an encoder reads."""
    prompt = comparison.prompt
    is_answered = bool(prompt.messages or comparison.cards[0].run.source)
    return "" if is_answered else prompt.text[-_MAX_OF_A_PROMPT:]


def compare_form() -> CompareForm:
    """All that the component must know to offer cards: settings, ways to fill them, and what their numbers mean."""
    return {
        "example": EXAMPLE,
        "fewest": MIN,
        "most": MAX,
        "parameters": [
            *(_field(parameter) for parameter in parameters() if parameter.name != _SHARED),
            {**setting_field(WITHOUT), "main": False, "panel": False},
        ],
        "fills": [
            *({"name": LABELS[name], "cards": _sweep(name)} for name in SWEEPS),
            {"name": "Presets", "cards": [_changed(preset) for preset in PRESETS.values()]},
        ],
        "presets": [{"name": name, "settings": _changed(preset)} for name, preset in PRESETS.items()],
        "metrics": list(METRICS),
    }


def card_settings(settings: DecodingSettings) -> dict[str, Any]:
    """The settings of the panel as a card has them: what holds for every card anyway is not repeated."""
    return {name: value for name, value in _changed(settings).items() if name not in (_SHARED, *FROM_PANEL)}


def _card_value(card: Card, comparison: Comparison, busy: bool, since: int) -> CardValue:
    is_finished = card.finish_reason != "cancelled"
    # a text held back for a possible stop text may be shown much later
    first = 0 if card.settings.stop_texts else max(0, since - card.run.first - OVERLAP)
    numbers = card_metrics(card, comparison.cards[0])
    return {
        "run": card.run.id,
        "since": first,
        "tokens": card.tokens[first:],
        "state": "done" if is_finished else "streaming" if busy else "stopped",
        "note": card.note,
        "length": card.length,
        "first_difference": numbers.first_difference,
        "metrics": [_number(numbers, metric["name"]) for metric in METRICS],
    }


def _number(numbers: CardMetrics, name: str) -> float | None:
    value = getattr(numbers, name)
    return None if value is None else float(f"{value:.6g}")


def _field(parameter: Parameter) -> CardField:
    return {
        **setting_field(parameter),
        "help": "" if parameter.name == "strategy" else parameter.help,  # its choices say as much
        "main": parameter.name == "max_new_tokens" or not (parameter.section or parameter.name in RUN),
        "panel": parameter.name in FROM_PANEL,
    }


def _sweep(name: str) -> list[dict[str, Any]]:
    base = DecodingSettings(strategy="beam" if name == "num_beams" else "sample")
    cards = sweep(base, name, SWEEPS[name])
    return [_changed(card) for card in cards]


def form_settings(settings: DecodingSettings, names: Container[str]) -> dict[str, Any]:
    """The settings of these names, as typed."""
    return {
        parameter.name: parameter.typed(getattr(settings, parameter.name))
        for parameter in parameters()
        if parameter.name in names
    }


def _changed(settings: DecodingSettings) -> dict[str, Any]:
    """What is not as it is by default, as typed."""
    return {
        parameter.name: parameter.typed(value)
        for parameter in parameters()
        if (value := getattr(settings, parameter.name)) != parameter.default
    }
