"""Write on the page without a server: a text that is continued, at once or token by token, and after another token."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

import attend
from tests.browser.web.static_page import MESSAGE, SHORT, choose, open_tab, say, send
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import UNFOLD, enter

pytestmark = BROWSER

LONG = (  # than the box, and the model does not end it
    "Once upon a time there was a little fox. He lived in a big forest with his mother and his friends. " * 9
    + "One day"
)
# Once the model writes in a box and its end has been brought into view, scroll up.
SCROLL_UP = """box => {
  let frames = 0;
  window.scrolled = new Promise((done) => {
    const wait = () => {
      if (box.readOnly || frames) frames += 1;
      if (frames < 3) return requestAnimationFrame(wait);
      setTimeout(() => { // as a wheel does, before a frame's drawing
        box.scrollTop = 0;
        requestAnimationFrame(() => requestAnimationFrame(done));
      });
    };
    wait();
  });
}"""
BELOW = "box => box.scrollHeight - box.scrollTop - box.clientHeight"


def test_a_text_is_continued_in_its_box(page: Page, rounded_chat: attend.Model) -> None:
    panel = open_tab(page, "Write")
    send(panel, "Text", "Once upon a time", "Continue")
    expected = rounded_chat.generate("Once upon a time", strategy="greedy", **SHORT)
    box, undo = panel.get_by_role("textbox"), panel.get_by_role("button", name="Undo")
    expect(box).to_have_value("Once upon a time" + expected.text)
    box.press_sequentially(" and then")
    undo.click()  # only what was typed
    expect(box).to_have_value("Once upon a time" + expected.text)
    box.press_sequentially(" and then")
    panel.get_by_role("button", name="Clear").click()
    expect(box).to_have_value("")
    expect(box).to_be_focused()
    expect(page.get_by_text("Example, recorded with attend-chat").last).to_be_visible()
    for text in (f"Once upon a time{expected.text} and then", f"Once upon a time{expected.text}", "Once upon a time"):
        undo.click()
        expect(box).to_have_value(text)


def test_the_box_follows_what_is_written_unless_the_reader_scrolls_up(page: Page) -> None:
    panel = open_tab(page, "Write")
    box = panel.get_by_role("textbox")
    send(panel, "Text", LONG, "Continue")
    page.wait_for_function(f"box => ({BELOW})(box) < 2", arg=box.element_handle())
    box.evaluate(SCROLL_UP)
    panel.get_by_role("button", name="Continue").click()
    page.evaluate("() => window.scrolled")
    expect(panel.get_by_role("button", name="Stop")).to_be_hidden(timeout=60_000)
    assert box.evaluate("box => box.scrollTop") == 0
    for _ in range(2):
        panel.get_by_role("button", name="Undo").click()


def test_next_token_continues_by_one(page: Page, rounded_chat: attend.Model) -> None:
    panel = open_tab(page, "Write")
    send(panel, "Text", "Once upon a time", "Next token")
    (token,) = rounded_chat.generate("Once upon a time", strategy="greedy", max_new_tokens=1).tokens
    expect(panel.get_by_role("textbox")).to_have_value("Once upon a time" + token.text)
    panel.get_by_role("button", name="Undo").click()


def test_a_text_that_the_model_has_ended_goes_on_only_when_somebody_types(page: Page) -> None:
    panel = open_tab(page, "Write")
    choose(page, "Custom")
    bias = page.locator("#attend-logit-bias input")
    bias.evaluate(UNFOLD)
    enter(bias, "2:100")  # <end> at once
    said = panel.locator("form [role=status]")
    for text, sentence in (("The dog", "1 token in"), ("The dog", "The model ended its text"), ("A dog", "1 token in")):
        send(panel, "Text", text, "Continue")
        expect(said).to_contain_text(sentence)
    panel.get_by_role("button", name="Undo").click()
    send(panel, "Text", "A dog", "Continue")
    expect(said).to_contain_text("1 token in")
    enter(bias, "")


def test_another_token_is_used_and_the_model_writes_on_behind_it(page: Page, rounded_chat: attend.Model) -> None:
    panel = open_tab(page, "Write")
    send(panel, "Text", "Once upon a time", "Continue")
    before = rounded_chat.generate("Once upon a time", strategy="greedy", **SHORT)
    page.locator(".at-box.at-generated").nth(1).click()
    expect(page.locator(".at-headline")).to_contain_text("Token 2 of")
    expect(page.locator(".at-take-hint")).to_have_count(0)  # "use" has a button
    page.locator(".at-takeable").nth(2).click()
    begun = "Once upon a time" + before.tokens[0].text
    expect(page.locator(".at-headline")).to_contain_text(f"Token 2 of {SHORT['max_new_tokens'] + 2}")
    expect(page.locator(".at-reason")).to_contain_text("Chosen by you.")
    box = panel.get_by_role("textbox")
    expect(box).to_have_value(re.compile(f"^{re.escape(begun)}(?!{re.escape(before.tokens[1].text)}).+", re.DOTALL))
    panel.get_by_role("button", name="Undo").click()
    expect(box).to_have_value("Once upon a time" + before.text)
    expect(page.locator(".at-box.at-generated")).to_have_count(len(before.tokens))
    expect(panel.locator("form [role=status]")).to_have_text("")

    chat = open_tab(page, "Chat")
    count = chat.locator(".at-log > .at-assistant").count()
    say(page, MESSAGE, answers=count + 1)
    page.locator(".at-box.at-generated").first.click()
    page.locator(".at-takeable").nth(1).click()
    expect(page.locator(".at-reason")).to_contain_text("Chosen by you.")
    expect(chat.locator(".at-log > .at-assistant")).to_have_count(count + 1)  # in the place of the answer
