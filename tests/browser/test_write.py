"""Long and refused runs, and Write's buttons while the model writes, in a real browser."""

from __future__ import annotations

import threading

from playwright.sync_api import Page, expect

from model.loaded import LoadedModel
from tests.helpers.browsing import Opener, page_of
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import choose, rest, set_number, to_chat, to_write
from tests.helpers.waiting import held
from ui.runs.models import Models

pytestmark = BROWSER

START = "The dog and the fox"
LEAST = 150  # tokens of a long answer
WATCH = """() => {
  window.longest = 0;
  const watch = before => requestAnimationFrame(now => {
    window.longest = Math.max(window.longest, now - before);
    watch(now);
  });
  watch(performance.now());
}"""
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


def refused(page: Page, sentence: str) -> None:
    expect(page.locator(".toast-body")).to_contain_text(sentence)


def wild(page: Page) -> None:
    """Settings that give long answers of rare tokens, so that every table has many numbers."""
    choose(page, "Custom")
    page.locator("#attend-advanced summary").click()
    values = {"temperature": 2, "top-k": 0, "top-p": 1, "max-new-tokens": 200, "min-new-tokens": LEAST, "seed": 1}
    for name, value in values.items():
        set_number(page, name, value)


def ends(page: Page) -> None:
    """Wait until a long run has ended, and check that the page never froze."""
    expect(page.locator(".at-box").nth(LEAST)).to_be_attached()
    rest(page)
    assert page.evaluate("window.longest") < 10_000  # ms without a frame; a busy machine shows one a second


def test_after_a_refused_message_a_long_answer_streams_and_every_table_fits_its_token(visit: Opener) -> None:
    page = visit()
    page.locator("#attend-message textarea").fill("  ")
    page.keyboard.press("Enter")
    refused(page, "type something first")
    wild(page)
    page.evaluate(WATCH)
    page.locator("#attend-message textarea").fill("Tell me a story.")
    page.keyboard.press("Enter")
    ends(page)
    assert page.evaluate(MISFITS, 17) == []


def test_after_a_refused_text_a_long_one_streams_and_every_table_fits_its_token(visit: Opener) -> None:
    page = visit()
    to_write(page)
    page.locator("#attend-next").click()
    refused(page, "The text is empty: enter at least one character.")
    wild(page)
    page.evaluate(WATCH)
    page.locator("#attend-text textarea").fill(START)
    page.locator("#attend-continue").click()
    ends(page)
    assert page.evaluate(MISFITS, 17) == []


def test_while_it_writes_nothing_can_be_undone_and_the_other_side_can_be_looked_at(
    slow_models: str, visit: Opener
) -> None:
    page = visit("?min_new_tokens=40&max_new_tokens=40", at=slow_models)  # 8 seconds
    to_chat(page)
    to_write(page)
    box = page.locator("#attend-text textarea")
    box.fill(START)
    expect(page.locator(".at-box").first).to_be_visible()
    page.locator("#attend-continue").click()
    expect(page.locator("#attend-halt")).to_be_visible()
    for button in ("back", "forth", "empty"):
        expect(page.locator(f"#attend-{button}")).to_be_disabled()
    page.locator("#attend-tabs label", has_text="Chat").click()
    expect(page.locator("#attend-message")).to_be_visible()
    expect(page.locator(".attend-inspector .at-empty")).to_be_visible()
    to_write(page)
    expect(page.locator(".at-box").first).to_be_visible()
    expect(box).not_to_have_value(START)
    rest(page)
    expect(page.locator("#attend-back")).to_be_enabled()
    written = box.input_value()
    assert written.startswith(START)
    page.locator("#attend-back").click()
    expect(box).to_have_value(START)
    expect(page.locator("#attend-back")).to_be_disabled()
    page.locator("#attend-forth").click()
    expect(box).to_have_value(written)
    assert page.evaluate(MISFITS, 1) == []


def test_words_typed_behind_the_models_keep_its_tokens_and_come_back_with_redo(visit: Opener) -> None:
    page = visit(
        "?strategy=greedy&max_new_tokens=4&min_new_tokens=4"
    )  # " fox" each time, no bytes that make no character
    to_write(page)
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


def test_screens_that_come_before_the_page_expects_them_all_count(visit: Opener, tiny_writer: LoadedModel) -> None:
    go_on = threading.Event()
    with page_of(Models((tiny_writer.name,), lambda name, _: tiny_writer, wrap=held(go_on))) as address:
        page = visit("?min_new_tokens=12&max_new_tokens=12&seed=7&tab=Write", at=address)
        page.evaluate(OVERTAKE)
        page.locator("#attend-text textarea").fill("Once upon")
        page.locator("#attend-continue").click()
        expect(page.locator("#attend-halt")).to_be_visible()
        expect(page.locator("#attend-continue")).to_be_hidden()
        expect(page.locator("#attend-empty")).to_be_disabled()
        go_on.set()
        expect(page.locator("#attend-halt")).to_be_hidden()
        expect(page.locator("#attend-empty")).to_be_enabled()
