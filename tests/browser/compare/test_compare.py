"""Compare in a real browser: real runs, side by side."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client
from playwright.sync_api import Locator, Page, expect

from tests.helpers.browsing import PHONE, SHORT, HeldPage, Opener
from tests.helpers.stage import BROWSER, HOSTILE
from tests.helpers.visitor import say, set_number

pytestmark = BROWSER

EXAMPLE = "Once upon a time there was a little fox"
LENGTH = 160  # tokens
SWEEP = [{"temperature": heat, "max_new_tokens": LENGTH, "seed": 5} for heat in (0, 0.5, 1, 1.5)]

# Whether the status has said anything since: of a few tokens the page may see only that they are done.
BEGINS = """() => {
  window.begun = false;
  const status = document.querySelector('.at-compare-status');
  const seen = new MutationObserver(() => { window.begun = true; });
  seen.observe(status, { childList: true, subtree: true, characterData: true });
}"""

# Names and numbers of the cards that have less room than they need.
CUT_OFF = """() => [...document.querySelectorAll('.at-metric-name, .at-metric-value')]
  .filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.textContent)"""


def to_compare(page: Page) -> None:
    page.locator("#attend-tabs label", has_text="Compare").click()
    expect(page.locator(".at-card").first).to_be_visible()


def compare(page: Page) -> None:
    page.evaluate(BEGINS)  # a short comparison may be over before anybody looks
    page.locator(".attend-compare .at-primary").click()
    page.wait_for_function("window.begun")


def ended(page: Page, status: str = "Done") -> None:
    expect(page.locator(".at-compare-status")).to_contain_text(status)
    expect(page.locator(".attend-compare .at-stop")).to_be_hidden()


def card(page: Page, number: int) -> Locator:
    return page.locator(".at-card").nth(number - 1)


def texts(page: Page) -> list[str]:
    return page.locator(".at-card .at-text").all_text_contents()


def download(page: Page, kind: str, folder: Path) -> str:
    with page.expect_download() as waited:
        page.get_by_role("button", name=kind, exact=True).click()
    name = "tiny-writer-compare-once-upon-a-time-there-was-a-little-fox"
    assert waited.value.suggested_filename == f"{name}.{kind.lower()}"
    waited.value.save_as(folder / kind)
    return (folder / kind).read_text(encoding="utf-8")


def headings(page: Page) -> list[tuple[str, str]]:
    """Each card's number with what sets it apart, and its other settings."""
    cards = page.locator(".at-card").all()
    return [(card.locator("h3").inner_text(), card.locator(".at-card-words").inner_text()) for card in cards]


IN_SIGHT = """token => {
  const [at, frame] = [token, token.closest('.at-card-text')].map((one) => one.getBoundingClientRect());
  return at.top >= frame.top && at.bottom <= frame.bottom;
}"""


def test_a_sweep_streams_side_by_side_and_says_what_the_endpoint_says(
    held: HeldPage, visit: Opener, tmp_path: Path
) -> None:
    page = visit("", at=held.url)
    to_compare(page)
    set_number(page, "seed", 5)
    set_number(page, "max-new-tokens", LENGTH)
    expect(page.locator(".at-sidebar-settings")).to_contain_text(re.compile(f"{LENGTH}.*seed 5"))
    assert headings(page) == [
        (f"{number} Temperature {heat}", "Sampling") for number, heat in enumerate((0, 0.5, 1, 1.5), start=1)
    ]
    page.locator(".attend-compare .at-primary").click()
    held.gate.let(10)
    expect(page.locator(".at-card:has(.at-tok + .at-caret)")).to_have_count(4)  # all of them grow
    held.gate.open()
    ended(page)
    assert page.evaluate(CUT_OFF) == []

    result: Any = Client(held.url, verbose=False).predict(EXAMPLE, settings=SWEEP, api_name="/compare")
    assert texts(page) == [card["text"] for card in result["cards"]]
    for number, entry in enumerate(result["cards"], start=1):
        parted = card(page, number).locator(".at-parted")
        marks = [int(mark.get_attribute("data-index") or "-1") for mark in parted.all()]
        assert marks == ([] if entry["first_difference"] is None else [entry["first_difference"]])
        perplexity = card(page, number).locator(".at-metric", has_text="Perplexity").locator(".at-metric-value")
        assert float(perplexity.inner_text()) == pytest.approx(entry["perplexity"], rel=1e-3)

    page.wait_for_function("[...document.querySelectorAll('.at-card-text')].every((text) => text.scrollTop === 0)")
    page.add_style_tag(content=".at-card-text { flex-basis: 60px !important }")  # with any font, texts are longer
    for text in page.locator(".at-card-text").all():
        text.evaluate("text => { text.scrollTop = text.scrollHeight }")
    number = next(n for n in (2, 3, 4) if not card(page, n).locator(".at-parted").evaluate(IN_SIGHT))
    card(page, number).locator(".at-parted-note").click()
    page.wait_for_function(IN_SIGHT, arg=card(page, number).locator(".at-parted").element_handle())

    token = card(page, 3).locator(".at-tok").nth(4)
    token.click()
    expect(page.locator(".at-headline")).to_contain_text("Token 5 of")
    expect(token).to_have_class(re.compile("at-shown"))
    step = result["cards"][2]["trace"]["steps"][4]
    share = next(each["probabilities"][0] for each in step["candidates"] if each["id"] == step["id"])
    expect(page.locator(".at-table tbody tr.at-won")).to_contain_text(f"{100 * share:.2f}")

    rows = list(csv.DictReader(download(page, "CSV", tmp_path).splitlines()))
    assert [float(row["temperature"]) for row in rows] == [0, 0.5, 1, 1.5]
    document = json.loads(download(page, "JSON", tmp_path))
    assert [card["text"] for card in document["cards"]] == [card["text"] for card in result["cards"]]

    before = texts(page)
    card(page, 1).get_by_role("button", name="Remove").click()
    expect(page.locator(".at-card")).to_have_count(3)
    expect(card(page, 1).locator(".at-parted")).to_have_count(0)  # now it is what others are held to
    assert texts(page) == before[1:]
    assert len(list(csv.DictReader(download(page, "CSV", tmp_path).splitlines()))) == 3


