"""The notebooks of docs/, written from their scripts: the model's own numbers, and exercises that notice a mistake."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from docs import notebooks
from model.catalog import load
from tests.helpers.paths import ROOT

DOCS = ROOT / "docs"
TEXTS = ("My dog is called Max. My dog is called", "Once upon a time, a naïve 狐", "The sun rises in the")


def script(name: str) -> str:
    return (DOCS / f"{name}.py").read_text(encoding="utf-8")


def code(document: dict[str, Any]) -> list[str]:
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]


@pytest.fixture(autouse=True)
def in_docs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS)  # where Jupyter runs them


@pytest.mark.parametrize("name", notebooks.NAMES)
def test_a_notebook_is_what_its_script_says(name: str) -> None:
    assert (DOCS / f"{name}.ipynb").read_text(encoding="utf-8") == notebooks.written(name), "python -m docs.notebooks"


def test_sixty_lines_of_numpy_give_the_models_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads((DOCS / "transformer_in_numpy.ipynb").read_text(encoding="utf-8"))
    written: dict[str, Any] = {}
    for cell in code(document):
        exec(cell, written)  # as a notebook runs it
    lines = [line for cell in code(document) for line in cell.splitlines() if re.match(r"\s*[^#\s]", line)]
    assert len(lines) <= 60
    loaded = load("attend-chat")
    for text in TEXTS:
        tokens = list(loaded.prompt(text))
        assert written["encode"](text) == tokens
        probabilities = loaded.model.inspect(tokens).logits.softmax(dim=-1)[-1].double().numpy()
        ours = written["softmax"](written["logits"](tokens)[-1])
        top = np.argsort(probabilities)[::-1][:10]
        assert np.abs(ours - probabilities)[top].max() < 1e-4
        assert np.argsort(ours)[::-1][:10].tolist() == top.tolist()
    probability = float(loaded.model.inspect(list(loaded.prompt(TEXTS[0]))).logits[-1].softmax(dim=-1).max())
    assert re.search(rf"'▁Max' +{probability:.4f}\n", capsys.readouterr().out)


def test_each_exercise_passes_when_it_is_solved_and_fails_while_it_is_not() -> None:
    whole = script("attention_exercises")
    cells = [text for is_text, text in notebooks.cells(whole) if not is_text]
    blanks = [index for index, cell in enumerate(cells) if notebooks.blanked(cell) != cell]
    document = json.loads((DOCS / "attention_exercises.ipynb").read_text(encoding="utf-8"))
    titles = [line for line in whole.splitlines() if re.match(r"# ## \d", line)]
    assert len(blanks) == len(titles) == sum(cell.count("...  # your line") for cell in code(document)) == 8
    state: dict[str, Any] = {}
    for index, cell in enumerate(cells):
        if index in blanks:
            with pytest.raises((AssertionError, TypeError, ValueError, AttributeError)):
                tried = dict(state)
                exec(notebooks.blanked(cell), tried)
                exec(cells[index + 1], tried)
        exec(cell, state)
