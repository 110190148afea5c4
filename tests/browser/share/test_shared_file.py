"""Shared runs in a real browser: the file is saved on the page, then opened from the disk with the network off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from model.loaded import LoadedModel
from tests.helpers.browsing import Opener, serving
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import choose, rest, say, to_empty_chat, to_tab
from tests.ui.share.shared_files import shared_file
from ui.share.bundle import VIEWS

pytestmark = BROWSER

COLOURS = """() => [...document.querySelectorAll('body, .at-box, .at-table th')].map((each) => {
  const { color, backgroundColor } = getComputedStyle(each);
  return `${color} on ${backgroundColor}`;
})"""
CUT_OFF = (
    "[...document.querySelectorAll('.at-strip, .at-tree')].filter((each) => each.scrollHeight > each.clientHeight + 1)"
)
HOSTILE = "</script><img src=https://evil.example/x onerror=document.title='caught'>"


@pytest.fixture
def page(shared_page: Page) -> Page:
    """A page without a conversation."""
    to_empty_chat(shared_page)
    choose(shared_page, "Custom")
    return shared_page


def shared(page: Page, folder: Path, button: str = "Share run") -> Path:
    """Share the run in the inspector, or the comparison, as a file."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    assert download.value.suggested_filename.endswith(".html")
    file = folder / "run.html"
    download.value.save_as(file)
    return file


@contextmanager
def opened(browser: Browser, file: Path, **options: Any) -> Iterator[Page]:
    """The file in a browser without a network; in the end, nothing was fetched and nothing failed."""
    faults: list[str] = []
    with browser.new_context(offline=True, **options) as context:
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("request", lambda sent: None if sent.url.startswith(("file:", "data:")) else faults.append(sent.url))
        page.goto(file.as_uri())
        yield page
    assert faults == []


