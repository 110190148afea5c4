"""Learn in a real browser while its server computes: what is typed meanwhile, links, and a fault of ours."""

from __future__ import annotations

import json
import threading
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.helpers.browsing import reload
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import to_chapter
from ui.learn import course

pytestmark = BROWSER


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """While it is cleared, chapters have no answers; their texts do come."""
    answer, gate = course.answer, threading.Event()
    gate.set()

    def held(models: Any, chapter: str, *others: Any) -> Any:
        assert chapter == "text" or gate.wait(60)
        return answer(models, chapter, *others)

    monkeypatch.setattr(course, "answer", held)
    return gate


def test_an_answer_leaves_what_is_being_typed(shared_page: Page, answers: threading.Event) -> None:
    page = shared_page
    part = to_chapter(page, "Attention by hand")
    expect(part.get_by_text("“it” gives animal: ")).to_be_visible()
    words, line = (part.get_by_role("textbox", name=name) for name in ("Three words", "Four words"))
    answers.clear()
    words.fill("a$ b$ c$")
    words.press("Enter")
    line.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("my own")
    answers.set()
    expect(part.get_by_text("“c$” gives a$: ")).to_be_visible()  # a dollar sign of a reader's begins no formula
    expect(line).to_have_value("my own")
    page.keyboard.type(" four words")
    page.keyboard.press("Enter")
    expect(part.get_by_role("grid", name="Mask M")).to_contain_text("own")
    expect(words).to_have_value("a$ b$ c$")


def test_a_link_is_asked_whatever_it_holds_and_keeps_what_is_changed_meanwhile(
    shared_page: Page, answers: threading.Event
) -> None:
    page, phone = shared_page, {"vectors": [[5, 7], [6, 0]]}

    def follow_link(numbers: dict[str, Any]) -> None:
        link = f"?tab=Learn&chapter=attention&numbers={quote(json.dumps(numbers))}"
        page.evaluate("address => history.replaceState(null, '', address)", link)
        reload(page)

    answers.clear()
    follow_link(phone)
    part = page.get_by_role("region", name="A weighted sum of words", exact=True)
    similarity = part.get_by_role("grid", name="Similarity of").locator("input").nth(1)
    similarity.fill("1")
    similarity.press("Enter")
    answers.set()
    expect(part.get_by_text("0.50 · (5, 7) + 0.50 · (6, 0) = (5.50, 3.50)").first).to_be_visible()
    follow_link({**phone, "six_vectors": [[]]})
    refused = part.get_by_role("alert").filter(has_text="Six vectors must have 6 rows of 3 numbers")
    expect(refused).to_be_visible()
    expect(part.get_by_role("grid", name="Word vectors").first.locator("input").nth(2)).to_have_value("6.00")
    part.get_by_role("button", name="Reset").first.click()
    expect(refused).to_be_hidden()
    expect(part.get_by_text("0.80 · (5, 7) + 0.20 · (0, 8) = (4.00, 7.20)")).to_be_visible()


def test_after_a_fault_of_ours_nothing_is_computing_any_more(
    shared_page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = threading.Event()

    def fault(*_: object) -> Any:
        waiting.wait(120)  # until the page says that something is computed
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(course, "answer", fault)
    part = to_chapter(shared_page, "Positions")
    expect(part.locator(".at-lesson-waits")).to_have_text("Computing …")
    waiting.set()
    expect(shared_page.locator(".toast-body").first).to_contain_text("Something went wrong on our side")
    expect(part.locator(".at-lesson-waits")).to_have_text("")
