"""Compare and the sidebar settings: what changes with them, and how a card copies them."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.compare.test_compare import to_compare
from tests.helpers.browsing import Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import set_number

pytestmark = BROWSER


def test_a_slider_of_the_settings_draws_no_card_again_and_a_card_copies_them(visit: Opener) -> None:
    """Card 1 copies the sidebar settings, first with an invalid value in them, then without."""
    page = visit()
    page.evaluate("""() => {
      window.redrawn = 0;
      const watched = { subtree: true, childList: true, characterData: true };
      const count = new MutationObserver((all) => { window.redrawn += all.length; });
      count.observe(document.querySelector('.at-cards'), watched);
    }""")
    slider = page.locator("#attend-temperature [type=range]")
    slider.focus()
    for _ in range(5):
        slider.press("ArrowRight")
    set_number(page, "max-new-tokens", 41)
    set_number(page, "temperature", 99)
    to_compare(page)  # whose cards come from the server once more, as they were
    expect(page.locator(".at-sidebar-settings")).to_contain_text("41")
    assert page.evaluate("window.redrawn") == 0
    page.get_by_role("button", name="Change the settings").first.click()
    expect(page.locator("[data-name=max_new_tokens]").first).to_have_attribute("placeholder", "41")
    take = page.get_by_role("button", name="Use Chat settings").first
    take.click()
    expect(page.locator(".toast-body").first).to_be_visible()  # this question is over, and the next is answered
    page.locator("#attend-tabs label", has_text="Chat").click()
    set_number(page, "temperature", 0.5)
    to_compare(page)
    take.click()
    expect(page.locator(".at-card h3").first).to_contain_text("0.5")
