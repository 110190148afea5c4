"""A class on the page without a server, and the way there from a page with one."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from model.loaded import LoadedModel
from tests.browser.web.static_page import ADDRESS, MESSAGE, open_tab, wait_until_ready
from tests.helpers.browsing import DESK, load
from tests.helpers.browsing import SHORT as SHORT_LENGTH
from tests.helpers.served import models_of, served
from tests.helpers.stage import BROWSER
from ui.page.layout import build
from ui.tour import SEEN
from web import static
from web.served import _written, routes

pytestmark = BROWSER


def test_students_of_a_class_link_made_here_see_its_text_alone_and_guess(page: Page, own: str) -> None:
    panel = open_tab(page, "Write")
    panel.get_by_role("textbox", name="Text").fill("Once upon a time")
    panel.get_by_role("button", name="For a class").click()
    sheet = page.locator("#attend-class-dialog")
    sheet.get_by_label("Guesses").fill("2")
    page.goto(sheet.locator("pre").inner_text())
    wait_until_ready(page)
    box = page.get_by_role("textbox", name="Text", exact=True)
    expect(box).to_have_value("Once upon a time")
    assert box.get_attribute("readonly") is not None
    for hidden in ("tablist", "complementary"):  # the other tabs and the settings
        expect(page.get_by_role(hidden)).to_be_hidden()
    page.get_by_role("button", name="Continue", exact=True).click()
    for _ in range(2):
        expect(page.locator(".at-guess-choice").first).to_be_focused()
        expect(page.locator("#attend-main")).to_be_hidden()
        page.keyboard.press("1")
        expect(page.locator("#attend-guessing .at-verdict")).to_be_visible()
        page.keyboard.press("Enter")
    expect(page.locator("#attend-main")).to_be_visible()
    expect(page.locator("#attend-guessing")).to_contain_text(
        "This page has no server, so there is no mean of the class"
    )
    page.goto(own + ADDRESS)


def test_a_class_link_has_the_message_that_was_typed_during_a_run(page: Page) -> None:
    wait_until_ready(page)
    panel = open_tab(page, "Chat")
    box = panel.get_by_role("textbox", name="Message", exact=True)
    box.fill(MESSAGE)
    box.evaluate("""box => {
        box.form.requestSubmit();
        box.value = 'And mine?';
        box.dispatchEvent(new Event('input'));
    }""")
    expect(panel.get_by_role("button", name="Stop")).to_be_hidden(timeout=60_000)
    panel.get_by_role("button", name="For a class").click()
    address = page.locator("#attend-class-dialog pre").inner_text()
    assert parse_qs(urlsplit(address).query)["prompt"] == ["And mine?"]
    page.locator("#attend-class-dialog").get_by_role("button", name="Close").click()


def test_a_class_cannot_clear_the_conversation(page: Page, own: str) -> None:
    panel = open_tab(page, "Chat")
    panel.get_by_role("textbox", name="Message", exact=True).fill(MESSAGE)
    panel.get_by_role("button", name="For a class").click()
    page.goto(page.locator("#attend-class-dialog pre").inner_text())
    wait_until_ready(page)
    page.get_by_role("button", name="Send", exact=True).click()
    page.get_by_role("button", name="Show the whole text").click()
    expect(page.locator(".at-log > .at-assistant .at-tok").first).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden(timeout=60_000)
    expect(page.get_by_role("button", name="Clear", exact=True)).to_be_hidden()  # nobody could type another message
    page.goto(own + ADDRESS)


def test_a_page_with_a_server_leads_here_with_its_text_and_makes_class_links_to_it(
    browser: Browser, folder: Path, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static, "write", lambda to, course: shutil.copytree(folder, to))  # has been written before
    models = models_of(replace(tiny, name="attend-chat"))
    with served(build(models), in_browser=routes()) as address, browser.new_context(viewport=DESK) as context:
        context.add_init_script(SEEN)
        page = load(context.new_page(), f"{address}/?tab=Write&{SHORT_LENGTH}")
        page.locator("#attend-text textarea").fill("The dog")
        page.locator("#attend-code").click()
        page.get_by_role("button", name="For a class").click()
        sheet = page.locator("#attend-class-dialog")
        sheet.get_by_label("Their browsers run the model").check()
        assert sheet.locator("pre").inner_text().startswith(f"{address}/in-browser/?tab=Write&")
        sheet.get_by_role("button", name="Close").click()
        page.locator("#attend-share-dialog").get_by_role("button", name="Close").click()
        with context.expect_page() as opened:
            page.get_by_role("link", name="Run in my browser").click()
        expect(opened.value.get_by_role("textbox", name="Text", exact=True)).to_have_value("The dog")
        wait_until_ready(opened.value)
    _written.cache_clear()
