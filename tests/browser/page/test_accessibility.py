"""axe-core finds nothing on the page: every tab and every dialog, light and dark."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from model import names
from tests.browser.page import axe
from tests.helpers.browsing import Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import say, to_tab
from ui.examples.recorded import MODELS

pytestmark = [
    *BROWSER,
    axe.REQUIRED,
    pytest.mark.skipif(not set(MODELS) <= set(names.embedded()), reason="the embedded models are not there"),
]


def chat(page: Page) -> None:
    to_tab(page, "Chat")
    page.get_by_text("Custom", exact=True).click()
    page.locator("#attend-settings details").evaluate_all("folds => folds.forEach((fold) => { fold.open = true })")
    say(page, "Hello there")
    page.locator(".at-log > .at-turn .at-tok").first.click()
    expect(page.locator(".at-step")).to_be_visible()


def write(page: Page) -> None:
    to_tab(page, "Write")
    expect(page.locator(".at-example-note:visible")).to_have_count(1)


def scored(page: Page) -> None:
    to_tab(page, "Write")
    page.locator("#attend-text textarea").fill("The dog and the fox.")
    page.locator("#attend-score").click()
    expect(page.locator(".at-scores polyline")).to_be_visible()
    page.get_by_text("All tokens: table and CSV").click()


def translate(page: Page) -> None:
    to_tab(page, "Translate")
    expect(page.locator("#attend-translate .at-example-note:visible")).to_have_count(1)
    expect(page.locator("body[data-loading]")).to_have_count(0)


def compare(page: Page) -> None:
    to_tab(page, "Compare")
    expect(page.locator(".at-card")).to_have_count(4)
    expect(page.locator("body[data-loading]")).to_have_count(0)
    page.locator(".at-card .at-tok").first.click()
    expect(page.locator(".at-step")).to_be_visible()


def chapter(title: str) -> Callable[[Page], None]:
    def learn(page: Page) -> None:
        to_tab(page, "Learn")
        page.locator(".at-lesson-list button", has_text=title).click()
        region = page.get_by_role("region", name=title, exact=True)
        expect(region).to_be_visible()
        expect(region.locator(".at-exercise").first).to_be_visible()  # the last that comes

    return learn


def course_map(page: Page) -> None:
    to_tab(page, "Learn")
    page.locator(".at-lesson-list button", has_text="Map").click()
    expect(page.locator(".at-model-map-panel canvas").first).to_be_visible()


def dialog(button: str, name: str) -> Callable[[Page], None]:
    def show(page: Page) -> None:
        page.locator(button).click()
        expect(page.get_by_role("dialog", name=name)).to_be_visible()

    return show


TAB, DIALOG, CHAPTER = "#attend-main", "dialog[open]", ".at-lesson-chapter:not([hidden])"
# Chapters that show nothing which another of these doesn't show are left out.
STATES: tuple[tuple[str, str, Callable[[Page], None]], ...] = (  # its name, what is looked at, and how it is reached
    ("Chat", "html", chat),
    ("the help", DIALOG, dialog("#attend-keys", "Help")),
    ("the history", DIALOG, dialog("#attend-history-button", "History")),
    ("sharing", DIALOG, dialog("#attend-code", "Share or reuse these settings")),
    ("Write", TAB, write),
    ("a scored text", ".at-scores", scored),
    ("Compare", TAB, compare),
    ("Translate", TAB, translate),
    ("vocabulary", TAB, chapter("A vocabulary of your own")),
    ("map", CHAPTER, course_map),
    ("why attention", CHAPTER, chapter("Why attention")),
    ("attention by hand", CHAPTER, chapter("Attention by hand")),
    ("today's models", CHAPTER, chapter("From this block to today’s models")),
    ("training", CHAPTER, chapter("One training step")),
    ("generation", CHAPTER, chapter("How a text is generated")),
)


# axe-core doesn't see white letters in an empty white field.
TEXT_FIELDS_ARE_DARK = """() => {
  const colour = (field) => getComputedStyle(field).backgroundColor;
  const [dark, fields] = ['#attend-model-chosen', '.at-text-field'].map((selector) =>
    [...document.querySelectorAll(selector)].map(colour));
  return dark[0] !== 'rgb(255, 255, 255)' && fields.length && fields.every((each) => each === dark[0]);
}"""
DARK = {
    "Chat",
    "the help",
    "Write",
    "a scored text",
    "Compare",
    "Translate",
    "map",
    "generation",
}  # looked at in the dark as well


def test_axe_finds_nothing(embedded_url: str, visit: Opener) -> None:
    page = visit(at=embedded_url)
    results: dict[str, list[str]] = {}
    for state, within, reach in STATES:
        reach(page)
        results[f"{state}, light"] = axe.violations(page, within=within)
        if state in DARK:
            turn(page)
            results[f"{state}, dark"] = axe.violations(page, "color-contrast", within=within)  # the one about colours
            turn(page)
        page.locator("dialog[open]").evaluate_all("dialogs => dialogs.forEach((each) => each.close())")
    assert {state: faults for state, faults in results.items() if faults} == {}
    page.locator("h1").evaluate("title => title.append(document.createElement('img'))")
    assert [fault.partition(":")[0] for fault in axe.violations(page, within="header")] == ["image-alt"]  # it can fail
    turn(page)
    page.wait_for_function(TEXT_FIELDS_ARE_DARK)  # colours may fade


def turn(page: Page) -> None:
    """From light to dark and back, even where a dialog covers the button."""
    page.locator("#attend-theme").evaluate("button => button.click()")
