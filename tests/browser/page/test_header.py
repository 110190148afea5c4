"""The buttons above the page, in a real browser."""

from __future__ import annotations

from playwright.sync_api import BrowserContext

from tests.helpers.browsing import SHORT, forget, load
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
