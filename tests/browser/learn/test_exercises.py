"""The exercises of a chapter in a real browser: tried, solved, shown, counted, and a link with a teacher's numbers."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from lesson.generation.tree import WORDS
from model import names
from tests.helpers.browsing import reload
from tests.helpers.stage import BROWSER
from ui.learn import course
from ui.learn.exercises.exercise import WRONG

pytestmark = [
    *BROWSER,
    pytest.mark.skipif("attend-chat" not in names.embedded(), reason="the embedded models are not there"),
]


@pytest.fixture(scope="module")
def url(embedded_url: str) -> str:
    return embedded_url


def test_exercises_are_checked_by_the_chapter_and_counted(shared_page: Page) -> None:
    page = shared_page
    page.locator("#attend-tabs label", has_text="Learn").click()
    entry = page.locator(".at-lesson-list button", has_text="A weighted sum of words")
    entry.click()
    chapter = page.get_by_role("region", name="A weighted sum of words", exact=True)
    by_number, by_choice, by_change = (chapter.locator(".at-exercises > li").nth(index) for index in range(3))
    verdicts = [one.locator(".at-exercise-verdict") for one in (by_number, by_choice, by_change)]
    text = course.texts()["attention"].exercises["weight_of_fruit"]

    by_number.get_by_role("button", name="Check").click()
    expect(verdicts[0]).not_to_be_empty()  # a number is missing
    by_number.get_by_role("spinbutton").fill("0.6")
    page.keyboard.press("Enter")
    expect(verdicts[0]).to_have_text(text.mistakes["ratio"])
    by_number.get_by_role("button", name="Hint").click()
    expect(verdicts[0]).to_contain_text(text.hint)
    by_number.get_by_role("spinbutton").fill("")
    page.keyboard.type("0,375")  # 0.6 / 1.6, as most of Europe writes it
    page.keyboard.press("Enter")
    expect(verdicts[0]).to_contain_text(text.explanation)
    expect(by_number).to_have_attribute("data-solved", "")
    expect(entry).to_contain_text("✓ 1")

    by_choice.get_by_label("1 and −1").check()
    by_choice.get_by_role("button", name="Check").click()
    expect(by_choice).to_have_attribute("data-solved", "")

    by_change.get_by_role("button", name="Check").click()
    expect(verdicts[2]).to_have_text(WRONG)
    by_change.get_by_role("button", name="Show answer").click()
    expect(verdicts[2]).to_contain_text("(2, 2, 2)")
    by_change.get_by_role("button", name="Try it").click()
    expect(chapter.get_by_label("one, 1")).to_have_value("2.00")
    by_change.get_by_role("button", name="Check").click()
    expect(by_change).to_have_attribute("data-solved", "")
    expect(entry).to_contain_text("✓ 3")

    words = chapter.get_by_label("Six words")
    words.fill("one two")
    page.keyboard.press("Enter")
    expect(chapter.get_by_role("alert").first).to_be_visible()  # six are needed
    words.fill("we are six words that journey")
    page.keyboard.press("Enter")
    expect(chapter.get_by_role("grid", name="Scores", exact=True).first).to_contain_text("journey")
    chapter.get_by_role("button", name="Show all answers").click()
    expect(verdicts[0]).to_contain_text("0.38")
    expect(verdicts[1]).to_contain_text("1 and −1")


def test_a_link_opens_a_chapter_with_a_teachers_numbers(shared_page: Page, url: str) -> None:
    page = shared_page
    numbers = '{"position":7,"nonsense":[1],"__proto__":{"length":2}}'
    page.evaluate(
        "address => history.replaceState(null, '', address)", f"{url}?tab=Learn&chapter=positions&numbers={numbers}"
    )
    reload(page)
    chapter = page.get_by_role("region", name="Positions", exact=True)
    expect(chapter.get_by_label("Position, as a number", exact=True)).to_have_value("7")
    expect(chapter.get_by_text("position 7: (0.66, 0.75)")).to_be_visible()  # sin 7 = .657, cos 7 = .754
    numbers = quote(json.dumps({"words": ["Das", "<b>nice</b>", *WORDS[2:]]}))
    page.evaluate(
        "address => { history.pushState(null, '', address); history.pushState(null, '', '?'); }",
        f"{url}?tab=Learn&chapter=generation&numbers={numbers}",
    )
    page.go_back()
    generation = page.get_by_role("region", name="How a text is generated", exact=True)
    expect(generation.get_by_label("Word 1 after Das")).to_have_value("<b>nice</b>")
    expect(generation.get_by_text("Greedy decoding finds “Das <b>nice</b> woman”")).to_be_visible()


def test_a_prediction_shows_its_result_and_a_wrong_answer_is_told_why(shared_page: Page) -> None:
    page = shared_page
    page.locator("#attend-tabs label", has_text="Learn").click()
    page.locator(".at-lesson-list button", has_text="Tokens, side by side").click()
    chapter = page.get_by_role("region", name="Tokens, side by side", exact=True)
    prediction, table = (
        chapter.get_by_role("group", name="Your prediction"),
        chapter.get_by_role("region", name="The same sentence", exact=True),
    )
    french, russian, *_ = course.texts()["tokens"].exercises["costliest"].options
    expect(prediction).to_be_visible()
    expect(table).to_be_hidden()
    prediction.get_by_role("button", name="Guess", exact=True).click()
    expect(prediction.get_by_role("status")).not_to_be_empty()  # no answer is chosen
    prediction.get_by_label("French").check()
    prediction.get_by_role("button", name="Guess", exact=True).click()
    expect(prediction.get_by_role("button")).to_have_count(0)  # what was guessed stays
    expect(prediction.get_by_label("French")).to_be_checked()
    expect(prediction.get_by_label("Russian")).to_be_disabled()
    expect(prediction.get_by_role("status")).to_contain_text(french.feedback)
    expect(prediction.get_by_role("status")).to_contain_text(russian.text)
    expect(table).to_contain_text("attend-translate")

    spaces = chapter.locator(".at-exercises > li").last
    spaces.get_by_role("button", name="Show answer").click()
    spaces.get_by_role("button", name="Try it").click()
    expect(chapter.get_by_role("textbox").first).to_have_value("one  two three")
    expect(prediction.get_by_label("French")).to_be_checked()  # the guess and its verdict are still there
    expect(prediction.get_by_role("status")).to_contain_text(french.feedback)
    expect(prediction.get_by_role("button")).to_have_count(0)

    number, verdict = (
        chapter.locator(".at-exercise:not(.at-prediction)").first.get_by_role(role) for role in ("spinbutton", "status")
    )
    number.fill("10")
    page.keyboard.press("Enter")
    expect(verdict).to_have_text(course.texts()["tokens"].exercises["bytes_of_a_text"].mistakes["characters"])

    reference = chapter.get_by_text("by_bytes in lesson/tokens.py")
    expect(reference).to_be_hidden()
    page.get_by_label("Show code").check()
    reference.click()
    expect(chapter.get_by_text("return Tokenization(tuple(f")).to_be_visible()
    page.get_by_label("Show code").uncheck()
    expect(reference).to_be_hidden()
    reload(page)
    expect(table).to_be_visible()  # it was predicted in this browser
    prediction.get_by_role("button").click()
    expect(prediction.get_by_role("status")).to_contain_text(russian.text)
    expect(prediction.get_by_role("button")).to_have_count(0)


def test_the_row_that_was_guessed_is_in_sight(shared_page: Page) -> None:
    """The last row of the lens: its table doesn't scroll."""
    page = shared_page
    page.locator("#attend-tabs label", has_text="Learn").click()
    page.locator(".at-lesson-list button", has_text="Inside").click()
    chapter = page.get_by_role("region", name="Inside", exact=True)
    lens = chapter.get_by_role("region", name="Each layer’s guess")
    prediction = chapter.get_by_role("group", name="Your prediction")
    prediction.get_by_label("layer 4").check()
    expect(lens).to_be_hidden()
    prediction.get_by_role("button", name="Guess", exact=True).click()
    expect(lens.locator("tbody tr").last).to_contain_text("called")
    assert lens.evaluate("box => box.scrollHeight === box.clientHeight")


