"""Nothing overlaps, at any window width and with words of any length."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.helpers.browsing import DESK, HeldPage, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import choose, rest, say, send, to_chat, to_write, wait_for_drawing

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
  const moves = (each) => each.playState === 'running' && each.effect.getTiming().iterations !== Infinity;
  if (document.getAnimations().some(moves)) return null;
  const boxes = selectors.map((selector) => document.querySelector(selector)?.getBoundingClientRect());
  return boxes.every((box) => box?.width) && boxes.map(({ left, top, right, bottom }) => [left, top, right, bottom]);
}"""


def edges(page: Page, *selectors: str) -> list[Edges]:
    """The edges of several elements at rest, measured at once: a late update may still redraw some of them."""
    return page.wait_for_function(_EDGES, arg=list(selectors)).json_value()


def test_nothing_shifts_while_the_page_loads_in_a_narrow_window(visit: Opener) -> None:
    """Cumulative layout shift: it was 0.28 to 0.31; up to 0.1 is good (web.dev/articles/cls)."""
    page = visit(viewport={"width": 390, "height": 900})
    assert sum(page.evaluate(SHIFTS)) < 0.02
    expect(page.locator("#attend-settings.open")).to_have_count(0)


METER_IS_WHOLE = """() => {
  const text = document.querySelector('.attend-meter-text');
  const [line, meter] = [text, text.closest('#attend-meter')].map((one) => one.getBoundingClientRect());
  return text.scrollWidth <= text.clientWidth && line.right <= meter.right && line.bottom <= meter.bottom;
}"""


def test_the_meter_never_moves_the_text_box_and_can_be_read_at_any_width(visit: Opener) -> None:
    page = visit("?max_new_tokens=2&min_new_tokens=2")
    to_write(page)
    meter, continues = page.locator("#attend-meter"), page.locator("#attend-continue")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator("#attend-settings.open")).to_have_count(int(width > 1000))
        expect(meter).to_have_text("1 of 512 tokens used")  # <s>
        before = edges(page, "#attend-meter", "#attend-text")
        page.locator("#attend-text textarea").fill("The dog and the fox")
        expect(page.locator(".at-box").nth(1)).to_be_visible()
        continues.click()
        expect(meter).to_contain_text("reached the length limit")
        rest(page)
        expect(continues).to_be_visible()
        assert edges(page, "#attend-meter", "#attend-text") == before
        (left, top, right, _), text = before
        assert text[3] <= top and text[0] <= left and right <= text[2]
        page.locator("#attend-empty").click()
    words = page.locator(".attend-meter-text")
    longest = "1,449 of 2,048 tokens used, 128 reserved for the answer · the 14 oldest messages no longer fit"
    words.evaluate("(one, words) => { one.textContent = words }", longest)
    for width in (320, 600, 1024, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(METER_IS_WHOLE)


LAPTOPS = ((1280, 720, 300), (1440, 900, 300), (1536, 864, 300), (1920, 1080, 420))  # and how broad the map is at least
IN_SIGHT = """([selectors, broad]) => selectors.every((selector) => {
  const box = document.querySelector(selector)?.getBoundingClientRect();
  return box?.width && box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
}) && document.querySelector('.at-map-scroll').clientWidth >= broad"""


def test_a_growing_answer_its_tokens_table_and_map_are_in_sight_together(held: HeldPage, visit: Opener) -> None:
    filters = "method=Custom&top_k=20&temperature=0.8&seed=1&min_new_tokens=40&max_new_tokens=40"
    page = visit(f"?{filters}", at=held.url)
    to_chat(page)
    held.gate.let(20)
    send(page, "Hello")
    expect(page.locator(".at-box.at-generated").nth(12)).to_be_attached()
    parts = ["#attend-message", ".at-caret", '.at-box[aria-selected="true"]', ".at-table tbody tr:nth-child(5)"]
    parts += [".at-map-scroll", "#attend-method .selected"]
    for width, height, broad in LAPTOPS:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(IN_SIGHT, arg=[parts, broad])
    page.set_viewport_size({"width": 1024, "height": 768})
    page.wait_for_function(IN_SIGHT, arg=[[*parts[:-1], ".attend-method"], 300])


SIZES = (
    *((2560, 1440), (1920, 400), (1280, 720), (1001, 480), (1000, 700), (844, 390)),
    *((768, 1024), (640, 360), (427, 240), (390, 844), (320, 256)),
)
CUT_OFF = """() => [...document.querySelectorAll('body *')].filter((one) => {
  const { left, right, width, height } = one.getBoundingClientRect();
  if (!width || !height || (left >= -1 && right <= innerWidth + 1)) return false;
  if (!one.checkVisibility({ visibilityProperty: true })) return false;
  const scrolls = (each) => /auto|scroll/.test(getComputedStyle(each).overflowX);
  const isMeant = (each) => each.matches('.at-hidden, svg, #attend-settings:not(.open)');
  for (let each = one; each; each = each.parentElement) if (isMeant(each) || scrolls(each)) return false;
  return true;
}).map((one) => one.id || one.className)"""
BEHIND_THE_BOX = """(answer) =>
  answer.getBoundingClientRect().bottom > document.querySelector('#attend-message-row').getBoundingClientRect().top"""


def test_at_any_size_nothing_is_cut_off_and_the_message_box_and_the_newest_answer_are_in_sight(visit: Opener) -> None:
    """A zoom of 200 % halves both sides of the window, one of 300 % leaves a third."""
    page = visit("?max_new_tokens=3&min_new_tokens=3&top_k=20")
    page.set_viewport_size({"width": 1280, "height": 320})  # lower than the suggestions
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

    answers = page.locator(".at-log > .at-assistant")
    for number, (width, height) in enumerate(SIZES, 1):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 1e6)")
        page.locator("#attend-message textarea").evaluate("box => box.focus({ preventScroll: true })")
        page.keyboard.insert_text("Hi")
        page.keyboard.press("Enter")
        expect(answers).to_have_count(number)
        rest(page)
        expect(page.locator("#attend-message textarea")).to_be_in_viewport(ratio=1)
        expect(answers.last.locator(".at-text")).to_be_in_viewport(ratio=1)
        assert not answers.last.locator(".at-text").evaluate(BEHIND_THE_BOX), (width, height)
        assert page.evaluate(CUT_OFF) == [], (width, height)


