"""What the components of the page without a server are made from: the declarations in ui/ of what runs in a browser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from decoding.settings import parameters
from decoding.strategies.registry import STRATEGY
from model import names
from model.transformer.checkpoint import read_config
from ui.chat.conversation_value import EXAMPLES as MESSAGES
from ui.compare.comparison_value import compare_form
from ui.settings.methods import default_method
from ui.settings.panel import declaration
from ui.translate.translate_actions import EXAMPLES as SENTENCES
from web.available import STRATEGIES, strategies_of

# Cards run one after the other in a browser, and in one batch on a server.
_SPEED = {"label": "Tokens/s", "help": "How fast this card’s tokens were generated in this browser."}
MODELS = CHAT, TRANSLATOR = "attend-chat", "attend-translate"
_METHODS = {name: default_method(translates=name == TRANSLATOR) for name in MODELS}
_TABS = {"Chat": CHAT, "Write": CHAT, "Translate": TRANSLATOR}


def forms() -> dict[str, Any]:
    """The settings, the cards of Compare, the suggestions, and how many tokens each model reads."""
    contexts = {name: read_config(names.EMBEDDED / name)["context_length"] for name in MODELS}
    return {
        "panel": _panel(contexts[CHAT]),
        "compare": _compare(),
        "examples": {"Chat": MESSAGES, "Translate": SENTENCES["French"]},
        "models": {
            name: {
                "name": name,
                "context": context,
                "method": _METHODS[name],
                "linked": name,  # what links call it; they name no weights, since those are rounded here
                "checksum": "",
            }
            for name, context in contexts.items()
        },
    }


def _panel(context: int) -> dict[str, Any]:
    form = declaration(context, tab_methods={tab: _METHODS[name] for tab, name in _TABS.items()})
    fields = list(_fields(form["parameters"]))
    known = {field["name"] for field in fields}
    stages = {stage: switches for stage, switches in form["stages"].items() if known.issuperset(switches)}
    return {
        **form,
        "parameters": fields,
        "methods": {
            name: method for name, method in form["methods"].items() if method["strategy"] in (None, *STRATEGIES)
        },
        "presets": {name: _only(known, values) for name, values in form["presets"].items()},
        "samplers": [name for name in form["samplers"] if name in known],
        "stages": stages,
        "chains": {name: [stage for stage in form["chains"][name] if stage in stages] for name in STRATEGIES},
    }


def _compare() -> dict[str, Any]:
    form = compare_form()
    fields = list(_fields(form["parameters"]))
    known = {field["name"] for field in fields}
    return {
        **form,
        "parameters": fields,
        "metrics": [
            {**metric, **_SPEED} if metric["name"] == "tokens_per_second" else metric for metric in form["metrics"]
        ],
        "fills": [{**fill, "cards": [_only(known, card) for card in fill["cards"]]} for fill in form["fills"]],
        "presets": [{**preset, "settings": _only(known, preset["settings"])} for preset in form["presets"]],
    }


def _fields(fields: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Those of settings that have an effect in a browser."""
    strategies = {parameter.name: list(strategies_of(parameter)) for parameter in parameters()}
    for field in fields:
        name, choices = field["name"], field["choices"]
        if name == STRATEGY.name:
            choices = [(value, label) for value, label in choices if value in STRATEGIES]
        if strategies.get(name):
            yield {**field, "choices": choices, "strategies": strategies[name]}


def _only(known: set[str], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in known}
