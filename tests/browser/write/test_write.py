"""Long runs, and Write's buttons while the model writes, in a real browser."""

from __future__ import annotations

import re
import threading

from playwright.sync_api import Route, expect

from tests.helpers.browsing import HeldPage, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import rest, send, to_write, wait_for_drawing

pytestmark = BROWSER

_NOTE_EMPTIED = """() => new MutationObserver(() => { window.emptied ||= !document.querySelector('.at-box'); })
  .observe(document.body, { subtree: true, childList: true })"""

# How far the text goes on under the lower edge of its box, in pixels.
_BELOW = "box => box.scrollHeight - box.scrollTop - box.clientHeight"
START = "The dog and the fox"
MISFITS = """async step => {
  const frame = () => new Promise(requestAnimationFrame);
  const boxes = () => document.querySelectorAll('.at-box'); // queried anew: updates may still be coming
  const misfits = [];
  for (let index = 0; index < boxes().length; index += step) {
    let wanted, shown;
    boxes()[index].click();
    for (let frames = 0; frames < 120; frames += 1) {
      await frame();
      wanted = boxes()[index].getAttribute('aria-label').split(' · ');
      if (!wanted[1].includes('%')) break; // a prompt in the chat has no tables
      const won = document.querySelector('.at-table tr.at-won');
      shown = [won?.querySelector('.at-chip').textContent, won?.cells[1].textContent];
      if (shown[0] === wanted[0] && shown[1] === wanted[1]) break;
      if (frames === 119) misfits.push([index, ...wanted, ...shown]);
    }
  }
  return misfits;
}"""


def test_a_long_answer_streams_and_every_table_fits_its_token(visit: Opener) -> None:
    """The settings give rare tokens, so that every table has many numbers."""
    page = visit("?method=Custom&temperature=2&top_k=0&top_p=1&max_new_tokens=80&min_new_tokens=70&seed=1")
    send(page, "Tell me a story.")
    expect(page.locator(".at-box").nth(70)).to_be_attached()
    rest(page)
    assert page.evaluate(MISFITS, 9) == []


def test_while_it_writes_nothing_can_be_undone_and_the_other_side_can_be_looked_at(
    held: HeldPage, visit: Opener
) -> None:
    page = visit("?min_new_tokens=40&max_new_tokens=40&seed=7", at=held.url)
    to_write(page)
    box, back, forth = (page.locator(name) for name in ("#attend-text textarea", "#attend-back", "#attend-forth"))
    page.locator("#attend-next").click()  # without a text
    expect(page.locator(".toast-body")).to_have_count(1)
    box.fill(START)
    expect(page.locator(".at-box").first).to_be_visible()
    page.locator("#attend-continue").click()
    expect(page.locator("#attend-halt")).to_be_visible()
    for button in (back, forth, page.locator("#attend-empty")):
        expect(button).to_be_disabled()
    page.locator("#attend-tabs label", has_text="Compare").click()
    expect(page.locator("#attend-text")).to_be_hidden()
    expect(page.locator(".attend-inspector .at-empty")).to_be_visible()
    to_write(page)
    expect(page.locator(".at-box").first).to_be_visible()
    expect(box).not_to_have_value(START)
    held.gate.open()
    rest(page)
    expect(back).to_be_enabled()
    written = box.input_value()
    assert written.startswith(START)
    back.click()
    expect(box).to_have_value(START)
    expect(back).to_be_disabled()
    forth.click()
    expect(box).to_have_value(written)
    assert page.evaluate(MISFITS, 1) == []


def test_words_typed_behind_the_models_keep_its_tokens_and_come_back_with_redo(visit: Opener) -> None:
    page = visit("?strategy=greedy&max_new_tokens=4&min_new_tokens=4&tab=Write")  # " fox" each time
    box = page.locator("#attend-text textarea")
    box.fill(START)
    expect(page.locator(".at-box").first).to_be_visible()
    page.locator("#attend-continue").click()
    expect(page.locator(".at-box.at-generated")).to_have_count(4)
    rest(page)
    written = f"{START} fox fox fox fox"
    expect(box).to_have_value(written)
    box.press("End")
    box.press_sequentially(" and so")
    expect(page.locator(".at-box").last).to_have_text("o")  # the small model's tokens of it are "s" and "o"
    expect(page.locator(".at-box.at-generated")).to_have_count(4)
    page.locator("#attend-back").click()
    expect(box).to_have_value(written)
    page.locator("#attend-forth").click()
    expect(box).to_have_value(f"{written} and so")


def test_where_the_model_has_ended_a_text_it_can_go_on_with_the_first_key_that_is_typed(visit: Opener) -> None:
    page = visit("?method=Custom&logit_bias=2:100&tab=Write")  # <end> at once
    box, starts = page.locator("#attend-text textarea"), page.locator("#attend-continue, #attend-next")
    box.fill(START)
    page.locator("#attend-continue").click()
    for start in starts.all():
        expect(start).to_be_disabled()
        expect(start).to_have_attribute("title", re.compile("^The model ended its text here: "))
    box.press("End")
    box.press("!")
    expect(page.locator(".at-box").last).to_have_text("!")
    box.press("Backspace")
    for start in starts.all():
        expect(start).to_be_disabled()
    page.route("**/queue/join*", lambda _: None)  # the server doesn't answer
    box.press("End")
    box.press("!")
    expect(starts.first).to_be_enabled()
    expect(starts.first).to_have_attribute("title", "")