def test_the_sheet_prints_all_exercises_and_nothing_else(shared_page: Page) -> None:
    page = shared_page
    page.evaluate("""() => { window.print = () => {
      document.body.dataset.printed = String(Number(document.body.dataset.printed ?? 0) + 1);
    }; }""")
    page.locator("#attend-tabs label", has_text="Learn").click()
    page.locator(".at-lesson-list button", has_text="Tokens, side by side").click()
    chapter = page.get_by_role("region", name="Tokens, side by side", exact=True)
    sheet = page.locator(".at-printed")
    chapter.get_by_role("button", name="Print this chapter").evaluate("one => { one.click(); one.click(); }")
    expect(page.locator("body[data-printed]")).to_have_count(1)
    expect(sheet.locator("li")).to_have_count(len(course.CHAPTERS["tokens"].exercises))
    expect(sheet).not_to_contain_text("Answer: 12")
    expect(sheet.locator("li:has(.at-printed-space)")).not_to_have_count(0)
    expect(sheet.locator("li:has(.at-printed-option) .at-printed-space")).to_have_count(0)  # an option is ticked
    expect(sheet).to_be_hidden()
    page.emulate_media(media="print")
    expect(sheet).to_be_visible()
    expect(page.locator("#attend-tabs")).to_be_hidden()
    page.emulate_media(media="screen")
    chapter.get_by_label("with answers").check()
    chapter.get_by_role("button", name="Print this chapter").click()
    expect(sheet).to_contain_text("Answer: 12. Ten characters, the space included")
    expect(page.locator("body")).to_have_attribute("data-printed", "2")  # one that was clicked twice, and this one
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    expect(sheet).to_have_count(0)
