"""Records the examples that the tabs show until the visitor has texts of their own, as modules of the page.

python -m docs.examples

Run it again whenever the models' weights or the page's contracts change; a test compares the examples with both.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from decoding.settings import DecodingSettings, for_translator
from model import catalog
from model.loaded import LoadedModel
from ui.chat import chat_actions as chat
from ui.chat.kept_chat import chat_document
from ui.compare import compare_actions as compare
from ui.compare.comparison_value import EXAMPLE, METRICS, card_settings, comparison_value
from ui.examples.recorded import MODEL, MODELS, TRANSLATOR
from ui.inspector.inspector_contract import InspectorValue
from ui.inspector.opening import opened
from ui.runs.documents.kept_document import Document
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.run_values import turn_value
from ui.runs.runs_contract import TurnValue
from ui.runs.session import Session
from ui.runs.versions.conversation import Turn
from ui.settings.methods import DEFAULT_METHOD, METHODS
from ui.translate import translate_actions as translate
from ui.translate.alignment import alignment_value
from ui.translate.kept_translation import translate_document
from ui.write import write_actions as write
from ui.write.kept_text import write_document

FOLDER = Path(__file__).resolve().parents[1] / "ui" / "examples"
DIALOGUE = ("I have a dog called Biscuit.", "What is my dog called?")
BEGINNING = "Once upon a time, there was a little fox who"
WRITE_SETTINGS = DecodingSettings.from_dict({**METHODS[DEFAULT_METHOD].starts, "max_new_tokens": 24, "seed": 7})
CHAT_SETTINGS = DecodingSettings(strategy="greedy", max_new_tokens=24)
CARDS: tuple[dict[str, Any], ...] = (
    {"strategy": "greedy"},
    {"strategy": "sample", "temperature": 0.8},
    {"strategy": "sample", "top_p": 0.9},
    {"strategy": "beam", "num_beams": 4},
)
CARDS_SETTINGS = DecodingSettings(max_new_tokens=16, top_candidates=5, seed=8)  # short, so four runs load quickly
SENTENCE = "Mon frère a une voiture rouge."
MOVED_WORD = "red"  # in the translation, where the adjective comes before the noun
TRANSLATE_SETTINGS = DecodingSettings.from_dict(for_translator({"max_new_tokens": 24}))

Recorded = dict[str, Any]  # as its contract in ui/examples/examples_contract.py says


def run_to_end(screens: Iterable[object]) -> None:
    """Exhaust the screens of an action."""
    for _ in screens:
        pass


def record_chat(models: Models) -> tuple[Recorded, Recorded, Recorded]:
    """Record a dialogue whose last answer looks up a name.

    Returns:
        The turns, the runs of the answers with the first token of the name selected, and the document of the tab.
    """
    session = Session.using(MODEL)
    for message in DIALOGUE:
        run_to_end(chat.send(session, models, MODEL, message, CHAT_SETTINGS))
    turns = [_turn(turn) for turn in session.turns]
    runs = [_inspected(session, models, session.run(turn.run)) for turn in session.turns if turn.run]
    value, query = runs[-1], _name_begins(runs[-1])
    value["selected"] = query
    layer, head = most_attentive(value, query)
    return (
        {"model": MODEL, "turns": turns},
        {"model": MODEL, "runs": runs, "layer": layer, "head": head},
        _kept(session, models, chat_document),
    )


def record_write(models: Models) -> tuple[Recorded, Recorded]:
    """Record a continuation, with the token selected that surprised the model most, and the document of the tab."""
    session = Session.using(MODEL)
    run_to_end(write.write(session, models, MODEL, BEGINNING, WRITE_SETTINGS))
    value = _inspected(session, models, session.run(session.draft.run))
    value["selected"] = most_surprising(value)
    recorded = {"model": MODEL, "runs": [value], "layer": -1, "head": -1}
    return recorded, _kept(session, models, write_document)


def record_compare(models: Models) -> tuple[Recorded, Recorded]:
    """Record a text that several cards continue.

    Returns:
        The comparison, and the runs of its cards with the first one's last.
    """
    session = Session.using(MODEL)
    choices = {"answer": False, "history": False, "common": True, "shared": CARDS_SETTINGS}
    run_to_end(compare.compare(session, models, MODEL, EXAMPLE, list(CARDS), **choices))
    comparison = session.comparison
    assert comparison is not None
    value = comparison_value(comparison, busy=False, chats=True, history=False)
    speed = [metric["name"] for metric in METRICS].index("tokens_per_second")
    for card in value["cards"]:
        card["run"] = example_name(card["run"])
        card["metrics"][speed] = None  # it was not measured on the visitor's machine
    settings = [card_settings(DecodingSettings.from_dict(card)) for card in CARDS]
    recorded = {"run": example_name(value["run"] or ""), "continued": value["continued"], "cards": value["cards"]}
    runs = [_inspected(session, models, card.run) for card in reversed(comparison.cards)]
    runs[-1]["selected"] = most_surprising(runs[-1])
    return (
        {"model": MODEL, "text": EXAMPLE, "settings": settings, **recorded},
        {"model": MODEL, "runs": runs, "layer": -1, "head": -1},
    )


def record_translate(models: Models) -> tuple[Recorded, Recorded, Recorded]:
    """Record a sentence with its translation.

    Returns:
        The translation and its alignment, the run with the word selected that changes its position, and the document of
        the tab.
    """
    session = Session.using(TRANSLATOR)
    run_to_end(translate.translate(session, models, TRANSLATOR, SENTENCE, TRANSLATE_SETTINGS))
    assert session.translation is not None
    run = session.run(session.translation.answer.run)
    alignment = alignment_value(run, models.get(TRANSLATOR))
    alignment["run"] = example_name(run.id)
    value = _inspected(session, models, run)
    value["selected"] = _token_with(value, MOVED_WORD)
    return (
        {"model": TRANSLATOR, "text": SENTENCE, "turn": _turn(session.translation.answer), "alignment": alignment},
        {"model": TRANSLATOR, "runs": [value], "layer": -1, "head": -1},
        _kept(session, models, translate_document),
    )


def most_surprising(value: InspectorValue) -> int:
    """The number of the generated token to which the model gave the lowest probability."""
    generated = [number for number, kind in enumerate(value["kinds"]) if kind == "generated"]
    return min(generated, key=lambda number: value["probabilities"][number] or 1)


def _words(value: InspectorValue) -> list[str]:
    """The texts of all tokens, without the spaces around them."""
    return [value["labels"][str(token)].strip() for token in value["ids"]]


def most_attentive(value: InspectorValue, number: int) -> tuple[int, int]:
    """The layer and head that attended most to earlier tokens with the same text when token `number` was chosen."""
    row = value["rows"][number - 1 - value["rows_from"]]  # the pass that chose it had the token before as its query
    roots = np.frombuffer(base64.b64decode(row), dtype=np.uint8).reshape(value["layers"], value["heads"], -1)
    words = _words(value)
    keys = [key for key in range(roots.shape[-1]) if words[key] == words[number]]
    weights = np.square(roots[..., keys] / 255).sum(-1)  # (layers, heads, keys) -> (layers, heads)
    layer, head = np.unravel_index(int(weights.argmax()), weights.shape)
    return int(layer), int(head)


def _name_begins(value: InspectorValue) -> int:
    """The number of the name's first token: the first with a capital that the messages before contain as well."""
    texts = _words(value)
    first = value["first"]
    return next(
        number
        for number in range(first + 1, len(texts))
        if texts[number][:1].isupper() and texts[number] in texts[:first]
    )


