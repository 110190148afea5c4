"""Records the examples that a tab shows until the visitor has something of their own, as modules of the page.

python -m docs.examples

To be run again whenever the models' weights or the page's contracts change; a test holds the examples to both.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from decoding.settings import PRESETS, DecodingSettings
from model import catalog
from model.loaded import LoadedModel
from ui.chat import actions as chat
from ui.examples.recorded import MODEL
from ui.inspector.contract import InspectorValue
from ui.inspector.opening import opened
from ui.runs.models import Models
from ui.runs.session import Session
from ui.runs.values import turn_value
from ui.write import actions as write

FOLDER = Path(__file__).resolve().parents[1] / "ui" / "examples"
DIALOGUE = ("I have a dog called Biscuit.", "What is my dog called?")
BEGINNING = "Once upon a time, there was a little fox who"
WRITE_SETTINGS = DecodingSettings.from_dict({**PRESETS["Balanced"].to_dict(), "max_new_tokens": 24, "seed": 7})
CHAT_SETTINGS = DecodingSettings(strategy="greedy", max_new_tokens=24)

Recorded = dict[str, Any]  # as its contract in ui/examples/contract.py says


def run_to_end(screens: Iterable[object]) -> None:
    """Exhaust the screens of an action."""
    for _ in screens:
        pass


def record_chat(models: Models) -> tuple[Recorded, Recorded]:
    """Record a dialogue whose last answer looks up a name.

    Returns:
        The turns, and the runs of the answers with the first token of the name selected.
    """
    session = Session(model=MODEL)
    for message in DIALOGUE:
        run_to_end(chat.send(session, models, MODEL, message, CHAT_SETTINGS))
    turns = [turn_value(turn) for turn in session.turns]
    runs = [_renamed(opened(session, models, session.run(turn.run))) for turn in session.turns if turn.run]
    for turn in turns:
        turn["run"], turn["version"] = turn["run"] and example_name(turn["run"]), 0
    value, query = runs[-1], _name_begins(runs[-1])
    value["selected"] = query
    layer, head = most_attentive(value, query)
    return (
        {"model": MODEL, "turns": turns},
        {"model": MODEL, "text": "", "runs": runs, "layer": layer, "head": head},
    )


def record_write(models: Models) -> Recorded:
    """A beginning and its continuation, with the token selected that surprised the model most."""
    session = Session(model=MODEL)
    run_to_end(write.write(session, models, MODEL, BEGINNING, WRITE_SETTINGS))
    value = _renamed(opened(session, models, session.run(session.draft.run)))
    generated = [number for number, (_, kind, _) in enumerate(value["tokens"]) if kind == "generated"]
    value["selected"] = min(generated, key=lambda number: value["tokens"][number][2] or 1)
    return {"model": MODEL, "text": BEGINNING, "runs": [value], "layer": -1, "head": -1}


def most_attentive(value: InspectorValue, number: int) -> tuple[int, int]:
    """The layer and head that attended most to earlier tokens with the text of token `number` when it was chosen."""
    row = value["rows"][number - 1 - value["rows_from"]]  # the pass that chose it had the token before as its query
    roots = np.frombuffer(base64.b64decode(row), dtype=np.uint8).reshape(value["layers"], value["heads"], -1)
    text = value["tokens"][number][0].strip()
    keys = [key for key in range(roots.shape[-1]) if value["tokens"][key][0].strip() == text]
    weights = np.square(roots[..., keys] / 255).sum(-1)  # (layers, heads, keys) -> (layers, heads)
    layer, head = np.unravel_index(int(weights.argmax()), weights.shape)
    return int(layer), int(head)


def _name_begins(value: InspectorValue) -> int:
    """The first token of the answer that the messages before have, too, and that begins with a capital: the name."""
    texts = [text.strip() for text, _, _ in value["tokens"]]
    first = value["first"]
    return next(
        number
        for number in range(first + 1, len(texts))
        if texts[number][:1].isupper() and texts[number] in texts[:first]
    )


def example_name(run: str) -> str:
    """A name that no run of a visitor has."""
    return f"example-{run}"


def _renamed(value: InspectorValue) -> InspectorValue:
    return {**value, "run": value["run"] and example_name(value["run"])}


def module(name: str, kind: str, value: Recorded) -> str:
    """A script that exports the value."""
    return (
        "/**\n * Recorded by `python -m docs.examples`.\n */\n\n"
        f"/** @type {{import('./contract').{kind}}} */\n"
        f"export const {name} = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))};\n"
    )


def modules(loaded: LoadedModel) -> dict[str, str]:
    """The text of every module, by its file's name."""
    models = Models((MODEL,), lambda *_: loaded)
    dialogue, answers = record_chat(models)
    return {
        "dialogue.js": module("dialogue", "RecordedDialogue", dialogue),
        "chat.js": module("recorded", "RecordedRuns", answers),
        "write.js": module("recorded", "RecordedRuns", record_write(models)),
    }


def main() -> None:
    """Write the modules."""
    for name, text in modules(catalog.load(MODEL)).items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"ui/examples/{name}: {len(text):,} characters")


if __name__ == "__main__":
    main()
