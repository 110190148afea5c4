"""What a new visitor sees: recorded runs, whose tokens can be clicked and which one click goes on from."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from model import names
from tests.browser.test_layout import SHIFTS
from tests.helpers.browsing import PHONE, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import rest, to_write

pytestmark = [
    *BROWSER,
    pytest.mark.skipif("attend-chat" not in names.embedded(), reason="the embedded models are not there"),
]


def test_the_first_screen_shows_where_the_model_looked_and_a_click_goes_on(embedded_url: str, visit: Opener) -> None:
    page = visit("?method=Greedy&max_new_tokens=12", at=embedded_url)
    answers = page.locator(".at-recorded .at-assistant")
    expect(answers.last).to_contain_text("Biscuit")
    expect(page.locator(".at-headline")).to_contain_text("B")
    assert page.locator("select[aria-label=Layer]").first.input_value() != "-1"  # one head's map
    expect(page.locator(".at-looked-at").first).to_contain_text("B")
    assert sum(page.evaluate(SHIFTS)) < 0.02
    assert page.locator(".at-tok:empty:is([role], [tabindex])").count() == 0, "nobody could see what has the focus"
    answers.first.locator(".at-tok", has_text="lovely").click()  # of another run than the one that is shown
    expect(page.locator(".at-headline")).to_contain_text("lovely")
    expect(page.get_by_role("button", name="Save run")).to_be_disabled()
    page.get_by_role("button", name="Continue this conversation").click()
    expect(page.locator(".at-log > .at-turn")).to_have_count(4)
    rest(page)
    expect(page.locator(".at-recorded, .at-example-note:visible")).to_have_count(0)
    expect(page.locator(".at-assistant").last).to_contain_text("Biscuit")
    assert page.locator("select[aria-label=Layer]").first.input_value() == "-1"
    page.locator("#attend-clear").click()
    expect(answers.last).to_contain_text("Biscuit")


def test_write_begins_with_a_text_that_can_be_continued_on_a_phone_too(embedded_url: str, visit: Opener) -> None:
    page = visit("?method=Greedy&max_new_tokens=4", at=embedded_url, **PHONE)
    expect(page.locator(".at-recorded .at-assistant").last).to_contain_text("Biscuit")
    assert page.locator(".at-log").evaluate("log => log.scrollTop") == 0  # it is read from its beginning
    to_write(page)
    note = page.locator(".at-example-note:visible")
    expect(note).to_contain_text("recorded with attend-chat")
    note.get_by_role("button").click()
    expect(note).to_have_count(0)
    begun = re.compile("^Once upon a time, there was a little fox who .")
    expect(page.locator("#attend-text textarea")).to_have_value(begun)
    rest(page)
