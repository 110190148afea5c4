"""Signing in to a page that asks for a password, in a browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from model.loaded import LoadedModel
from tests.browser.history.test_history import kept, turns, wait_for_turns
from tests.helpers.browsing import READY, Tab, forget, page_of
from tests.helpers.served import models_of
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import say
from ui.server.accounts import VARIABLE, Accounts

pytestmark = BROWSER


def test_whoever_is_signed_out_signs_in_again_and_finds_everything(tiny: LoadedModel, tab: Tab) -> None:
    with page_of(models_of(tiny), accounts=Accounts.read("", {VARIABLE: "ada:correct horse"})) as url:
        page = tab.open()
        forget(page, url)
        page.goto(url)
        sign_in(page, "wrong")
        expect(page.get_by_role("alert")).to_contain_text("don't match")
        sign_in(page)
        page.wait_for_selector(READY)
        say(page, "Hello")
        kept(page, "Hello")
        before = turns(page)
        page.request.get(f"{url}logout", max_redirects=0)
        page.locator("#attend-message textarea").fill("Are you there?")
        page.keyboard.press("Enter")
        sign_in(page)
        page.wait_for_selector(READY)
        wait_for_turns(page, before)
        expect(page.locator("#attend-message textarea")).to_have_value("Are you there?")
        tab.leave()  # first: without its cookie the page goes to sign in of its own accord, perhaps in the same moment
        forget(page, url)


def sign_in(page: Page, password: str = "correct horse") -> None:
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
