"""What people read: code that the lesson names exists, and one thing has one word everywhere."""

from __future__ import annotations

import re

import pytest

from docs.words import visible_texts
from tests.helpers.paths import ROOT

TEXTS = [(f"{file}:{line}", text) for file, line, text in visible_texts()]

# Words that the page used to have for things that have a word now.
RETIRED = {
    r"control tokens?": "special token",
    r"looked at by|looks? at whom": "attends to",
    r"the panel’s": "sidebar settings",
    r"Neutralise|Bring back": "Turn filters off, Restore",
    r"what bec[ao]me of": "outcome, what happens",
    r"no longer here": "no longer stored, no longer exists",
    r"not made for conversations|knows no turns": "not a chat model",
    r"must lie|between commas|type on\b|mend it": "must be, separated by commas, keep typing, correct it",
    r"kept for the answer|[Kk]eep nothing|to be kept:": "reserved for the answer, stop saving, store",
    r"Not drawn|are drawn for|can be drawn": "shown: a draw is random",
    r"(empty|sentences|word)[^:]*: write": "enter, type",
    r"\bin all −?\d|(Mass|Probability) kept|Tokens left": "total, Probability removed, Candidates left",
}


def test_the_texts_are_found() -> None:
    """In each of the three languages: an argument, an f-string, a script's sentence of two lines, an element's text."""
    found = {text for _, text in TEXTS}
    assert {"Exact prompt", "Why this token", "Top-k", "The prompt is empty: enter at least one character."} <= found
    assert any(text.startswith("There is no setting {shown(name)}") for text in found)
    assert any(
        re.fullmatch("Attention gives each word a new vector: .* which words it attends to. .*", text) for text in found
    )


@pytest.mark.parametrize(("retired", "better"), RETIRED.items())
def test_one_thing_has_one_word(retired: str, better: str) -> None:
    assert [f"{where}: {text}" for where, text in TEXTS if re.search(retired, text)] == [], f"better: {better}"


def test_code_that_the_lesson_names_exists() -> None:
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "ui/learn").rglob("*.js")))
    plain = re.sub(r"'\s*\n\s*\+ '", "", scripts)  # of texts over several lines
    named = re.findall(r"`([\w.]+)`,? (?:as )?in ([a-z_/]+\.py)", plain)
    assert len(named) > 12
    for name, path in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        for part in name.split("."):
            assert re.search(rf"\b{part}\b", source), f"{path} has no {name}"
