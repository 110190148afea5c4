"""The fold "Why?" in a real browser: its views answer for the selected token, by mouse, by keyboard and on a phone."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.helpers.browsing import PHONE, SHORT, Opener, until_held
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import PATIENCE, POLLING, choose, rest, say, to_empty_chat, to_write

pytestmark = BROWSER

LAYERS, HEADS = 2, 4  # of the tests' model
PICKED = re.compile("at-picked")
# The probability of the best guess is written beside its curve as in the table.
BEST_IN_CURVES = """() => document.querySelector('.at-lens-curves .at-curve-names').textContent.includes(
  document.querySelector('.at-lens-best tbody td').textContent)"""
HEAD = re.compile(r"^head \d+\.\d+$")


@pytest.fixture
def page(shared_page: Page) -> Page:
    """A page with one answer, whose fold is closed."""
    page = shared_page
    to_empty_chat(page)
    page.locator(".at-causes").evaluate("fold => { fold.open = false; }")
    choose(page, "Custom")
    say(page, "How are you today?")
    return page


def open_fold(page: Page, view: str = "lens") -> None:
    page.locator(".at-causes > summary").click()
    to_view(page, view)


def to_view(page: Page, view: str) -> None:
    page.locator(f".at-causes label:has(> input[value='{view}'])").click()


def select(page: Page, token: int) -> None:
    """Select a token of the answer."""
    page.locator(".at-assistant .at-tok:not(:empty)").nth(token).click()


def fits(page: Page) -> bool:
    return page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")


def hold(page: Page, question: str) -> tuple[list[Route], list[str]]:
    """Hold what asks this question; returns what is held, and the names of all that is asked."""
    held, questions = list[Route](), list[str]()

    def route(one: Route) -> None:
        if match := re.search(r'"question":"(\w+)"', one.request.post_data or ""):
            questions.append(match[1])
        if match and match[1] == question:
            held.append(one)
        else:
            one.continue_()

    page.route("**/queue/join*", route)
    return held, questions


def test_layers_guesses_follow_the_token_and_the_keys(page: Page) -> None:
    _, questions = hold(page, "none")
    say(page, "And you?")
    assert questions == []  # nothing is computed before it is opened
    open_fold(page)
    rows = page.locator(".at-lens tbody tr")
    expect(rows.first).to_be_visible()
    count = rows.count()
    expect(page.locator(".at-lens-cell")).to_have_count(count * (LAYERS + 1))
    rows.nth(1).locator("th").click()
    expect(page.locator(".at-headline")).to_contain_text("Token 2 of")
    expect(rows.nth(1)).to_have_class("at-here")
    cell = rows.nth(1).locator(".at-lens-cell").nth(LAYERS)
    expect(cell).to_have_class(PICKED)
    expect(page.locator(".at-curve")).to_have_count(2)  # of the token and of one rival
    token = rows.nth(1).locator("th").inner_text()
    expect(page.locator(".at-lens-best h4 .at-chip")).to_have_text(token, use_inner_text=True)
    page.wait_for_function(BEST_IN_CURVES, polling=POLLING, timeout=PATIENCE)
    cell.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(rows.nth(1).locator(".at-lens-cell").nth(LAYERS - 1)).to_have_class(PICKED)
    expect(page.locator(".at-lens-best tbody tr")).to_have_count(10)
    pins = page.locator(".at-lens-best button[aria-pressed='false']")
    pins.first.click()
    expect(page.locator(".at-curve")).to_have_count(3)
    page.locator(".at-causes input[type=checkbox]").check()
    expect(page.locator(".at-lens-cell")).to_have_count(count * (2 * LAYERS + 1))
    with page.expect_download() as download:
        page.locator(".at-lens-curves").get_by_role("button", name="Save SVG").click()
    picture = Path(download.value.path()).read_text(encoding="utf-8")
    assert download.value.suggested_filename.endswith(".svg")
    assert picture.startswith("<svg") and picture.count("<polyline") == 3 and "var(" not in picture
    page.locator(".at-causes .at-data summary").click()
    expect(page.locator(".at-causes .at-sheet").first.locator("tbody tr")).to_have_count(count)
    assert fits(page)
    page.locator(".at-causes input[type=checkbox]").uncheck()
    page.unroute_all()


def test_a_token_of_the_prompt_keeps_the_focus_when_it_is_explained(page: Page) -> None:
    page.locator(".at-box.at-generated").nth(2).click()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".at-headline")).to_contain_text("entropy")  # its distribution has come, and with it its colour
    expect(page.locator(".at-box[data-index='1']")).to_be_focused()


def test_a_pair_of_tokens_is_explained_in_three_ways(page: Page) -> None:
    select(page, 3)
    open_fold(page, "pair")
    words, parts, inputs = (page.locator(".at-causes-part").nth(number) for number in range(3))
    expect(inputs.locator(".at-score").first).to_be_visible()
    expect(parts.locator("tbody tr")).to_have_count(2 * LAYERS + 3)  # embeddings, biases and the sum
    expect(parts.locator(".at-cell")).to_have_count(LAYERS * HEADS)
    before = words.inner_text()
    rival = page.locator(".at-causes select").nth(1)
    rival.select_option(index=rival.locator("option").count() - 1)  # anything else
    expect(words).not_to_have_text(before, use_inner_text=True)
    expect(inputs.locator(".at-score").first).to_be_visible()
    select(page, 4)
    expect(inputs.locator(".at-score").first).to_be_visible()
    expect(page.locator(".at-headline")).not_to_contain_text("Token 4 of")
    expect(rival).not_to_have_value(page.locator(".at-causes select").first.input_value())


def test_a_pair_that_is_changed_at_once_is_no_longer_asked_about(page: Page) -> None:
    select(page, 3)
    held, questions = hold(page, "words")
    open_fold(page, "pair")
    until_held(page, held, 1)
    page.locator(".at-causes select").nth(1).select_option(label="anything else")
    held[0].continue_()
    until_held(page, held, 2)
    held[1].continue_()
    expect(page.locator(".at-causes-part").nth(2).locator(".at-score").first).to_be_visible()
    assert [questions.count(name) for name in ("words", "parts", "inputs")] == [2, 1, 1]
    page.unroute_all()


def test_the_table_asks_why_not_another_candidate(page: Page) -> None:
    select(page, 3)
    expect(page.locator(".at-headline")).to_contain_text("Token 4 of")  # and its table
    row = page.locator(".at-table tbody tr:has(.at-take)").nth(2)
    name = row.locator(".at-chip").inner_text()
    row.hover()
    row.get_by_role("button", name="why not").click()
    expect(page.locator(".at-causes input[value='pair']")).to_be_checked()
    expect(page.locator(".at-causes-part .at-score").first).to_be_visible()
    rival = page.locator(".at-causes select").nth(1).locator("option:checked")
    expect(rival).to_have_text(re.compile(f"^{re.escape(name)}"))
    expect(page.locator(".at-headline")).to_contain_text("Token 4 of")  # the click used no other token


def test_the_head_that_a_token_depends_on_is_six_clicks_away_and_always_in_sight(visit: Opener) -> None:
    page = visit(f"?method=Custom&{SHORT}", **PHONE)  # where the fold is far below the text
    say(page, "How are you today?")
    select(page, 3)
    page.get_by_role("button", name="Look inside the model").click()
    expect(page.locator(".at-lens")).to_be_in_viewport()
    to_view(page, "heads")
    page.get_by_role("button", name="Switch off each head in turn").click()
    most = page.get_by_role("button", name=HEAD)
    expect(most).to_be_in_viewport()
    name = most.inner_text().removeprefix("head ")
    most.click()
    layer, head = name.split(".")
    heading = page.get_by_role("heading", name=f"Where layer {layer}, head {head} looks")
    expect(heading).to_be_in_viewport()
    expect(page.locator(".at-causes-head")).to_be_in_viewport()  # with the progress of what is asked next
    page.get_by_role("button", name="Switch off", exact=True).click()
    expect(page.locator(".at-without .at-changes li").first).to_be_in_viewport()


def test_an_answer_without_a_layer_becomes_a_version_in_the_conversation(page: Page) -> None:
    before = page.locator(".at-assistant .at-text").inner_text()
    open_fold(page, "heads")
    expect(page.locator(".at-previewed .at-readout")).to_contain_text("Layer 1, head 1")
    page.locator(".at-thumbs").focus()
    page.keyboard.press("Enter")
    page.get_by_label("What to switch off").select_option("layer")
    page.get_by_role("button", name="Switch off", exact=True).click()
    page.get_by_role("button", name="Write again without it").click()
    page.get_by_role("button", name="Put it into the conversation").click()
    expect(page.locator(".at-assistant")).to_contain_text("without layer 1")
    rest(page)
    answer = page.locator(".at-assistant .at-text")
    assert answer.inner_text() != before
    page.get_by_role("button", name="Previous version").click()
    expect(answer).to_have_text(before, use_inner_text=True)


def test_a_head_is_found_opened_and_switched_off(page: Page) -> None:
    to_write(page)
    page.locator("#attend-text textarea").fill("The quick brown fox")
    page.locator("#attend-continue").click()
    expect(page.locator("#attend-text textarea")).not_to_have_value("The quick brown fox")
    rest(page)
    expect(page.locator(".at-causes:not(.at-resting)")).to_be_visible()
    open_fold(page, "heads")
    page.get_by_role("button", name="Switch off each head in turn").click()
    expect(page.locator(".at-cell")).to_have_count(LAYERS * HEADS)
    thumbnails = page.locator(".at-thumbs")
    thumbnails.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".at-head-large .at-map canvas.at-canvas")).to_be_visible()
    page.locator("label", has_text="lines between words").click()
    expect(page.locator(".at-look-here").first).to_be_attached()
    page.get_by_role("button", name="Switch off", exact=True).click()
    expect(page.locator(".at-without .at-changes li").first).to_be_visible()
    page.get_by_role("button", name="Write again without it").click()
    expect(page.locator(".at-rewritten-text")).to_have_count(2)
    page.locator(".at-without button[aria-label$='on again']").click()
    expect(page.locator(".at-without .at-changes")).to_be_hidden()
    assert fits(page)
    text = page.locator("#attend-text textarea").input_value()
    held, _ = hold(page, "switch_off")
    page.get_by_role("button", name="Switch off", exact=True).click()
    until_held(page, held, 1)
    later, is_released = list[Route](), threading.Event()
    page.route("**/queue/join*", lambda one: one.continue_() if is_released.is_set() else later.append(one))
    page.get_by_role("button", name="Compare on two cards").click()
    held[0].continue_()
    expect(page.locator(".at-without .at-changes li").first).to_be_visible()
    expect(page.locator(".at-ask-text")).to_be_in_viewport()  # a late answer doesn't pull the page down to it
    is_released.set()
    for one in later:
        one.continue_()
    expect(page.locator(".at-compare-status")).to_contain_text("Done: ")
    expect(page.locator(".at-card").first).to_be_in_viewport()
    expect(page.locator(".at-card h3")).to_have_text(["Card 1", re.compile(r"^2 Without \d\.\d$")])
    expect(page.locator(".at-ask-text")).to_have_value("The quick brown fox")
    assert page.locator(".at-card .at-card-text").first.inner_text() == text
    page.unroute_all()


def test_an_answer_about_parts_that_have_changed_since_is_not_shown(visit: Opener) -> None:
    page = visit(f"?method=Custom&{SHORT}")
    say(page, "How are you today?")
    open_fold(page, "heads")
    expect(page.locator(".at-previewed .at-readout")).to_contain_text("Layer 1, head 1")
    page.locator(".at-thumbs").focus()
    page.keyboard.press("Enter")
    held, _ = hold(page, "switch_off")
    page.get_by_role("button", name="Switch off", exact=True).click()
    until_held(page, held, 1)
    page.get_by_label("How much of it is left").press("ArrowRight")
    page.get_by_role("button", name="Scale", exact=True).click()
    held[0].continue_()
    until_held(page, held, 2)
    changes = page.locator(".at-without .at-changes li")
    expect(changes).to_have_count(0)
    held[1].continue_()
    expect(changes.first).to_be_visible()
    expect(page.locator(".at-without")).to_contain_text("× 0.1 changed")


def test_every_view_fits_on_a_phone(visit: Opener) -> None:
    page = visit(f"?method=Custom&{SHORT}", **PHONE)
    say(page, "How are you today?")
    open_fold(page)
    expect(page.locator(".at-curves")).to_be_visible()
    assert fits(page)
    to_view(page, "pair")
    expect(page.locator(".at-causes-part").nth(2).locator(".at-score").first).to_be_visible()
    assert fits(page)
    to_view(page, "heads")
    expect(page.locator(".at-preview")).to_be_visible()
    page.locator(".at-thumbs").tap(position={"x": 20, "y": 20})
    expect(page.locator(".at-head-large .at-map canvas.at-canvas")).to_be_visible()
    assert fits(page)
    to_view(page, "patch")
    form = {"clean": "How are you?", "corrupted": "Who are you?", "answer": "I", "rival": "The"}
    for name, text in form.items():
        page.locator(f".at-patch-{name} input").fill(text)
    page.get_by_role("button", name="Patch", exact=True).click()
    expect(page.locator(".at-patch-tokens")).to_have_count(2)
    assert fits(page)
