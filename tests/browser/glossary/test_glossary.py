"""The glossary in a real browser: words that open their entries, the list of all, and its addresses."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.page import axe
from tests.helpers.browsing import PHONE, HeldPage, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import say, to_tab

pytestmark = BROWSER


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("dialog", name=name, exact=True)


def test_a_setting_explains_itself_leads_to_its_chapter_and_nothing_that_a_model_wrote_is_marked(visit: Opener) -> None:
    page = visit()
    term = page.locator("#attend-temperature .at-term").first
    expect(term).to_have_text("Temperature")
    term.focus()
    page.keyboard.press("Enter")
    entry = card(page, "Temperature")
    expect(entry).to_be_focused()
    expect(entry).to_contain_text("divided by it before the softmax")
    expect(entry).to_contain_text(page.locator("#attend-temperature-help").inner_text())  # said once, in Python
    assert axe.violations(page, within=".at-term-card") == []
    page.keyboard.press("Escape")
    expect(entry).to_be_hidden()
    expect(term).to_be_focused()

    term.click()
    entry.get_by_role("link", name="softmax").click()
    softmax = card(page, "Softmax")
    expect(softmax).to_be_focused()
    softmax.get_by_role("link", name=re.compile("A weighted sum of words")).click()
    expect(softmax).to_be_hidden()
    expect(page.get_by_role("heading", name="A weighted sum of words", level=2)).to_be_focused()
    expect(page).to_have_url(re.compile("tab=Learn.*chapter=attention"))
    chapter = page.get_by_role("region", name="A weighted sum of words", exact=True)
    expect(chapter.locator("> .at-lesson-inside > .at-lesson-text .at-term")).not_to_have_count(0)
    page.go_back()
    expect(page.locator("body")).to_have_attribute("data-tab", "Chat")

    say(page, "What is attention, and what is a token?")
    expect(page.locator(".attend-inspector .at-term").first).to_be_visible()
    expect(page.locator(":is(.attend-conversation, .at-strip) .at-term")).to_have_count(0)
    to_tab(page, "Learn")
    expect(page.locator(".at-lesson-text .at-term").first).to_be_visible()
    page.locator(".at-lesson-list button", has_text="From this block").click()
    expect(page.locator(".at-lesson-today .at-term").first).to_be_visible()
    unmarked = page.locator(".at-lesson-today [data-unmarked]")
    unmarked.last.scroll_into_view_if_needed()
    # not of one element: what the model tells of itself comes later, and is drawn anew
    page.wait_for_function(
        """() => ![...document.querySelectorAll('.at-lesson-today [data-unmarked]')].some((one) => {
          const { top, bottom } = one.getBoundingClientRect();
          return top < bottom && top < innerHeight && bottom > 0;
        })"""
    )


def test_all_terms_can_be_searched_and_linked_to(visit: Opener) -> None:
    page = visit("?glossary=top-p")
    glossary = page.get_by_role("dialog", name="Glossary")
    expect(glossary.locator("#term-top-p")).to_be_in_viewport()
    assert axe.violations(page, within=".at-glossary") == []
    page.keyboard.press("Escape")
    to_tab(page, "Learn")
    page.locator(".at-lesson-list").get_by_role("link", name="Glossary").click()
    search, entries = glossary.get_by_role("searchbox"), glossary.get_by_role("article")
    expect(search).to_be_focused()
    expect(page).to_have_url(re.compile("glossary=all"))
    search.fill("nucleus")
    expect(entries).to_have_count(1)
    expect(entries).to_contain_text("Holtzman et al. (2020)")
    expect(glossary.get_by_role("status")).to_have_text("1 term")
    entries.get_by_role("link", name="Top-p, nucleus sampling").click()
    expect(search).to_have_value("")
    expect(page).to_have_url(re.compile("glossary=top-p"))
    expect(glossary.locator("#term-top-p a").first).to_be_focused()
    expect(glossary.locator("#term-top-p")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("glossary="))

    page.locator(".at-lesson-list").get_by_role("link", name="Glossary").click()
    glossary.get_by_role("link", name=re.compile("A weighted sum of words")).first.click()
    expect(page.get_by_role("heading", name="A weighted sum of words", level=2)).to_be_focused()
    expect(glossary).to_be_hidden()


def test_on_a_phone_the_card_stays_on_the_screen(visit: Opener) -> None:
    page = visit(**PHONE)
    term = page.locator(".attend-inspector h3 .at-term", has_text="Attention")
    say(page, "Hello there")
    term.tap()
    entry = card(page, "Attention")
    expect(entry).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") == page.evaluate("innerWidth")
    entry.get_by_role("link", name="All terms").tap()
    glossary = page.get_by_role("dialog", name="Glossary")
    expect(glossary.get_by_role("article").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == page.evaluate("innerWidth")
    page.keyboard.press("Escape")
    expect(glossary).to_be_hidden()


def test_escape_closes_the_card_and_lets_a_text_go_on(visit: Opener, held: HeldPage) -> None:
    page = visit("?min_new_tokens=12&max_new_tokens=12&seed=7&tab=Write", at=held.url)
    term, stop = page.locator("#attend-temperature .at-term").first, page.locator("#attend-halt")
    expect(term).to_be_visible()
    page.locator("#attend-text textarea").fill("Once upon")
    page.locator("#attend-continue").click()
    expect(stop).to_be_visible()
    term.click()
    expect(card(page, "Temperature")).to_be_focused()
    page.keyboard.press("Escape")
    expect(card(page, "Temperature")).to_be_hidden()
    held.gate.open()
    expect(stop).to_be_hidden()
    expect(page.locator("#attend-meter")).to_contain_text("reached the length limit")  # so nothing stopped it