def test_open_settings_shift_nothing_and_with_long_words_cut_nothing_off(visit: Opener) -> None:
    page = visit("?method=Custom&max_new_tokens=4&top_k=20&xtc_probability=0.5&repetition_penalty=1.2&seed=1")
    assert sum(page.evaluate(SHIFTS)) < 0.02  # while it loaded
    say(page, "Hello")
    for width in (1440, 1201):
        page.set_viewport_size({"width": width, "height": 768})
        expect(page.locator("#attend-settings.open")).to_have_count(1)
        wait_for_drawing(page)
        assert page.evaluate(CUT_OFF) == [], width
        left, row, send_button = edges(page, "#attend-left", "#attend-message-row", "#attend-send")
        assert row[2] <= left[2] and send_button[2] <= left[2], width  # and nothing lies over the inspector
        assert page.locator(".attend-tabs").evaluate("one => one.scrollWidth <= one.clientWidth"), width
    page.locator(".at-menu summary").click()
    menu, log = edges(page, ".at-menu-entries", ".at-log")
    assert menu[2] <= log[2]  # which would hide the rest
    page.keyboard.press("Escape")
    page.set_viewport_size(DESK)
    wait_for_drawing(page)
    table, column = edges(page, ".at-stages", ".at-stages-pane")  # with the long names of the filters
    assert column[0] <= table[0] and table[2] <= column[2]
    choose(page, "Beam search")
    say(page, "And you?")
    cell = page.locator(".at-beams tbody tr").first.locator("td").last
    cell.evaluate("cell => { cell.textContent = 'begins the returned text' }")
    assert page.locator(".at-beams-scroll").evaluate("one => one.scrollWidth <= one.clientWidth")
    expect(page.locator("#attend-method")).to_be_in_viewport()
    for width in (1200, 700):  # where the settings would cover the page
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.locator("#attend-method")).not_to_be_in_viewport()
        (before,) = edges(page, "#attend-message")
        page.locator("#attend-open-settings").click()
        expect(page.locator("#attend-method")).to_be_in_viewport()
        assert edges(page, "#attend-message") == [before]  # it keeps its width
        page.keyboard.press("Escape")
        expect(page.locator("#attend-method")).not_to_be_in_viewport()
    page.set_viewport_size(DESK)
    expect(page.locator("#attend-method")).to_be_in_viewport()
