"""What a new visitor sees: recorded runs, whose tokens can be clicked and which one click goes on from."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect

from model import names
from tests.browser.compare.test_opened_file import open_file
from tests.browser.share.test_shared_file import small_document
from tests.browser.test_layout import SHIFTS
from tests.helpers.browsing import PHONE, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import rest, set_number, to_tab, to_write, wait_for_drawing
from ui.examples.recorded import MODELS

pytestmark = [
    *BROWSER,
    pytest.mark.skipif(not set(MODELS) <= set(names.embedded()), reason="the embedded models are not there"),
]


def test_the_first_screen_shows_where_the_model_looked_and_a_click_goes_on(embedded_url: str, visit: Opener) -> None:
    page = visit("?method=Greedy&max_new_tokens=12", at=embedded_url)
    answers = page.locator(".at-recorded .at-assistant")
    expect(answers.last).to_contain_text("Biscuit")
    expect(page.locator(".at-headline")).to_contain_text("B")
    expect(page.locator("select[aria-label=Layer]").first).not_to_have_value("-1")  # one head's map
    expect(page.locator(".at-attended-token").first).to_contain_text("B")
    assert sum(page.evaluate(SHIFTS)) < 0.02
    widths = "tokens => tokens.map((one) => one.getBoundingClientRect().width)"
    assert min(page.locator(".at-tok:visible").evaluate_all(widths)) > 0, "nobody could see what has the focus"
    token = answers.first.locator(".at-tok").nth(3)  # of another run than the one that is shown
    word = token.inner_text().strip()
    assert word, "the fourth token is no space"
    token.click()
    expect(page.locator(".at-headline")).to_contain_text(word)
    expect(page.get_by_role("button", name="Save run")).to_be_disabled()
    page.get_by_role("button", name="Continue this conversation").click()
    expect(page.locator(".at-log > .at-turn")).to_have_count(4)
    expect(page.locator(".at-recorded, .at-example-note:visible")).to_have_count(0)
    page.locator(".at-log > .at-assistant").first.locator(".at-tok").nth(3).click()
    expect(page.locator(".at-headline")).to_contain_text(word)
    expect(page.get_by_role("button", name="Save run")).to_be_enabled()  # it is the visitor's own
    expect(page.locator(".at-assistant").last).to_contain_text("Biscuit")
    expect(page.locator("select[aria-label=Layer]").first).to_have_value("-1")
    page.locator("#attend-clear").click()
    expect(answers.last).to_contain_text("Biscuit")
    open_file(page, small_document())  # a run that has nothing to do with the example
    expect(page.locator(".at-headline")).to_contain_text("Token 1 of 1")
    expect(answers).to_have_count(2)
    expect(answers.last).to_be_hidden()
    page.get_by_role("button", name="Close file").click()
    expect(answers.last).to_be_visible()


def test_write_begins_with_a_text_that_can_be_continued_on_a_phone_too(embedded_url: str, visit: Opener) -> None:
    page = visit("?method=Greedy&max_new_tokens=4", at=embedded_url, **PHONE)
    expect(page.locator(".at-recorded .at-assistant").last).to_contain_text("Biscuit")
    assert page.locator(".at-log").evaluate("log => log.scrollTop") == 0  # it is read from its beginning
    to_write(page)
    note = page.locator(".at-example-note:visible")
    expect(note).to_contain_text("recorded with attend-chat")
    take = note.get_by_role("button", name="Continue this text")
    expect(take).to_be_visible()
    tokens = page.locator(".at-strip .at-box").all_inner_texts()
    take.click()
    expect(note).to_have_count(0)
    begun = re.compile("^Once upon a time, there was a little fox who .")
    box = page.locator("#attend-text textarea")
    expect(box).to_have_value(begun)
    expect(page.locator(".at-strip .at-box")).to_have_text(tokens, use_inner_text=True)
    written = box.input_value()
    page.locator("#attend-continue").click()
    expect(box).not_to_have_value(written)
    rest(page)


def test_compare_and_translate_show_finished_runs_and_a_click_takes_them_over(embedded_url: str, visit: Opener) -> None:
    page = visit("?max_new_tokens=4", at=embedded_url)
    fetched = list[str]()
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
    to_tab(page, "Compare")
    note, cards = page.locator(".attend-compare .at-example-note"), page.locator(".at-card")
    expect(note).to_contain_text("recorded with attend-chat and a maximum length of 16")  # not the sidebar's
    expect(page.locator(".at-metric-legend")).to_be_visible()
    expect(cards).to_have_count(4)
    headings = [cards.nth(number).get_attribute("aria-label") or "" for number in range(4)]
    for heading, words in zip(headings, ("Greedy", "Temperature 0.8", "Top-p 0.9", "Beam"), strict=True):
        assert words in heading
    assert "Top-p" not in headings[1]  # where it is off
    texts = cards.locator(".at-text").all_inner_texts()
    expect(page.get_by_role("button", name="CSV")).to_be_disabled()
    token = cards.nth(2).locator(".at-tok").nth(3)
    word = token.inner_text().strip()
    assert word, "the fourth token is no space"
    token.click()
    expect(page.locator(".at-headline")).to_contain_text(word)
    set_number(page, "max-new-tokens", 5)  # in the sidebar: says nothing of a recorded text
    expect(page.locator(".at-stale")).to_have_count(0)
    set_number(page, "max-new-tokens", 4)
    assert {"comparison.js", "compare.js"} <= set(fetched)  # not before the tab is opened
    expect(page.locator(".attend-inspector .at-map")).to_be_visible()
    note.get_by_role("button").click()
    expect(page.locator(".at-compare-status")).to_have_text("Done: 16 tokens in 4 cards.")
    expect(note).to_be_hidden()
    assert [cards.nth(number).get_attribute("aria-label") for number in range(4)] == headings
    first = cards.first.locator(".at-text").inner_text()
    assert texts[0].startswith(first) and len(first) < len(texts[0])  # greedy draws nothing: the same, but shorter
    cards.first.get_by_role("button", name="Remove this card").click()
    expect(cards).to_have_count(3)
    page.get_by_role("button", name="Beams", exact=True).click()
    expect(page.locator(".at-stale")).not_to_have_count(0)
    page.locator(".attend-compare .at-primary").click()
    expect(page.locator(".at-compare-status")).to_contain_text("Done")
    expect(page.locator(".at-stale")).to_have_count(0)

    to_tab(page, "Translate")
    example = page.locator(".attend-translation .at-recorded")
    expect(example).to_contain_text("Mon frère a une voiture rouge.")
    expect(page.locator(".at-link", has_text="voiture")).to_be_visible()
    expect(page.locator(".at-lines path").first).to_be_attached()
    take = example.get_by_role("button", name="Use this translation")
    expect(take).to_be_enabled()  # the model is there: nothing is drawn again under the click
    example.locator(".at-tok", has_text="car").click()
    expect(page.locator(".at-headline")).to_contain_text("car")
    assert {"translation.js", "translate.js"} <= set(fetched)
    expect(page.locator(".at-link.at-shown")).to_have_text("car")
    take.click()
    expect(page.locator("#attend-given textarea")).to_have_value("Mon frère a une voiture rouge.")
    expect(page.locator(".at-translated .at-text")).to_have_text("My brother has a red car.")
    expect(page.locator(".at-recorded:visible, .at-example-note:visible")).to_have_count(0)
    page.locator(".at-translated .at-tok", has_text="car").click()
    expect(page.locator(".at-headline")).to_contain_text("car")
    page.locator("#attend-translate-clear").click()
    expect(example).to_be_visible()
    expect(page.locator(".at-link", has_text="voiture")).to_be_visible()


def test_a_link_to_a_comparison_shows_no_example_beside_its_empty_cards(embedded_url: str, visit: Opener) -> None:
    page = visit('?tab=Compare&comparison={"cards":[{},{"top_k":4}]}', at=embedded_url)
    expect(page.locator(".at-card").first).to_be_visible()
    expect(page.locator(".attend-inspector .at-empty")).to_be_visible()
    expect(page.locator(".at-example-note:visible, .at-headline:visible, .at-card .at-tok")).to_have_count(0)


def test_cards_that_are_chosen_before_the_example_has_come_stay(embedded_url: str, visit: Opener) -> None:
    page, held = visit(at=embedded_url), list[Route]()
    page.route("**/examples/comparison.js", lambda route: held.append(route))
    with page.expect_request("**/examples/comparison.js"):
        to_tab(page, "Compare")
    page.get_by_role("button", name="Strategy", exact=True).click()
    expect(page.locator(".at-card")).to_have_count(3)
    with page.expect_response("**/examples/comparison.js"):
        held[0].continue_()
    wait_for_drawing(page)
    expect(page.locator(".at-card")).to_have_count(3)
