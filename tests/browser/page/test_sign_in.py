"""Signing in to a page that asks for a password, in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from model.loaded import LoadedModel
from tests.browser.history.test_history import kept, turns, wait_for_turns
from tests.conftest import unused_port
from tests.helpers.browsing import READY
from tests.helpers.stage import BROWSER, context_of
from tests.helpers.visitor import say
from ui.page.layout import build
from ui.runs.models import Models
from ui.server import launch as serve
from ui.server.accounts import VARIABLE, Accounts
from ui.tour import SEEN

pytestmark = BROWSER


@pytest.fixture
def url(tiny: LoadedModel) -> Iterator[str]:
    blocks = build(Models((tiny.name,), lambda name, _: tiny))
    accounts = Accounts.read("", {VARIABLE: "ada:correct horse"})
    serve.launch(blocks, host="127.0.0.1", port=unused_port(), accounts=accounts, block=False)
    yield str(blocks.local_url)
    blocks.close()


def test_whoever_is_signed_out_signs_in_again_and_finds_everything(url: str, browser: Browser) -> None:
    with context_of(browser) as context:
        context.add_init_script(SEEN)
        page = context.new_page()
        page.goto(url)
        sign_in(page, "wrong")
        expect(page.get_by_role("alert")).to_contain_text("don't match")
        sign_in(page)
        page.wait_for_selector(READY)
        say(page, "Hello")
        kept(page, "Hello")
        before = turns(page)
        context.request.get(f"{url}logout", max_redirects=0)
        page.locator("#attend-message textarea").fill("Are you there?")
        page.keyboard.press("Enter")
        sign_in(page)
        page.wait_for_selector(READY)
        wait_for_turns(page, before)
        expect(page.locator("#attend-message textarea")).to_have_value("Are you there?")


def sign_in(page: Page, password: str = "correct horse") -> None:
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
