"""Nothing overlaps, at any window width and with words of any length."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.helpers.browsing import PHONE, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import choose, rest, say, set_number, to_write, wait_for_drawing

pytestmark = BROWSER


# What moved without anybody's doing, of which Chromium tells in the frame after.
SHIFTS = """() => new Promise((done) => {
  const shifts = [];
  new PerformanceObserver((list) => shifts.push(...list.getEntries().map((entry) => entry.value)))
    .observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => done(shifts), 500);
})"""

Edges = tuple[float, float, float, float]  # left, top, right, bottom
_EDGES = """(selectors) => {
  const boxes = selectors.map((selector) => document.querySelector(selector)?.getBoundingClientRect());
  return boxes.every((box) => box?.width) && boxes.map(({ left, top, right, bottom }) => [left, top, right, bottom]);
}"""


def edges(page: Page, *selectors: str) -> list[Edges]:
    """The edges of several elements, measured at once, since a late update may still redraw some of them."""
    return page.wait_for_function(_EDGES, arg=list(selectors)).json_value()


@pytest.mark.parametrize("width", [1440, 900, 390])
def test_nothing_shifts_while_the_page_loads(visit: Opener, width: int) -> None:
    """Cumulative layout shift: it was 0.28 to 0.31 at 1440 pixels; up to 0.1 is good (web.dev/articles/cls)."""
    page = visit(viewport={"width": width, "height": 900})
    assert sum(page.evaluate(SHIFTS)) < 0.02
    assert (page.locator("#attend-settings.open").count() == 1) is (width > 1000)


def test_the_page_keeps_its_distance_from_the_settings_when_the_window_changes(visit: Opener) -> None:
    page = visit()
    title = "document.querySelector('.attend-header h1').getBoundingClientRect().left"
    before = page.evaluate(title)
    assert before == 366  # 24 at the edge, 312 of settings, 30 for the button that closes them
    page.set_viewport_size({"width": 1460, "height": 900})
    page.wait_for_function("document.querySelector('#attend-main').getBoundingClientRect().right > 1425")
    wait_for_drawing(page)
    assert page.evaluate(title) == before


@pytest.mark.parametrize("width", [1280, 390])
def test_the_meter_is_one_line_beneath_the_text_whatever_it_says(visit: Opener, width: int) -> None:
    page = visit("?max_new_tokens=2&min_new_tokens=2", viewport={"width": width, "height": 800})
    expect(page.locator("#attend-meter")).to_have_text("0 of 512 tokens used, 2 reserved for the answer")
    to_write(page)
    expect(page.locator("#attend-meter")).to_have_text("1 of 512 tokens used")  # <s>
    before = edges(page, "#attend-meter", "#attend-text")
    page.locator("#attend-text textarea").fill("The dog and the fox")
    expect(page.locator(".at-box").first).to_be_visible()
    page.locator("#attend-continue").click()
    expect(page.locator("#attend-meter")).to_contain_text("reached the length limit")
    rest(page)
    expect(page.locator("#attend-continue")).to_be_visible()
    assert edges(page, "#attend-meter", "#attend-text") == before
    (left, top, right, bottom), text = before
    assert text[3] <= top and bottom - top == (18 if width > 560 else 26)
    assert text[0] <= left and right <= text[2]


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
    table, column = edges(page, ".at-stages", ".at-stages-pane")
    assert column[0] <= table[0] and table[2] <= column[2]


def test_the_message_box_is_in_sight_on_a_low_screen(visit: Opener) -> None:
    page = visit(viewport={"width": 1280, "height": 320})  # lower than the suggestions
    expect(page.locator("#attend-message textarea")).to_be_in_viewport(ratio=1)
    expect(page.locator(".at-example").last).not_to_be_in_viewport(ratio=1)
    page.keyboard.press("Tab")  # from here on the focus is shown
    above = """(one) =>
      document.querySelector('#attend-message-row').getBoundingClientRect().top - one.getBoundingClientRect().bottom"""
    for example in page.locator(".at-example").all():
        example.focus()
        assert example.evaluate(above) >= 0  # and not behind the box
    page.mouse.move(500, 150)
    page.mouse.wheel(0, -5000)
    page.wait_for_function("scrollY === 0")
    page.mouse.wheel(0, 300)  # over the conversation, which has nothing to scroll itself
    page.wait_for_function("scrollY > 0")


def test_a_phone_wastes_no_room(visit: Opener) -> None:
    page = visit("?max_new_tokens=4", **PHONE)
    say(page, "Hello")
    page.locator(".at-facts").evaluate("one => { one.textContent = '99.99 % · rank 1 of 4,096 · entropy 10.4 bits' }")
    facts, position, buttons = edges(page, ".at-facts", ".at-position", ".at-step-buttons")
    _, top, right, bottom = facts
    assert bottom - top < 24  # one line
    assert right <= 390 and position[3] <= top and buttons[3] <= top
    page.locator("#attend-tabs label", has_text="Compare").click()
    expect(page.locator(".at-card").first).to_be_visible()
    assert all(box["height"] < 84 for card in page.locator(".at-card").all() if (box := card.bounding_box()))


def test_the_settings_give_way_where_they_would_cover_the_page(visit: Opener) -> None:
    page = visit()
    expect(page.locator("#attend-method")).to_be_in_viewport()
    page.set_viewport_size({"width": 700, "height": 900})
    expect(page.locator("#attend-method")).not_to_be_in_viewport()
    page.locator("#attend-open-settings").click()
    expect(page.locator("#attend-method")).to_be_in_viewport()