def _token_with(value: InspectorValue, word: str) -> int:
    """The number of the generated token that is this word."""
    return _words(value).index(word, value["first"])


def example_name(identifier: str) -> str:
    """A name that no run of a visitor has."""
    return f"example-{identifier}"


def _turn(turn: Turn) -> TurnValue:
    """A message whose run has the example's name; it has never been updated."""
    return {**turn_value(turn), "run": turn.run and example_name(turn.run), "version": 0}


def _inspected(session: Session, models: Models, run: RunRecord) -> InspectorValue:
    return {**opened(session, models, run), "run": example_name(run.id)}


def _kept(session: Session, models: Models, document_of: Callable[[Session], Document | None]) -> Recorded:
    """The tab's document as the history would keep it, but without a key: a visitor who continues it has their own."""
    for run in session.runs.values():
        run.key = example_name(run.id)
    document = document_of(session)
    assert document is not None
    return {**document.value(models, ()), "key": ""}


def module(name: str, kind: str, value: Recorded, room: str = "examples") -> str:
    """A script that exports the value.

    Args:
        room: the room of ui/ whose contract declares the kind.
    """
    return (
        "/**\n * Recorded by `python -m docs.examples`.\n */\n\n"
        f"/** @type {{import('../{room}/{room}_contract').{kind}}} */\n"
        f"export const {name} = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))};\n"
    )


def modules(loaded: Sequence[LoadedModel]) -> dict[str, str]:
    """The text of every module, by the name of its file; the models come in the order of `MODELS`."""
    by_name: dict[str, LoadedModel] = dict(zip(MODELS, loaded, strict=True))
    models = Models(MODELS, lambda name, _: by_name[name])
    dialogue, answers, conversation = record_chat(models)
    written, text = record_write(models)
    comparison, cards = record_compare(models)
    translation, translated, translated_text = record_translate(models)
    return {
        "dialogue.js": module("dialogue", "RecordedDialogue", dialogue),
        "chat.js": module("recorded", "RecordedRuns", answers),
        "chat_document.js": module("document", "DocumentValue", conversation, "history"),
        "write.js": module("recorded", "RecordedRuns", written),
        "write_document.js": module("document", "DocumentValue", text, "history"),
        "comparison.js": module("comparison", "RecordedComparison", comparison, "compare"),
        "compare.js": module("recorded", "RecordedRuns", cards),
        "translation.js": module("translation", "RecordedTranslation", translation, "translate"),
        "translate.js": module("recorded", "RecordedRuns", translated),
        "translate_document.js": module("document", "DocumentValue", translated_text, "history"),
    }


def main() -> None:
    """Write the modules."""
    for name, text in modules([catalog.load(name) for name in MODELS]).items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"ui/examples/{name}: {len(text):,} characters")


if __name__ == "__main__":
    main()
