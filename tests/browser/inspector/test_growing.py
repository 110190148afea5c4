"""The inspector and the preview beside a text that grows: both stay at the token that is selected."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.helpers.browsing import HeldPage, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import rest, send, to_chat, wait_for_drawing

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


def test_table_and_preview_show_one_token_and_a_token_that_was_taken_stays_selected(
    held: HeldPage, visit: Opener
) -> None:
    page = visit("?seed=7&min_new_tokens=8&max_new_tokens=8", at=held.url)
    to_chat(page)
    send(page, "Hello")
    generated, headline = page.locator(".at-box.at-generated"), page.locator(".at-headline")
    expect(generated).to_have_count(1)
    wait_for_drawing(page)
    page.evaluate(WATCH)
    for count in range(2, 6):
        held.gate.let(1)
        expect(generated).to_have_count(count)
        expect(headline).to_contain_text(f"Token {count} of")
    held.gate.open()
    rest(page)
    assert page.evaluate("[window.differing, window.seen.size > 3]") == [[], True]

    generated.nth(1).click()
    wait_for_drawing(page)  # its table comes in the next frame
    row = page.locator(".at-takeable:not(:has-text('<'))").first
    taken = row.locator(".at-chip").inner_text()
    page.evaluate(WATCH)
    row.click()
    expect(page.locator(".at-versions")).to_contain_text("2/2")
    rest(page)
    expect(headline).to_contain_text("Token 2 of 10")  # two, and eight more
    assert all(position.startswith("Token 2 of") for position in page.evaluate("[...window.seen]"))
    assert headline.locator(".at-chip").inner_text() == taken
    page.locator(".at-follow").click()
    expect(headline).to_contain_text("Token 10 of 10")
