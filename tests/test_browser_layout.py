"""Nothing covers anything else, whatever the width of the window and however long the words, in a real browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browsing import Opener
from tests.stage import BROWSER
from tests.visitor import PATIENCE, choose, rest, say, set_number, to_write

pytestmark = BROWSER


def edges(page: Page, selector: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom."""
    shown = page.locator(selector)
    expect(shown).to_be_visible(timeout=PATIENCE)  # the last update may still draw it anew
    box: dict[str, float] = shown.evaluate("one => one.getBoundingClientRect().toJSON()")
    return box["left"], box["top"], box["right"], box["bottom"]


def test_the_meters_note_stands_between_the_header_and_the_text(visit: Opener) -> None:
    page = visit("?max_new_tokens=2&min_new_tokens=2", viewport={"width": 1280, "height": 800})
    expect(page.locator("#attend-way")).to_be_in_viewport()  # the settings take their share of the width
    to_write(page)
    page.locator("#attend-text textarea").fill("The dog and the fox")
    expect(page.locator(".at-box").first).to_be_visible(timeout=PATIENCE)
    page.locator("#attend-continue").click()
    expect(page.locator("#attend-meter")).to_contain_text("reached the length limit", timeout=PATIENCE)
    rest(page)
    left, top, right, bottom = edges(page, ".attend-meter-text")
    assert edges(page, ".attend-header")[3] <= top
    assert bottom <= edges(page, "#attend-text")[1]
    assert edges(page, "#attend-left")[0] <= left and right <= edges(page, "#attend-left")[2]
    assert bottom - top < 24  # one line


def test_the_table_of_beams_shows_its_longest_words(visit: Opener) -> None:
    page = visit()
    choose(page, "Beam search")
    set_number(page, "max-new-tokens", 4)
    say(page, "Hello")
    cell = page.locator(".at-beams tbody tr").first.locator("td").last
    cell.evaluate("cell => { cell.textContent = 'begins the returned text' }")
    assert page.locator(".at-beams-scroll").evaluate("one => one.scrollWidth <= one.clientWidth")


def test_what_the_settings_did_stays_in_its_column(visit: Opener) -> None:
    page = visit("?xtc_probability=0.5&repetition_penalty=1.2&max_new_tokens=4")
    say(page, "Hello")
    table, column = edges(page, ".at-stages"), edges(page, ".at-stages-pane")
    assert column[0] <= table[0] and table[2] <= column[2]


def test_a_phone_wastes_no_room(visit: Opener) -> None:
    page = visit("?max_new_tokens=4", viewport={"width": 390, "height": 844}, has_touch=True)
    say(page, "Hello")
    page.locator(".at-facts").evaluate("one => { one.textContent = '99.99 % · rank 1 of 4,096 · entropy 10.4 bits' }")
    _, top, right, bottom = edges(page, ".at-facts")
    assert bottom - top < 24  # one line
    assert right <= 390 and edges(page, ".at-place")[3] <= top and edges(page, ".at-walk")[3] <= top
    page.locator("#attend-mode label", has_text="Compare").click()
    expect(page.locator(".at-card").first).to_be_visible(timeout=PATIENCE)
    assert all(box["height"] < 84 for card in page.locator(".at-card").all() if (box := card.bounding_box()))


def test_the_settings_give_way_where_they_would_cover_the_page(visit: Opener) -> None:
    page = visit()
    expect(page.locator("#attend-way")).to_be_in_viewport()
    page.set_viewport_size({"width": 700, "height": 900})
    expect(page.locator("#attend-way")).not_to_be_in_viewport()
    page.locator("#attend-open-settings").click()
    expect(page.locator("#attend-way")).to_be_in_viewport()