def document_in(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8").split('id="attend-document">')[1].split("</script>")[0])


def test_a_shared_answer_is_looked_into_without_a_server_and_opened_again(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    say(page, "How are you today?")
    page.get_by_role("button", name="Look inside the model").click()
    expect(page.locator(".at-lens-best tbody tr")).to_have_count(10)
    headline = page.locator(".at-headline").inner_text()
    file = shared(page, tmp_path)
    document = document_in(file)
    assert document["attention"]["rows"] and document["prompt"]["messages"][-1]["content"] == "How are you today?"
    with opened(browser, file, viewport={"width": 1280, "height": 900}) as alone:
        expect(alone.locator("#attend-shared")).to_contain_text("How are you today?")
        expect(alone.locator(".at-headline")).to_have_text(headline, use_inner_text=True)  # of which it knows most
        expect(alone.locator(".at-lens-cell")).to_have_text(page.locator(".at-lens-cell").all_text_contents())
        expect(alone.locator(".at-lens-best tbody tr")).to_have_count(10)
        settings = alone.locator(".at-shared-settings")
        expect(settings.locator("p")).to_contain_text(
            f"Maximum length 12 · seed {document['seed']}"
        )  # others are usual
        expect(settings.locator("tr")).to_have_count(len(document["settings"]))
        expect(alone.locator(".at-box")).to_have_count(len(document["prompt"]["ids"]) + len(document["ids"]))
        alone.locator(".at-box").nth(len(document["prompt"]["ids"])).click()
        expect(alone.locator(".at-headline")).to_contain_text("Token 1 of")
        expect(alone.locator(".at-table tbody tr")).to_have_count(len(document["steps"][0]["candidates"]) + 1)
        expect(alone.locator(".at-lens-cell")).to_have_count(0)  # about this token nothing was asked
        expect(alone.locator(".at-map canvas, canvas.at-canvas").first).to_be_visible()
        assert alone.get_by_role("button", name="use").count() == 0  # nothing that a server would have to do
        assert alone.get_by_role("button", name="Look inside the model").count() == 0
        expect(alone.locator(".at-stages-pane")).not_to_contain_text("suppress")  # filters are called as on the page
        alone.get_by_role("radio", name="attention").check(force=True)
        expect(alone.locator(".attend-inspector")).to_have_attribute("data-colour", "attention")
    page.locator(".attend-record input[type=file]").set_input_files(file)
    expect(page.locator(".at-opened")).to_contain_text("You’re viewing run.html, a saved run.")
    expect(page.locator(".at-map canvas, canvas.at-canvas").first).to_be_visible()


def test_a_shared_file_shows_every_token_and_pair_that_was_asked_about(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    say(page, "How are you today?")
    page.get_by_role("button", name="Look inside the model").click()
    rows = page.locator(".at-lens tbody tr")
    for number in (2, 1):  # rows of the same table, so that only the guesses about the token are asked for
        rows.nth(number).locator("th").click()
        expect(page.locator(".at-headline")).to_contain_text(f"Token {number + 1} of")
        token = rows.nth(number).locator(".at-chip").first.inner_text()
        expect(page.locator(".at-lens-best h4 .at-chip")).to_have_text(token, use_inner_text=True)
    page.locator(".at-causes label:has(> input[value='pair'])").click()
    scores = ".at-causes-part:last-of-type .at-score"
    expect(page.locator(scores).first).to_be_visible()
    page.locator(".at-causes select").nth(1).select_option(label="anything else")
    expect(page.locator(scores).first).to_be_visible()
    words = page.locator(".at-causes-part").first.inner_text()
    with opened(browser, shared(page, tmp_path)) as alone:
        expect(alone.locator(".at-headline")).to_contain_text("Token 2 of")
        expect(alone.locator(".at-lens-best")).to_be_visible()
        expect(alone.locator(".at-causes select").nth(1).locator("option:checked")).to_have_text("anything else")
        expect(alone.locator(".at-causes-part").first).to_have_text(words, use_inner_text=True)
        expect(alone.locator(scores).first).to_be_visible()
        alone.locator(".at-lens tbody tr").nth(2).locator("th").click()
        expect(alone.locator(".at-headline")).to_contain_text("Token 3 of")
        expect(alone.locator(".at-lens-best")).to_be_visible()


def test_a_shared_comparison_has_its_cards_and_each_ones_tokens(page: Page, browser: Browser, tmp_path: Path) -> None:
    to_tab(page, "Compare")
    page.locator(".attend-compare .at-primary").click()
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_enabled()
    file = shared(page, tmp_path, "Share")
    cards = document_in(file)["cards"]
    assert len(cards) > 1
    with opened(browser, file) as alone:
        expect(alone.locator(".at-card h3")).to_have_text(page.locator(".at-card h3").all_inner_texts())
        expect(alone.locator(".at-card .at-text")).to_have_text(page.locator(".at-card .at-text").all_text_contents())
        expect(alone.locator(".at-cards")).to_have_css("display", "grid")  # beside each other, as on the page
        assert alone.get_by_role("button", name="Change the settings of this card").count() == 0
        alone.locator(".at-card").nth(1).locator(".at-tok").nth(2).click()
        expect(alone.locator(".at-headline")).to_contain_text(f"Token 3 of {len(cards[1]['run']['ids'])}")
        expect(alone.locator(".at-card.at-inspected h3")).to_have_text(alone.locator(".at-card h3").nth(1).inner_text())
        expect(alone.locator("canvas.at-canvas")).to_be_visible()
    own = page.locator(".attend-compare > .at-cards")
    expect(own).to_be_visible()
    to_tab(page, "Chat")
    page.locator(".attend-record input[type=file]").set_input_files(file)
    expect(page.locator("body[data-tab='Compare']")).to_be_attached()
    expect(page.locator(".at-headline")).to_be_visible()  # Compare's own run has come
    section = page.get_by_role("region", name="Cards of a file")
    expect(section.locator(".at-card .at-text")).to_have_text(own.locator(".at-text").all_text_contents())
    expect(own).to_be_hidden()
    for name in ("Share", "CSV", "JSON", "Markdown"):  # which would send the comparison that is hidden
        expect(page.get_by_role("button", name=name, exact=True)).to_be_disabled()
    for card in (1, 0):
        section.locator(".at-card").nth(card).locator(".at-tok").nth(2).click()
        expect(section.locator(".at-card").nth(card)).to_have_class(re.compile("at-inspected"))
        expect(section.locator(".at-card.at-inspected")).to_have_count(1)
        expect(page.locator(".at-headline")).to_contain_text(f"Token 3 of {len(cards[card]['run']['ids'])}")
    section.get_by_role("button", name="Close file").click()
    expect(section).to_be_hidden()
    expect(own).to_be_visible()
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_enabled()


def test_a_shared_translation_has_its_alignment(
    tiny_translator: LoadedModel, visit: Opener, browser: Browser, tmp_path: Path
) -> None:
    with serving(tiny_translator) as address:
        page = visit("?max_new_tokens=6", at=address)
        page.locator("#attend-given textarea").fill("The quick fox")
        page.keyboard.press("Enter")
        rest(page)
        lines = page.locator(".at-lines path")
        expect(lines.first).to_be_attached()
        file = shared(page, tmp_path)
        with opened(browser, file) as alone:
            expect(alone.locator(".at-link")).to_have_text(page.locator(".at-link").all_text_contents())
            expect(alone.locator(".at-lines path")).to_have_count(lines.count())
            alone.locator(".at-link[data-side='1']").nth(1).click()
            expect(alone.locator(".at-headline")).to_contain_text("Token 2 of")


def test_a_shared_search_has_its_tree_and_fits_a_phone(page: Page, browser: Browser, tmp_path: Path) -> None:
    choose(page, "Beam search")
    say(page, "How are you today?")
    file = shared(page, tmp_path)
    phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
    with opened(browser, file, **phone) as alone:
        alone.locator(".at-box").last.click()
        expect(alone.locator(".at-node").first).to_be_visible()
        assert alone.evaluate("document.body.classList.contains('dark')")
        assert alone.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")
        colours = {"dark screen": alone.evaluate(COLOURS)}
        alone.emulate_media(media="print")
        colours["paper"] = alone.evaluate(COLOURS)
        assert alone.evaluate(CUT_OFF) == []
        alone.emulate_media(color_scheme="light", media="screen")
        expect(alone.locator("body.dark")).to_have_count(0)
        assert alone.evaluate(COLOURS) == colours["paper"] != colours["dark screen"]


def small_document() -> dict[str, Any]:
    step = {
        "id": 1,
        "origin": "chosen",
        "rank": 1,
        "draw": 0.5,
        "stages": ["model"],
        "kept": [2],
        "mass": [1.0],
        "entropy": [1.0],
        "candidates": [{"id": 1, "probabilities": [0.5]}],
        "rest": [0.5],
    }
    return {
        "schema": "attend.trace/2",
        "model": "m",
        "prompt": {"text": "p", "ids": [2]},
        "seed": 1,
        "text": "t",
        "settings": {"strategy": "sample"},
        "ids": [1],
        "finish_reason": "stop",
        "steps": [step],
        "labels": {"1": "t", "2": "p"},
    }


PLACES = ["model", "text", "prompt", "labels", "setting", "stage"]


def hostile_document(place: str) -> dict[str, Any]:
    document = small_document()
    match place:
        case "prompt":
            document["prompt"]["text"] = HOSTILE
        case "labels":
            document["labels"] = {"1": HOSTILE, "2": HOSTILE}
        case "setting":
            document["settings"] = {HOSTILE: HOSTILE, "strategy": HOSTILE}
        case "stage":
            document["steps"][0]["stages"] = [HOSTILE]
        case _:
            document[place] = HOSTILE
    return document


@pytest.mark.parametrize("kind", VIEWS)
def test_hostile_documents_stay_text(browser: Browser, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "hostile.html"
    file.write_text("", encoding="utf-8")
    with opened(browser, file) as alone:
        for place in PLACES:
            document = hostile_document(place) | ({"source": [2, 1]} if kind == "translation" else {})
            if kind == "explained":
                document["why"] = hostile_answers()
            page = shared_file(compared(document) if kind == "comparison" else document, kind)
            file.write_text(page, encoding="utf-8")
            alone.reload()
            expect(alone.locator(".at-box")).to_have_count(4 if kind == "translation" else 2)
            expect(alone.locator(".at-lens-cell, .at-scored")).to_have_count(2 if kind == "explained" else 0)
            assert alone.title() != "caught" and alone.locator("#attend-shared img").count() == 0, place


def hostile_answers() -> list[dict[str, Any]]:
    """What Why? was told, where every text is hostile."""
    guess = {"id": 1, "top": [1], "top_probability": [0.5], "chosen": [0.5], "decided": None}
    named: dict[str, Any] = {"labels": {"1": HOSTILE}, "columns": [HOSTILE]}
    answers = {
        "lens": {**named, "first": 0, "total": 1, "rows": [guess]},
        "lens_cell": {**named, "top": [[1]], "probabilities": [[0.5]], "ids": [1], "curves": [[0.5]]},
        "words": {"words": [{"text": HOSTILE, "change": 0.5}]},
    }
    pair = {"chosen": 1, "rival": None}
    return [{"question": name, "index": 0, "detail": pair, "answer": answer} for name, answer in answers.items()]


def compared(document: dict[str, Any]) -> dict[str, Any]:
    """A comparison whose every text is hostile, of cards with this run."""
    result = {
        "run": HOSTILE,
        "tokens": [{"text": HOSTILE, "probability": 0.5, "label": HOSTILE}],
        "state": HOSTILE,
        "note": HOSTILE,
        "length": 1,
        "first_difference": 0,
        "metrics": [1.0],
    }
    card = {"name": [HOSTILE], "others": [HOSTILE], "result": result, "run": document}
    metric = {"name": HOSTILE, "label": HOSTILE, "unit": HOSTILE, "digits": 2, "help": HOSTILE, "term": HOSTILE}
    return {"continued": HOSTILE, "metrics": [metric], "cards": [card, card]}


def test_a_line_end_that_differs_is_seen(browser: Browser, tmp_path: Path) -> None:
    document = compared(small_document())
    card, cards = document["cards"][0], list[dict[str, Any]]()
    for text, first_difference in (("word", None), ("\n", 0)):
        result = {"tokens": [{"text": text, "probability": 0.5}], "state": "done", "first_difference": first_difference}
        cards.append({**card, "result": {**card["result"], **result}})
    document["cards"] = cards
    file = tmp_path / "compared.html"
    file.write_text(shared_file(document, "comparison"), encoding="utf-8")
    with opened(browser, file) as alone:
        differing = alone.locator(".at-tok.at-parted")
        expect(differing).to_have_attribute("data-name", "↵")
        assert differing.evaluate("one => one.getClientRects()[0].width") > 20  # its sign, beside that of a difference
        expect(alone.locator(".at-parted-note").last).to_contain_text("“↵” instead of “word”")


BROKEN = [
    {},
    [],
    None,
    {"steps": [{}]},
    {"steps": 3, "prompt": {"text": 1, "ids": "x"}},
    {"steps": [], "ids": [], "model": "m"},
]


@pytest.mark.parametrize("kind", VIEWS)
def test_a_broken_document_is_said_to_be_broken(browser: Browser, tmp_path: Path, kind: str) -> None:
    page = browser.new_page()
    for document in [*BROKEN, {"cards": [{"run": small_document()}], "metrics": [], "continued": ""}]:
        file = tmp_path / "broken.html"
        file.write_text(shared_file(document, kind), encoding="utf-8")
        page.goto(file.as_uri())
        expect(page.get_by_role("alert")).to_contain_text("can’t be shown: ask for it again")
    page.close()
