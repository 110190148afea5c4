"""Files of comparisons, opened on a page without a comparison of its own."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from decoding.run.run_document import SCHEMA
from tests.browser.share.test_shared_file import compared, small_document
from tests.helpers.browsing import Opener, until_held
from tests.helpers.stage import BROWSER

pytestmark = BROWSER


def open_file(page: Page, comparison: dict[str, Any]) -> Locator:
    """Where Compare shows the cards of a file."""
    content = json.dumps(comparison).encode()
    file = FilePayload(name="cards.json", mimeType="application/json", buffer=content)
    page.locator(".attend-record input[type=file]").set_input_files(file)
    return page.get_by_role("region", name="Cards of a file")


@pytest.mark.parametrize("button", ["+ Add card", "Strategy"])
def test_nothing_is_said_of_the_cards_behind_a_file_until_they_are_changed(visit: Opener, button: str) -> None:
    page = visit()
    section = open_file(page, compared(small_document()))
    expect(section.locator(".at-card")).to_have_count(2)
    status, own = page.locator(".at-compare-status"), page.locator(".attend-compare > .at-cards")
    expect(own.locator(".at-text").first).to_be_attached()  # the example has come
    for hidden in (own, status, page.locator(".attend-compare .at-example-note:not(.at-opened)")):
        expect(hidden).to_be_hidden()
    page.get_by_role("button", name=button, exact=True).click()  # which is about the visitor's own cards
    expect(section).to_be_hidden()
    expect(own).to_be_visible()
    expect(status).to_be_visible()


def test_a_damaged_comparison_is_said_to_be_damaged(visit: Opener) -> None:
    page = visit()
    section = open_file(page, {"cards": [{"run": small_document(), "result": {}}], "metrics": [], "continued": ""})
    expect(section.get_by_role("alert")).to_contain_text("can’t be shown: ask for it again")
    expect(section).to_contain_text("You’re viewing cards.json, a saved comparison.")
    section.get_by_role("button", name="Close file").click()
    expect(section).to_be_hidden()


def test_a_card_that_is_too_large_for_the_inspector_is_called_a_card(visit: Opener) -> None:
    page = visit()
    section = open_file(page, compared(small_document() | {"text": "x" * 1_000_000}))
    section.locator(".at-tok").first.click()
    expect(page.locator(".at-record-bar").get_by_role("status")).to_contain_text("This card is too large")


def test_of_two_cards_clicked_in_a_row_each_knows_its_own_run(visit: Opener) -> None:
    page, held = visit(), list[Route]()
    tokens = open_file(page, compared(small_document())).locator(".at-tok")
    expect(tokens).to_have_count(2)  # one of each card
    page.route(
        "**/queue/join*",
        lambda route: held.append(route) if SCHEMA in str(route.request.post_data) else route.continue_(),
    )
    for card in range(2):
        tokens.nth(card).click()
        until_held(page, held, card + 1)
    for card in range(2):
        held[card].continue_()
        expect(tokens.nth(card)).to_have_class(re.compile("at-shown"))
        expect(tokens.nth(1 - card)).not_to_have_class(re.compile("at-shown"))


def test_one_card_of_a_downloaded_comparison_is_chosen(visit: Opener) -> None:
    page = visit()
    first, second = small_document(), small_document() | {"model": "another"}
    section = open_file(page, {"cards": [{"trace": first}, {"trace": second}]})
    expect(page.get_by_text("Open which card of cards.json?")).to_be_visible()
    expect(section).to_be_hidden()  # such a file lacks what its cards show
    page.get_by_role("button", name="Card 2", exact=True).click()
    expect(page.locator(".at-opened:visible")).to_contain_text("You’re viewing cards.json, card 2, a saved run.")
    expect(page.locator(".at-headline")).to_contain_text("Token 1 of 1")