def test_the_tab_keeps_what_was_typed_and_a_message_may_go_on_from_the_chat(visit: Opener) -> None:
    page = visit(f"?{SHORT}&seed=3")
    to_compare(page)
    answering = page.locator(".at-ask-row label", has_text="answer as a message")
    going_on = page.locator("label", has_text="Include the chat history")
    answering.click()
    expect(going_on).to_be_hidden()  # there is no chat yet
    hostile = "".join(HOSTILE)
    page.locator(".at-ask-text").fill(hostile)
    page.get_by_role("button", name="Strategy", exact=True).click()
    compare(page)
    ended(page)
    written = texts(page)
    page.locator("#attend-tabs label", has_text="Chat").click()
    expect(page.locator(".attend-compare")).to_be_hidden()
    message = "I have a dog. " * 6
    say(page, message)
    to_compare(page)
    expect(page.locator(".at-ask-text")).to_have_value(hostile)
    assert texts(page) == written
    assert page.locator("#attend-main img, #attend-main script").count() == 0
    expect(going_on).to_be_visible()
    expect(going_on.locator("input")).not_to_be_checked()
    meters = []
    for _ in range(2):
        compare(page)
        ended(page)
        meters.append(int(page.locator("#attend-meter").inner_text().split()[2]))  # "Longest card: 35 of …"
        going_on.click()
    # the conversation stands before the message: a token a word at least, less what the answers' lengths may differ by
    assert meters[1] > meters[0] + message.count(" ") - 12
    page.locator(".at-ask-row label", has_text="continue as text").click()
    expect(going_on).to_be_hidden()


def test_stop_keeps_the_texts_and_neither_an_error_nor_settings_from_learn_take_them_away(
    held: HeldPage, visit: Opener
) -> None:
    page = visit("", at=held.url)
    page.locator("#attend-tabs label", has_text="Learn").click()
    page.locator(".at-lesson-list button", has_text="How a text is generated").click()
    course = page.get_by_role("region", name="How a text is generated", exact=True)
    expect(course.get_by_role("button", name="Open in Compare")).to_be_visible()
    to_compare(page)
    expect(page.locator(".at-ask-row input[value=answer]")).to_be_disabled()  # this model knows no conversations
    page.locator(".attend-compare .at-primary").click()
    expect(page.locator(".attend-compare .at-stop")).to_be_focused()  # where Compare was pressed
    expect(page.locator(".at-card .at-tok").first).to_be_visible()
    page.locator("#attend-tabs label", has_text="Learn").click()
    course.get_by_role("button", name="Open in Compare").click()
    waiting = page.get_by_role("button", name="Use the settings from Learn")
    expect(waiting).to_be_disabled()
    remove = card(page, 1).get_by_role("button", name="Remove this card")
    expect(remove).to_have_attribute("title", "When this comparison has ended or is stopped")
    page.locator(".attend-compare .at-stop").press("Enter")
    ended(page, "Stopped")
    written, box = texts(page), page.locator(".at-ask-text")
    assert any(written)
    for wrong in ("  ", "fox " * 2000):
        box.fill(wrong)
        page.locator(".attend-compare .at-primary").click()
        expect(page.locator(".toast-body").last).to_be_visible()
        assert texts(page) == written
    expect(box).to_have_value("fox " * 2000)
    waiting.click()
    expect(page.locator(".at-card h3")).to_have_text(["1 Greedy", "2 Beam search", "3 Sampling"])
    expect(waiting).to_be_hidden()


def test_a_phone_in_the_dark_and_the_keyboard(visit: Opener) -> None:
    page = visit(f"?__theme=dark&{SHORT}&seed=3", **PHONE)  # the same texts each time
    to_compare(page)
    page.evaluate(BEGINS)
    page.locator(".at-ask-text").press("Control+Enter")
    page.wait_for_function("window.begun")
    ended(page)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    tops = [box["y"] for card in page.locator(".at-card").all() if (box := card.bounding_box())]
    assert len(set(tops)) == 4 and tops == sorted(tops)
    assert page.evaluate(CUT_OFF) == []
    name = card(page, 2).locator(".at-metric-name", has_text="Perplexity")
    card(page, 2).locator(".at-tok[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    reached = page.evaluate("Number(document.activeElement.dataset.index) + 1")
    assert reached > 1  # 2, where the second token has a text of its own
    page.keyboard.press("Enter")
    expect(page.locator(".at-headline")).to_contain_text(f"Token {reached} of")
    page.keyboard.press("Tab")
    for _ in range(6):
        if name.evaluate("(node) => node === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(page.get_by_role("tooltip")).to_contain_text("equally likely tokens")
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_be_hidden()
