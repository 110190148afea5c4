"""The inspector and the preview beside a text that grows slowly: both stay at the token that is selected."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.helpers.browsing import Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import rest, to_chat, wait_for_drawing

pytestmark = BROWSER

# In every frame: the most probable candidate in the table, and in the preview.
WATCH = """() => {
  window.differing = [];
  window.seen = new Set();
  const first = (place) => document.querySelector(`${place} .at-chip`)?.textContent ?? null;
  (function look() {
    const [table, preview] = [first('.at-table-pane'), first('#attend-preview:not([hidden])')];
    if (table !== preview) window.differing.push([table, preview]);
    window.seen.add(document.querySelector('.at-position').textContent);
    requestAnimationFrame(look);
  })();
}"""


@pytest.fixture
def page(slow_models: str, visit: Opener) -> Page:
    page = visit("?seed=7&min_new_tokens=8&max_new_tokens=8", at=slow_models)
    to_chat(page)
    send(page, "Hello")
    return page


def send(page: Page, message: str) -> None:
    page.locator("#attend-message textarea").fill(message)
    page.keyboard.press("Enter")
    expect(page.locator(".at-box.at-generated").first).to_be_attached()


def test_the_preview_shows_the_token_of_the_table_in_every_frame(page: Page) -> None:
    page.evaluate(WATCH)
    rest(page)
    assert page.evaluate("[window.differing, window.seen.size > 3]") == [[], True]


def test_a_token_that_was_taken_stays_selected_while_the_rest_is_written(page: Page) -> None:
    rest(page)
    page.locator(".at-box.at-generated").nth(1).click()
    wait_for_drawing(page)  # its table comes in the next frame
    row = page.locator(".at-takeable:not(:has-text('<'))").first
    taken = row.locator(".at-chip").inner_text()
    page.evaluate(WATCH)
    row.click()
    headline = page.locator(".at-headline")
    expect(page.locator(".at-versions")).to_contain_text("2/2")
    rest(page)
    expect(headline).to_contain_text("Token 2 of 10")  # two, and eight more
    assert all(position.startswith("Token 2 of") for position in page.evaluate("[...window.seen]"))
    assert headline.locator(".at-chip").inner_text() == taken
    expect(page.locator(".at-reason")).to_contain_text("Chosen by you")
    page.locator(".at-follow").click()
    expect(headline).to_contain_text("Token 10 of 10")