def test_nothing_can_be_typed_before_the_models_first_word_which_would_overwrite_it(visit: Opener) -> None:
    page, held = visit("?strategy=greedy&max_new_tokens=4&min_new_tokens=4&tab=Write"), list[Route]()
    box = page.locator("#attend-text textarea")
    box.fill(START)
    expect(page.locator(".at-box").first).to_be_visible()
    rest(page)
    is_released = threading.Event()  # all are held: a late question may come before the one that writes
    page.route("**/queue/join*", lambda route: route.continue_() if is_released.is_set() else held.append(route))
    box.press("Control+Enter")
    expect(box).to_have_attribute("title", "The model is about to write here")
    box.press("End")
    box.press_sequentially(" and so")
    expect(box).to_have_value(START)
    is_released.set()
    for route in held:
        route.continue_()
    expect(box).to_have_value(f"{START} fox fox fox fox")
    rest(page)
    expect(box).to_be_focused()
    page.keyboard.press("End")
    box.press_sequentially(" and so")
    expect(box).to_have_value(f"{START} fox fox fox fox and so")
    box.fill("")
    page.locator("#attend-next").click()
    expect(page.locator(".toast-body")).to_have_count(1)
    box.press_sequentially("A")  # after the refusal
    expect(box).to_have_value("A")


def test_a_text_that_comes_at_once_leaves_the_box_writable(visit: Opener) -> None:
    page = visit("?tab=Write")
    box = page.locator("#attend-text textarea")
    box.fill(START)
    rest(page)
    page.route("**/queue/join*", lambda _: None)  # the box is never disabled
    page.locator("#attend-continue").click()
    expect(box).not_to_be_editable()
    page.evaluate(
        """async () => {
            const urls = performance.getEntriesByType('resource').map(({ name }) => name);
            const { inspectedToken } = await import(urls.find((url) => url.includes('signals.js')));
            inspectedToken.publish({ ...inspectedToken.latest, run: 'write-9', busy: false });
        }"""
    )
    expect(box).to_be_editable()


# Delays each answer more than the one before, so that what an event brings precedes the answer to its request.
OVERTAKE = """() => {
  const ask = window.fetch;
  let delay = 0;
  window.fetch = async (resource, ...rest) => {
    const response = await ask(resource, ...rest);
    if (String(resource.url ?? resource).includes('/queue/join')) {
      delay += 500; // ms
      await new Promise((later) => setTimeout(later, delay));
    }
    return response;
  };
}"""


def test_screens_that_come_before_the_page_expects_them_all_count(held: HeldPage, visit: Opener) -> None:
    page = visit("?min_new_tokens=12&max_new_tokens=12&seed=7&tab=Write", at=held.url)
    page.evaluate(OVERTAKE)
    page.locator("#attend-text textarea").fill("Once upon")
    page.locator("#attend-continue").click()
    expect(page.locator("#attend-halt")).to_be_visible()
    expect(page.locator("#attend-continue")).to_be_hidden()
    expect(page.locator("#attend-empty")).to_be_disabled()
    held.gate.open()
    expect(page.locator("#attend-halt")).to_be_hidden()
    expect(page.locator("#attend-empty")).to_be_enabled()


def test_what_is_typed_right_after_clear_stays_and_has_its_tokens_whichever_the_server_hears_of_first(
    visit: Opener,
) -> None:
    """The box is emptied at once, and not by the server's answer, which comes while the visitor is typing again."""
    page, held = visit(), list[Route]()
    to_write(page)
    box, tokens = page.locator("#attend-text textarea"), page.locator(".at-box")
    empty = page.locator("#attend-empty")
    expect(empty).to_be_hidden()  # there is nothing to clear
    box.fill("The dog")
    expect(tokens.first).to_be_visible()
    empty.click()
    expect(box).to_have_value("")
    expect(empty).to_be_hidden()
    box.fill("The dog and the fox")
    expect(tokens.nth(5)).to_be_visible()
    rest(page)
    expect(box).to_have_value("The dog and the fox")

    box.fill("The dog")
    expect(tokens.nth(5)).to_have_count(0)

    is_released = threading.Event()

    def route(one: Route) -> None:
        """Hold all but the question about the new text."""
        if is_released.is_set() or "The dog and the fox" in (one.request.post_data or ""):
            one.continue_()
        else:
            held.append(one)

    page.route("**/queue/join*", route)
    page.locator("#attend-empty").click()
    expect(box).to_have_value("")
    box.fill("The dog and the fox")
    expect(tokens.nth(5)).to_be_visible()
    page.evaluate(_NOTE_EMPTIED)
    is_released.set()
    for one in held:
        one.continue_()
    page.wait_for_function("() => window.emptied")
    expect(tokens.nth(5)).to_be_visible()


def test_the_box_follows_what_is_written_unless_the_reader_scrolls_up(held: HeldPage, visit: Opener) -> None:
    page = visit("?strategy=greedy&min_new_tokens=90&max_new_tokens=90&tab=Write", at=held.url)
    box = page.locator("#attend-text textarea")
    start = "\n" * 60 + START  # more lines than the box shows
    box.fill(start)
    expect(page.locator(".at-box").first).to_be_visible()
    box.evaluate("box => { box.scrollTop = 0; }")
    height = box.evaluate("box => box.scrollHeight")
    page.locator("#attend-continue").click()
    held.gate.let(50)
    expect(page.locator(".at-box.at-generated")).to_have_count(51)
    wait_for_drawing(page)
    assert box.evaluate("box => box.scrollHeight") > height
    assert box.evaluate(_BELOW) < 2
    box.evaluate("box => { box.scrollTop = 0; }")
    wait_for_drawing(page)  # the browser tells of it in the next frame
    held.gate.open()
    rest(page)
    assert box.input_value().startswith(start)
    assert box.evaluate("box => box.scrollTop") == 0
    page.locator("#attend-next").click()  # whose token the reader wants to see
    expect(page.locator(".at-box.at-generated")).to_have_count(91)
    rest(page)
    assert box.evaluate(_BELOW) < 2
