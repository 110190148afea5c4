"""The help in a real browser, and the page's icon."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.helpers.browsing import PHONE, Opener
from tests.helpers.stage import BROWSER

pytestmark = BROWSER


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desk", "phone"])
def test_the_keys_are_listed_by_a_button(visit: Opener, device: dict[str, Any]) -> None:
    page = visit(**device)
    button, dialog = page.locator("#attend-keys"), page.get_by_role("dialog", name="Help")
    button.tap() if device else button.click()
    expect(dialog.get_by_role("heading", level=4)).to_contain_text(["Everywhere", "Tokens", "Chat", "Compare", "Learn"])
    assert page.evaluate("document.documentElement.scrollWidth") == page.evaluate("innerWidth")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()


def test_a_question_mark_lists_the_keys_but_for_whoever_types_one(visit: Opener) -> None:
    page = visit()
    dialog, box = page.get_by_role("dialog", name="Help"), page.locator("#attend-message textarea")
    box.press("?")
    expect(box).to_have_value("?")
    expect(dialog).to_be_hidden()
    page.locator("#attend-tabs input").first.focus()
    page.keyboard.press("?")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#attend-tabs input").first).to_be_focused()
    expect(page.locator("link[rel=icon][type='image/svg+xml']")).to_have_attribute("href", "favicon.ico")
    icon = page.request.get(f"{page.url.partition('?')[0]}favicon.ico")
    assert icon.headers["content-type"].startswith("image/svg+xml") and "#2563c9" in icon.text()
