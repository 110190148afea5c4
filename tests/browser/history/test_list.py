"""The list of what this browser keeps: opened, renamed, deleted, saved as one file, and nothing kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.history.test_history import KEPT, kept, reload, turns
from tests.helpers.browsing import SHORT, Tab
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import rest, say
from tests.helpers.waiting import eventually

pytestmark = BROWSER


@pytest.fixture
def page(tab: Tab, url: str) -> Page:
    """The page with the history open, in which two conversations are kept; the second one is in view."""
    page = tab.visit(url, f"?{SHORT}")
    say(page, "Hello there")
    kept(page, "Hello there")
    page.locator("#attend-clear").click()
    expect(page.locator(".at-log > .at-turn")).to_have_count(0)
    say(page, "And <b>now</b>")
    kept(page, "Hello there", "And <b>now</b>")
    present(page)
    return page


def present(page: Page) -> None:
    page.locator("#attend-history-button").click()
    expect(page.get_by_role("dialog", name="History")).to_be_visible()


def expect_names(page: Page, *names: str) -> None:
    expect(page.locator(".at-kept-open b")).to_have_text(list(names))


def test_an_entry_is_found_opened_and_renamed(page: Page, tab: Tab) -> None:
    expect_names(page, "And <b>now</b>", "Hello there")  # the newest first
    page.get_by_label("Search the history").fill("HELLO")
    expect_names(page, "Hello there")
    page.locator(".at-kept-open").click()
    expect(page.get_by_role("dialog", name="History")).to_be_hidden()
    expect(page.locator(".at-log > .at-turn .at-bubble").first).to_contain_text("Hello there")
    expect(page.locator(".at-log > .at-turn .at-bubble")).to_have_count(2)
    present(page)
    page.get_by_role("button", name="Rename “Hello there”").click()
    page.get_by_label("New name").press("Escape")
    expect(page.locator(".at-kept-open b")).to_have_count(2)  # it is as it was
    page.get_by_role("button", name="Rename “Hello there”").click()
    page.get_by_label("New name").fill("Greetings")
    page.get_by_label("New name").press("Enter")
    expect_names(page, "And <b>now</b>", "Greetings")
    page.keyboard.press("Escape")
    say(page, "More")  # a name is no other document
    rest(page)
    eventually(lambda: max(page.evaluate(KEPT), key=lambda entry: entry["changed"])["name"] == "Greetings")
    assert len(page.evaluate(KEPT)) == 2

    present(page)
    page.get_by_label("Stop saving").check()
    page.keyboard.press("Escape")
    page.locator("#attend-clear").click()
    expect(page.locator(".at-log > .at-turn")).to_have_count(0)
    say(page, "A secret")
    rest(page)
    page.wait_for_timeout(1000)  # three times the pause after which it would be kept
    reload(page)
    assert turns(page) == []
    kept(page, "Hello there", "And <b>now</b>")  # as it was
    present(page)
    expect(page.get_by_label("Stop saving")).to_be_checked()
    tab.leave()


def test_what_was_deleted_can_be_brought_back_but_for_everything(page: Page, tab: Tab, tmp_path: Path) -> None:
    with page.expect_download() as begun:
        page.get_by_role("button", name="Export all").click()
    path = tmp_path / "history.json"
    begun.value.save_as(path)
    page.get_by_role("button", name="Delete “Hello there”").click()
    expect_names(page, "And <b>now</b>")
    page.locator(".at-kept-status").get_by_role("button", name="Undo").click()
    expect_names(page, "And <b>now</b>", "Hello there")
    in_view = page.locator(".at-log > .at-turn .at-bubble")
    page.get_by_role("button", name="Delete “And <b>now</b>”").click()
    expect(in_view).to_have_count(0)
    page.locator(".at-kept-status").get_by_role("button", name="Undo").click()
    expect(in_view).to_have_count(2)
    expect(in_view.first).to_contain_text("And <b>now</b>")
    page.get_by_role("button", name="Delete “And <b>now</b>”").click()
    expect(in_view).to_have_count(0)
    page.keyboard.press("Escape")
    present(page)  # it still offers to undo, but something may have been typed since, so nothing is opened
    page.locator(".at-kept-status").get_by_role("button", name="Undo").click()
    expect_names(page, "And <b>now</b>", "Hello there")
    page.get_by_role("button", name="Delete everything").click()
    expect_names(page, "And <b>now</b>", "Hello there")  # only once it is confirmed
    page.get_by_role("button", name="Delete all 2").click()
    expect_names(page)
    kept(page)
    expect(page.locator(".at-log > .at-turn")).to_have_count(0)  # or the next message would save them again
    chooser = page.locator("#attend-history-dialog input[type=file]")
    (tmp_path / "other.json").write_text(json.dumps({"kept": []}), encoding="utf-8")
    chooser.set_input_files(tmp_path / "other.json")
    expect(page.locator(".at-kept-status")).to_contain_text("isn’t an Attend history")
    chooser.set_input_files(path)
    expect(page.locator(".at-kept-status")).to_have_text("2 imported.")
    expect_names(page, "And <b>now</b>", "Hello there")
    tab.leave()
