"""The recorded examples are what the model in the repository writes and what the page's contracts say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from decoding.run.reader import unpack
from docs import examples
from model import catalog, names
from tests.ui.history.test_history_view import ask
from ui.examples.recorded import MODEL, MODELS, offers_examples
from ui.runs.documents.kept_document import MAX_BYTES
from ui.runs.models import Models
from ui.runs.session import Session

pytestmark = pytest.mark.skipif(not set(MODELS) <= set(names.embedded()), reason="the embedded models are not there")


@pytest.fixture(scope="module")
def recorded() -> dict[str, str]:
    return examples.modules([catalog.load(name) for name in MODELS])


def exported(module: str) -> Any:
    return json.loads(module[module.index(" = {") + 3 : module.rindex(";")])


def value(module: str) -> Any:
    """What a module exports, with the runs of a document unpacked."""
    data = exported(module)
    if "schema" in data:
        data["runs"] = {name: json.loads(unpack(packed, MAX_BYTES)) for name, packed in data["runs"].items()}
    return data


def without_digits(data: Any) -> Any:
    """All but what the arithmetic of another processor may round to another last digit: numbers that are no counts, and
    the bytes of attention."""
    match data:
        case float():
            return round(data, 2)
        case dict():
            return {name: without_digits(part) for name, part in data.items() if part and not _is_attention(name, part)}
        case list():
            return [without_digits(part) for part in data]
    return data


def _is_attention(name: str, part: Any) -> bool:
    """The rows of a run, not those of a step's table."""
    return name == "rows" and isinstance(part[0], str)


@pytest.mark.parametrize(
    "name", sorted(path.name for path in examples.FOLDER.glob("*.js") if path.name != "example.js")
)
def test_recording_again_gives_the_same(recorded: dict[str, str], name: str) -> None:
    stored = (examples.FOLDER / name).read_text(encoding="utf-8")
    assert without_digits(value(stored)) == without_digits(value(recorded[name])), "run python -m docs.examples"


def test_the_dialogue_looks_up_the_name_and_the_map_shows_where(recorded: dict[str, str]) -> None:
    answers = value(recorded["chat.js"])
    run = answers["runs"][-1]
    text = "".join(run["labels"][str(token)] for token in run["ids"][run["first"] :]).replace("␣", " ")
    assert "Biscuit" in text
    assert run["labels"][str(run["ids"][run["selected"]])].strip().startswith("B")
    assert (answers["layer"], answers["head"]) == examples.most_attentive(run, run["selected"])


@pytest.mark.parametrize("mode", ["chat", "write", "translate"])
def test_what_is_taken_over_has_every_token_explained(mode: str) -> None:
    text = (examples.FOLDER / f"{mode}_document.js").read_text(encoding="utf-8")
    document = exported(text)
    models = Models(MODELS, lambda name, _: catalog.load(name))
    session = Session.using(document["model"])
    update = ask(session, models, document, 1)
    assert update.history_reply == {"number": 9, "opened": True}
    assert update.inspector is not None and update.inspector["rows"]
    explained = [token for run in session.runs.values() for token in run.tokens[run.first :]]
    assert explained and all(token.choice is not None and len(token.choice.candidates) > 1 for token in explained)
    assert all(run.trace is not None for run in session.runs.values())
    assert [turn.run is not None for turn in session.turns] == ([False, True] * 2 if mode == "chat" else [])


def test_a_page_without_the_models_shows_no_examples() -> None:
    assert offers_examples((*MODELS, "another")) and not offers_examples((MODEL,))
