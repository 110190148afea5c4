"""A class in a real browser: what its link hides, guessing, the presentation, and the sheet that makes the link."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.helpers.browsing import SHORT, Opener, follow
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import rest, to_write

pytestmark = BROWSER
NAME = "abcdefgh12"
START = "The dog and the fox"
LINK = f"?tab=Write&prompt={START}&strategy=greedy&max_new_tokens=3&min_new_tokens=3&class={NAME}.guess.inspector"
HIDDEN = "#attend-tabs label, #attend-history-button, #attend-api, #attend-settings, #attend-model, #attend-empty"
BOX = "#attend-text textarea"


def test_a_class_sees_one_thing_guesses_by_keyboard_presents_and_has_a_mean(visit: Opener, url: str) -> None:
    """The mean is that of two students who guess the same token, and not of a third one in another class."""
    page = visit(LINK, drawn="#attend-guessing")
    box, strip = page.locator(BOX), page.locator("#attend-guessing .at-box")
    expect(box).to_have_value(START)
    hidden = page.locator(HIDDEN).all()
    assert len(hidden) > 5 and not any(part.is_visible() for part in hidden)
    assert box.get_attribute("readonly") is not None
    expect(page.locator("#attend-right")).to_be_hidden()

    page.locator("#attend-continue").click()
    choices, verdict = page.locator(".at-guess-choice"), page.locator("#attend-guessing .at-verdict")
    expect(choices.first).to_be_focused()
    rest(page)  # the whole text is there, but not in sight
    assert box.input_value() != START
    expect(page.locator("#attend-main")).to_be_hidden()
    count = strip.count()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(verdict).to_be_visible()
    expect(strip).to_have_count(count + 1)
    expect(page.locator("#attend-guessing .at-table .at-won")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(choices.first).to_be_focused()
    page.get_by_label("Your own token").fill("<img src=x onerror=alert(1)>")
    page.keyboard.press("Enter")
    expect(verdict).to_contain_text("<img")
    page.keyboard.press("Enter")
    expect(choices.first).to_be_focused()
    page.keyboard.press("1")
    expect(verdict).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#attend-main")).to_be_visible()
    rows = page.locator("#attend-guessing .at-guesses tbody tr").all()
    bits = [[float(cell) for cell in row.locator(".at-number").all_inner_texts()] for row in rows]
    assert len(bits) == 4 and all(len(row) == 2 for row in bits)  # three guesses and their sum, without other students
    assert bits[-1] == pytest.approx([sum(column) for column in zip(*bits[:-1], strict=True)], abs=0.2)
    assert page.locator("#attend-guessing img").count() == 0

    page.locator("#attend-keys").click()
    page.get_by_role("button", name="Present this page").click()
    body, left, table = page.locator("body"), page.locator("#attend-left"), page.locator("#attend-right .at-table")
    expect(left).to_be_visible()
    expect(table).to_be_hidden()
    page.keyboard.press("ArrowDown")
    expect(table).to_be_visible()
    expect(left).to_be_hidden()
    number = page.locator("#attend-right .at-position")
    before = number.inner_text()
    page.keyboard.press("ArrowLeft")
    expect(number).not_to_have_text(before)
    page.keyboard.press("ArrowRight")
    expect(number).to_have_text(before)
    scores = page.locator(".at-guesses")
    expect(scores).to_be_hidden()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#attend-right .at-map-pane")).to_be_visible()
    expect(table).to_be_hidden()
    page.keyboard.press("ArrowDown")
    expect(scores).to_be_visible()
    expect(page.locator("#attend-main")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(body).not_to_have_attribute("data-panel", "guesses")
    expect(left).to_be_visible()

    address = f"{url}class-scores"
    for name, bits, count, mean in (("studentann", 2, 1, 2), ("studentbob", 4, 2, 3), ("studentbob", 40, 2, 3)):
        sent = {"name": NAME, "student": name, "token": 50, "bits": bits}
        assert page.request.post(address, data=sent).json()["means"]["50"] == {"bits": mean, "count": count}
    other = {"name": f"{NAME}9", "student": "studentann", "token": 50, "bits": 40}
    assert page.request.post(address, data=other).json()["means"] == {"50": {"bits": 40, "count": 1}}
    assert page.request.post(address, data={**other, "name": "<b>"}).status == 400


def test_a_damaged_link_hides_what_it_can_and_says_what_is_wrong_and_a_teacher_makes_another(visit: Opener) -> None:
    page = visit(f"?{SHORT}&class=<img src=x>.inspector")
    damage = page.locator(".at-damaged-link")
    expect(damage).to_contain_text("can’t read “<img src=x>” in it")
    expect(page.locator("#attend-tabs")).to_be_hidden()
    follow(damage.get_by_role("link", name="open the whole page"))
    expect(page.locator("#attend-tabs label").first).to_be_visible()
    expect(damage).to_have_count(0)
    to_write(page)
    page.locator(BOX).fill(START)
    page.locator("#attend-code").click()
    page.get_by_role("button", name="For a class").click()
    sheet = page.locator("#attend-class-dialog")
    sheet.get_by_label("They see how each token was chosen").uncheck()
    sheet.get_by_label("Large type").check()
    sheet.get_by_label("Guesses").fill("0")
    expect(sheet.get_by_role("button", name="Copy link")).to_be_disabled()
    sheet.get_by_label("Guesses").fill("20")
    link = parse_qs(urlsplit(sheet.locator("pre").inner_text()).query)
    assert (link["tab"], link["prompt"], link["max_new_tokens"]) == (["Write"], [START], ["12"])
    assert link["class"][0].split(".")[1:] == ["guess", "present", "20"]
    assert int(link["seed"][0]) >= 0
    assert (
        sheet.get_by_role("link", name="Open it").get_attribute("href")
        == page.locator("#attend-class-dialog pre").text_content()
    )
