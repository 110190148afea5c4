"""What a visitor does on the page, as functions of a Playwright page."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

PATIENCE = 120_000  # ms; a busy machine is ten times as slow as a quiet one
expect.set_options(timeout=PATIENCE)
POLLING = 20  # ms, in the page; an expectation is looked at from outside, and after 270 ms every 500 ms only
UNFOLD = "one => { const fold = one.closest('details'); if (fold) fold.open = true }"
_AT_REST = """() => !document.querySelector('#attend-halt, .at-caret')
  && ![...document.querySelectorAll('#attend-stop')].some((one) => one.checkVisibility({ visibilityProperty: true }))"""
# In the page, so that its own timers and frames come first; a page that is hidden has no frames.
_DRAWN = """(rest) => document.hidden || new Promise((drawn) =>
  setTimeout(() => requestAnimationFrame(() => setTimeout(() => drawn(true), 30)), rest))"""
WITH_TEXT = ".at-tok:not(:empty)"  # tokens that say what they are


def send(page: Page, text: str) -> None:
    box = page.locator("#attend-message textarea")
    box.fill(text)
    box.press("Enter")


def say(page: Page, text: str) -> None:
    """Send a message and wait for the end of the answer."""
    answers = page.locator(".at-assistant:not(.at-recorded *)")  # the example goes
    before = answers.count()
    send(page, text)
    expect(answers).to_have_count(before + 1)
    rest(page)


def rest(page: Page) -> None:
    """Wait until no run is going on, and what it has left is drawn."""
    page.wait_for_function(_AT_REST, polling=POLLING, timeout=PATIENCE)
    wait_for_drawing(page)


def wait_for_drawing(page: Page, rest: int = 0) -> None:
    """Wait until what the page has received is drawn, which is done in the next frame.

    Args:
        rest: milliseconds that its drawing may rest before.
    """
    page.wait_for_function(_DRAWN, arg=rest, timeout=PATIENCE)


def to_chapter(page: Page, title: str) -> Locator:
    """Open a chapter of the course, or its map."""
    page.locator("#attend-tabs label", has_text="Learn").click()
    page.locator(".at-lesson-list button", has_text=title).click()
    return page.get_by_role("region", name=title, exact=True)


def choose(page: Page, method: str) -> None:
    entry = page.locator(f"#attend-method label:has(input[value='{method}'])")
    entry.evaluate(UNFOLD)
    entry.click()


def set_number(page: Page, name: str, value: float | str) -> None:
    box = page.locator(f"#attend-{name} input[type=number]")
    box.evaluate(UNFOLD)
    enter(box, str(value))


def enter(box: Locator, text: str) -> None:
    """Fill a box and leave it."""
    box.fill(text)
    box.press("Tab")


def to_tab(page: Page, name: str) -> None:
    page.locator("#attend-tabs label", has_text=name).click()
    expect(page.locator(f"body[data-tab='{name}']")).to_be_attached()


def uses(page: Page, tab: str, model: str) -> None:
    """Wait until the tab is shown and its model is there."""
    expect(page.locator("#attend-tabs label.selected")).to_have_text(tab)
    expect(page.locator(".attend-model-coming")).to_have_attribute("data-current", model)
    expect(page.locator(".attend-loading")).to_have_text("")


def to_write(page: Page) -> None:
    to_tab(page, "Write")
    expect(page.locator("#attend-text textarea")).to_be_visible()


def pick(page: Page, name: str) -> None:
    """Choose a model in the list, by the beginning of its title."""
    page.locator("#attend-model-chosen").click()
    page.get_by_role("option", name=re.compile(f"^{re.escape(name)}")).click()


def name_by_hand(page: Page, name: str) -> None:
    """Ask for a model that is not in the list."""
    page.locator("#attend-model-chosen").click()
    other = page.locator("#attend-other-model")
    other.fill(name)
    other.press("Enter")


def take(page: Page, name: str) -> None:
    """Choose a model and wait until it is loaded."""
    pick(page, name)
    expect(page.locator(".attend-model-coming")).to_have_attribute("data-current", name)


def to_chat(page: Page) -> None:
    """Open Chat; where the first model cannot chat, choose the other."""
    take(page, "tiny-chat")
    page.locator("#attend-tabs label", has_text="Chat").click()
    expect(page.locator("#attend-message textarea")).to_be_visible()


def to_empty_chat(page: Page) -> None:
    """Open Chat and clear its conversation, if there is one."""
    to_tab(page, "Chat")
    turns = page.locator(".at-log > .at-turn")
    if turns.count():
        page.locator("#attend-clear").click()
        expect(turns).to_have_count(0)


def boxes(page: Page) -> int:
    """How many tokens the strip shows."""
    return page.locator(".at-box").count()
