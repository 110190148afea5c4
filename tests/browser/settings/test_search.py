"""The search box of the settings: it finds names, flags and words, says when there are none, and is cleared."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.helpers.browsing import Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import choose

pytestmark = BROWSER


def test_a_search_leaves_the_settings_in_sight_that_it_finds(visit: Opener) -> None:
    page = visit()
    page.set_viewport_size({"width": 1280, "height": 720})
    box = page.get_by_role("searchbox", name="Search the settings")
    fields = page.locator("#attend-form .at-field:has(> .at-head):visible")
    sections = page.locator("#attend-advanced h3:visible")
    expect(box).to_be_hidden()  # a method shows a few settings alone
    choose(page, "Custom")
    expect(box).to_be_visible()
    box.fill("top k")
    expect(page.locator("#attend-top-k")).to_be_visible()
    expect(page.locator("#attend-min-p, #attend-temperature").filter(visible=True)).to_have_count(0)
    box.fill("min_p")
    expect(page.locator("#attend-min-p")).to_be_visible()  # its fold opens
    expect(sections).to_have_text(["Cutting off unlikely tokens"])
    expect(page.locator("#attend-min-p")).to_be_in_viewport(ratio=1)
    page.locator("#attend-min-p").click(trial=True)  # the preview stands beneath it, even in a low window
    box.fill("repetition line break")  # words of an explanation
    expect(page.locator("#attend-dry-multiplier")).to_be_visible()
    expect(fields).to_have_count(1)
    box.fill("seed")
    expect(page.locator("#attend-seed")).to_be_visible()
    box.fill("no such thing")
    expect(fields).to_have_count(0)
    box.press("Escape")
    expect(box).to_have_value("")
    expect(page.locator("#attend-temperature")).to_be_visible()
    expect(page.locator("#attend-min-p, #attend-seed").filter(visible=True)).to_have_count(0)  # folded as before
    page.locator("#attend-advanced summary").click()
    expect(sections).to_have_count(6)
    expect(page.locator("#attend-min-p")).to_be_visible()
    choose(page, "Top-k")
    expect(box).to_be_hidden()
    expect(page.locator("#attend-top-k")).to_be_visible()
