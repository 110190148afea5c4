"""The recorded examples are what the model in the repository writes and what the page's contracts say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from docs import examples
from model import catalog, names
from ui.examples.recorded import MODEL, MODELS, offers_examples

pytestmark = pytest.mark.skipif(not set(MODELS) <= set(names.embedded()), reason="the embedded models are not there")


@pytest.fixture(scope="module")
def recorded() -> dict[str, str]:
    return examples.modules([catalog.load(name) for name in MODELS])


def value(module: str) -> Any:
    return json.loads(module[module.index(" = {") + 3 : module.rindex(";")])


def without_digits(found: Any) -> Any:
    """All but what the arithmetic of another processor may round to another last digit: numbers that are no counts, and
    the bytes of attention."""
    match found:
        case float():
            return round(found, 2)
        case dict():
            return {
                name: without_digits(part) for name, part in found.items() if part and not _is_attention(name, part)
            }
        case list():
            return [without_digits(part) for part in found]
    return found


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
    text = "".join(text for text, _, _ in run["tokens"][run["first"] :]).replace("␣", " ")
    assert "Biscuit" in text
    assert run["tokens"][run["selected"]][0].strip().startswith("B")
    assert (answers["layer"], answers["head"]) == examples.most_attentive(run, run["selected"])


def test_a_page_without_the_models_shows_no_examples() -> None:
    assert offers_examples((*MODELS, "another")) and not offers_examples((MODEL,))
