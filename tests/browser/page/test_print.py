"""The page on paper, as a real browser lays it out for printing."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.helpers.stage import BROWSER
from tests.helpers.visitor import say

pytestmark = BROWSER

COLOURS = """() => [...document.querySelectorAll('body, .at-bubble, .at-bubble .at-tok')].map((each) => {
  const { color, backgroundColor } = getComputedStyle(each);
  return color + (each === document.body ? ` on ${backgroundColor}` : '');
})"""


def test_a_conversation_is_printed_in_black_on_white_and_nothing_that_can_be_pressed(shared_page: Page) -> None:
    page = shared_page
    for _ in range(3):
        say(page, "The dog and the fox")
    page.evaluate("document.body.classList.add('dark')")
    page.emulate_media(media="print")
    try:
        for pressed in ("button", "input", "textarea", "select", ".sidebar", "#attend-right"):
            expect(page.locator(pressed).locator("visible=true")).to_have_count(0)
        for bubble in page.locator(".at-bubble").all():
            expect(bubble).to_be_visible()
        log = page.locator(".at-log")
        assert log.evaluate("log => log.scrollHeight <= log.clientHeight"), "a part of the conversation is cut off"
        assert log.evaluate("log => log.getBoundingClientRect().left") < 40  # the settings leave no gap
        assert set(page.evaluate(COLOURS)) == {"rgb(0, 0, 0)", "rgb(0, 0, 0) on rgb(255, 255, 255)"}
    finally:
        page.emulate_media(media="screen")
        page.evaluate("document.body.classList.remove('dark')")
