"""docs/extending.md is true: its examples run, and the lines that it adds are all that the rest of Attend needs."""

from __future__ import annotations

import importlib
import math
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import pytest
import torch

from decoding.processors import Context
from model.loaded import LoadedModel
from tests.helpers.paths import ROOT
from ui.page.layout import build
from ui.page.switch import Switch
from ui.runs.models import Models
from ui.runs.session import Session
from ui.tabs import TABS

DOCUMENT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", DOCUMENT, flags=re.MULTILINE | re.DOTALL)
TAB, FILTER, FAMILY = (block for language, block in BLOCKS if language == "python")
DIFFS = "".join(block for language, block in BLOCKS if language == "diff")

COPIED = ("decoding", "lesson", "model", "tests", "ui")
USED = """
from decoding.generate import generate
from decoding.processors import registry
from decoding.settings import DecodingSettings
from tests.helpers.tiny import make_request, random_model
from ui.settings.panel import declaration
from ui.page.switch import Switch
from ui.tabs import TABS

(quadratic,) = DecodingSettings(smoothing_factor=0.5).options(make_request()).processors
assert type(quadratic).__module__ == "decoding.processors.quadratic" and quadratic.factor == 0.5
assert DecodingSettings().options(make_request()).processors == ()
form = declaration(128)
(field,) = (field for field in form["parameters"] if field["name"] == "smoothing_factor")
assert (field["label"], field["group"]) == ("Smoothing factor", "advanced") and "sample" in field["strategies"]
assert form["labels"]["smoothing_factor"] == "Smoothing factor" and "smoothing_factor" in form["samplers"]
assert form["first"]["values"]["smoothing_factor"] == 0
strategy = DecodingSettings(smoothing_factor=0.5, max_new_tokens=2, seed=1).strategy_for(make_request())
(stages,) = {step.best.choice.stages for step in generate(random_model(9, seed=1), (0,), strategy)}
assert stages == ("model", "smoothing_factor")
assert [tab.name for tab in TABS][-1] == "Count"
assert TABS[-1].__module__ == "ui.count.count_tab"
"""


def changes() -> list[tuple[str, str, str]]:
    """A path, some of its text and what stands there instead, for each part of the document's diffs."""
    hunks = []
    for file in re.split(r"^--- ", DIFFS, flags=re.MULTILINE)[1:]:
        path, parts = file.split("\n", 1)
        for part in parts.split("@@\n"):
            lines = part.splitlines()
            before = "\n".join(line[1:] for line in lines if line[0] != "+")
            hunks.append((path, before, "\n".join(line[1:] for line in lines if line[0] != "-")))
    return hunks


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples as modules of packages of their own."""
    for package, module, source in (("example_tab", "tab", TAB), ("example_filter", "quadratic", FILTER)):
        (tmp_path / package).mkdir()
        (tmp_path / package / f"{module}.py").write_text(source, encoding="utf-8")
        monkeypatch.delitem(sys.modules, package, raising=False)
        monkeypatch.delitem(sys.modules, f"{package}.{module}", raising=False)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("written")
def test_the_example_tab_stands_on_the_page_and_answers(models: Models, tiny: LoadedModel) -> None:
    tabs = (*TABS, importlib.import_module("example_tab.tab").CountTab)
    page = build(models, tabs=tabs)
    (switch,) = (block for block in page.blocks.values() if getattr(block, "elem_id", None) == "attend-tabs")
    offered = switch.value["entries"]  # pyright: ignore[reportAttributeAccessIssue]
    assert offered == [*Switch([tab() for tab in TABS], models).entries(Session.using(tiny.name)), "Count"]
    (length,) = (block for block in page.blocks.values() if getattr(block, "label", None) == "Length")
    (count,) = (function.fn for function in page.fns.values() if function.name == "on_count")
    assert count is not None
    visitor = Session.using(models.default)
    for typed in ("", "Hi! How are you?", "🦊"):
        tokens = len(tiny.tokenizer.encode(typed))
        assert count(visitor, gr.Request(), typed) == {length: f"Tokens in tiny-chat: {tokens}"}
    with pytest.warns(UserWarning, match="20,000"):
        assert count(visitor, gr.Request(), "x" * 20_001) == {length: gr.skip()}


@pytest.mark.usefixtures("written")
def test_the_example_filter_does_what_it_says() -> None:
    """With factor 1/2 a logit 1 below the highest falls to 1/2 below it, one 3 below to 9/2."""
    quadratic = importlib.import_module("example_filter.quadratic").Quadratic(0.5)
    logits = torch.tensor([[2.0, 1.0, -1.0, -math.inf], [0.0, 0.0, 4.0, 2.0]])
    copied = logits.clone()
    assert quadratic(logits, Context((), ((), ()))).tolist() == [[2.0, 1.5, -2.5, -math.inf], [-4.0, -4.0, 4.0, 2.0]]
    assert torch.equal(logits, copied)


def is_copied(module: str) -> bool:
    return module.partition(".")[0] in COPIED


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a copy of the code, from which this process imports as if it had not yet."""
    for part in COPIED:
        shutil.copytree(ROOT / part, tmp_path / part)
    imported = {name: module for name, module in sys.modules.items() if is_copied(name)}
    for name in imported:
        del sys.modules[name]
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [*filter(is_copied, sys.modules)]:
        del sys.modules[name]
    sys.modules.update(imported)


def test_the_lines_that_it_adds_are_enough(copy: Path) -> None:
    for path, before, after in changes():
        source = (copy / path).read_text(encoding="utf-8")
        assert source.count(before) == 1, f"{path}: {before}"
        (copy / path).write_text(source.replace(before, after), encoding="utf-8")
    (copy / "ui/count").mkdir()
    (copy / "ui/count/count_tab.py").write_text(TAB, encoding="utf-8")
    (copy / "decoding/processors/quadratic.py").write_text(FILTER, encoding="utf-8")
    exec(USED, {})


def test_the_family_that_it_shows_is_in_the_code() -> None:
    assert f"\n{FAMILY}\n" in (ROOT / "model/huggingface/conversion.py").read_text(encoding="utf-8")


def test_every_path_and_name_of_the_code_exists() -> None:
    examples = {
        "ui/count/count_tab.py",
        "decoding/processors/quadratic.py",
        "decoding/strategies/NAME.py",
        "ui/learn/chapters/texts/NAME.md",
    }
    paths = set(re.findall(r"`([\w/]+/\w+\.\w+)`", DOCUMENT)) - examples
    assert len(paths) > 12
    assert [path for path in sorted(paths) if not (ROOT / path).is_file()] == []
    code = "\n".join((ROOT / path).read_text(encoding="utf-8") for path in sorted(paths))
    names = set(re.findall(r"`(_?[A-Za-z]+_?\w*)`", DOCUMENT))
    assert len(names) > 20
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", code)] == []
