"""The buttons and tabs above the page, in a real browser."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, expect

from tests.helpers.browsing import PHONE, SHORT, Opener, forget, load
from tests.helpers.stage import BROWSER

pytestmark = BROWSER


def test_the_colour_scheme_is_kept_for_the_next_visit(returning: BrowserContext, url: str) -> None:
    schemes = []
    for query in (SHORT, SHORT, f"{SHORT}&__theme=light"):
        page = returning.new_page()
        if not schemes:
            forget(page, url)
        load(page, f"{url}?{query}")
        schemes.append(page.evaluate("document.body.classList.contains('dark')"))
        if len(schemes) == 1:
            page.locator("#attend-theme").click()
        page.close()
    assert schemes == [False, True, False]  # light at first; then as it was left; but the address comes first


def test_all_tabs_stand_in_one_row_of_a_phone_and_the_keyboard_reaches_each(visit: Opener, two_kinds_url: str) -> None:
    page = visit(at=two_kinds_url, **PHONE)
    tabs = page.locator("#attend-tabs label")
    expect(tabs).to_have_count(5)
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert tabs.evaluate_all("tabs => new Set(tabs.map((tab) => tab.getBoundingClientRect().top)).size") == 1
    tabs.first.locator("input").focus()
    for tab in tabs.all()[1:]:
        page.keyboard.press("ArrowRight")
        expect(tab).to_have_class("selected")
        expect(tab).to_be_in_viewport(ratio=1)
