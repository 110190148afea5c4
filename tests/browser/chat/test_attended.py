"""The messages before an answer in the colours of attention."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.helpers.browsing import Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import WITH_TEXT, say

pytestmark = BROWSER

HOSTILE = "<img src=x onerror=alert(1)> & ${1}"


def test_messages_show_how_much_a_token_attends_to_their_words(visit: Opener) -> None:
    page = visit("?max_new_tokens=6&min_new_tokens=6&seed=7")
    say(page, HOSTILE)
    say(page, "And now?")
    tinted = page.locator(".at-user [data-attention]")
    expect(tinted).to_have_count(0)
    page.locator(".at-colours label", has_text="attention").click()
    answers = page.locator(".at-turn.at-assistant")
    token = answers.last.locator(WITH_TEXT).last
    token.click()
    number = int(token.get_attribute("data-index") or "") + 1
    expect(page.locator(".at-headline")).to_contain_text(f"Token {number} of 6")
    expect(page.locator(".at-user").last.locator("[data-attention]").first).to_be_visible()
    expect(page.locator(".at-user .at-text")).to_have_text([HOSTILE, "And now?"])
    expect(answers.first.locator(".at-tok[data-attention]")).to_have_count(6)
    levels = [int(level) for level in tinted.evaluate_all("(all) => all.map((one) => one.dataset.attention)")]
    strip = page.locator(".at-box.at-prompt").evaluate_all("(all) => all.map((one) => Number(one.dataset.attention))")
    assert max(levels) > 0 and set(levels) <= set(strip)

    answers.first.locator(WITH_TEXT).first.click()  # what came after that answer was not read
    expect(page.locator(".at-user").last.locator("[data-attention]")).to_have_count(0)
    expect(page.locator(".at-user").first.locator("[data-attention]").first).to_be_visible()
    page.locator(".at-colours label", has_text="probability").click()
    expect(tinted).to_have_count(0)
    expect(page.locator(".at-user .at-text")).to_have_text([HOSTILE, "And now?"])
