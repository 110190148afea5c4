"""The page of an encoder in a real browser, as `python app.py --model FOLDER` serves it, and its endpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from playwright.sync_api import Browser, Page, expect

from model import catalog
from model.arguments import ModelArguments
from model.encoder import Encoder, Piece, cosines
from model.loaded import LoadedModel
from model.progress import Progress
from tests.helpers.browsing import DESK, PHONE, Opener, load, page_of, reload, watch
from tests.helpers.folders import bert
from tests.helpers.served import app_page
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import name_by_hand, pick, rest, say, wait_for_drawing
from ui.runs.models import Models
from ui.runs.models.model_cache import AnyModel

HOSTILE = "a cat <img src=x onerror=alert(1)> ${7*7} {{x}} [SEP]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert(tmp_path_factory.mktemp("encoder") / "tiny ${1+1} <b>bert")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return catalog.load_encoder(str(folder))


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with app_page("--model", str(folder)) as served:
        yield served


@pytest.fixture(scope="module")
def opened(address: str, browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    context = browser.new_context(viewport=DESK, reduced_motion="reduce")
    page = context.new_page()
    with watch(page, address) as faults:
        yield load(page, address, ".at-cosines"), faults
    context.close()


@pytest.fixture
def page(opened: tuple[Page, list[str]]) -> Iterator[Page]:
    """The page of an encoder, which the tests use one after the other; none may see an error."""
    page, faults = opened
    faults.clear()
    yield page
    for size in (PHONE["viewport"], DESK):
        page.set_viewport_size(size)
        wait_for_drawing(page)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "wider than the window"
    assert faults == []


pytestmark = BROWSER


def wait_for_pieces(page: Page, pieces: Sequence[Piece]) -> None:
    """Wait until these are the tokens."""
    expect(page.locator(".attend-reading .at-box")).to_have_text([piece.label for piece in pieces])


def test_it_says_why_it_cannot_generate_and_shows_what_it_reads(page: Page, folder: Path, encoder: Encoder) -> None:
    about = page.locator(".attend-about")
    expect(about).to_contain_text(f"{folder.name} is an encoder: it reads a whole text at once")
    expect(about).to_contain_text("can't generate")
    expect(page.locator("#attend-open-settings")).to_be_hidden()
    reload(page)  # another test may have read another text in this page before
    wait_for_pieces(page, encoder.pieces("My favorite fruit is apple"))
    expect(page.locator(".at-map .at-readout")).to_have_text("average of 8 heads")


def test_a_text_is_read_as_text_and_keys_move_between_its_tokens(page: Page, encoder: Encoder) -> None:
    box = page.locator("#attend-read-text textarea")
    box.fill(HOSTILE)
    box.press("Enter")
    reading = encoder.read(HOSTILE)
    wait_for_pieces(page, reading.pieces)
    assert page.locator(".attend-reading img").count() == 0

    page.get_by_label("Layer", exact=True).select_option("1")
    page.get_by_label("Head", exact=True).select_option("2")
    expect(page.locator(".at-map .at-readout")).to_have_text("layer 2, head 3")
    boxes = page.locator(".attend-reading .at-box")
    boxes.nth(2).click()
    boxes.nth(2).press("ArrowLeft")
    expect(boxes.nth(1)).to_have_attribute("aria-selected", "true")
    weights = reading.attention[1, 2, 1]  # where the second token looks
    most = page.locator(".at-attended-token").first
    expect(most.locator(".at-chip")).to_have_text(reading.pieces[int(weights.argmax())].label)
    result = float(most.locator(".at-number").inner_text().replace("%", "")) / 100
    assert result == pytest.approx(float(weights.max()), abs=0.01)  # a byte holds the square root

    canvas = page.locator(".at-canvas")
    canvas.focus()
    canvas.press("ArrowRight")
    expect(page.locator(".at-map .at-readout")).to_contain_text(
        f"{reading.pieces[1].label} → {reading.pieces[2].label}: "  # a token behind the one that looks
    )
    hide = page.get_by_role("checkbox", name="hide the special tokens")  # its words may be a glossary term by now
    hide.check()
    expect(page.locator(".at-attended-token", has_text="[SEP]")).to_have_count(0)
    hide.uncheck()


def test_a_word_is_compared_at_any_layer(page: Page, encoder: Encoder) -> None:
    sentences = ["The cat sat", "a cat so small", "CAT!"]
    page.locator("#attend-sentences textarea").fill("\n".join(sentences))
    page.locator("#attend-word").locator("input, textarea").fill("cat")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".at-cosines tbody tr")).to_have_count(3)
    expect(page.locator(".at-cosines mark")).to_have_text(["cat", "cat", "CAT"])
    page.locator("#attend-layer input").click()
    page.get_by_test_id("dropdown-option").filter(has_text="layer 1").click()
    expect(page.locator(".attend-words")).to_contain_text("after layer 1:")
    known = cosines([encoder.read(sentence).vector("cat", 1) for sentence in sentences])
    similarities = [float(cell) for cell in page.locator(".at-cosines tbody td").all_text_contents()]
    assert similarities == pytest.approx(known.flatten().tolist(), abs=0.006)

    page.locator("#attend-word").locator("input, textarea").fill("<b>dog")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".toast-wrap")).to_contain_text('The word "<b>dog" is not in "The cat sat"')
    expect(page.locator(".at-cosines tbody tr")).to_have_count(3)


@pytest.fixture(scope="module")
def chatting(tiny: LoadedModel) -> Iterator[str]:
    """A private page with a model that chats."""

    def load(name: str, progress: Progress) -> AnyModel:
        return tiny if name == tiny.name else catalog.load_another(ModelArguments(), name, progress)

    with page_of(Models((tiny.name,), load, any_name=True)) as address:
        yield address


def test_an_encoder_is_chosen_on_the_page_and_the_chat_comes_back_as_it_was(
    chatting: str, visit: Opener, folder: Path, encoder: Encoder, tiny: LoadedModel
) -> None:
    page = visit(at=chatting)
    say(page, "Hello")
    text = page.locator(".attend-conversation").inner_text()
    page.locator("#attend-message textarea").fill("And now")
    name_by_hand(page, str(folder))
    about = page.locator(".attend-about")
    expect(about).to_contain_text(f"{folder.name} is an encoder: it reads a whole text at once")
    expect(about).to_contain_text("can't generate")
    expect(about).to_contain_text(f"Choose {tiny.name} again")
    expect(page.locator("#attend-main")).to_be_hidden()
    expect(page.locator("#attend-form")).to_be_hidden()
    wait_for_pieces(page, encoder.pieces("My favorite fruit is apple"))
    page.locator("#attend-read-text textarea").fill("The cat")
    page.locator("#attend-read").click()
    expect(page.locator(".attend-reading .at-box")).to_have_count(len(encoder.pieces("The cat")))
    page.locator("#attend-layer input").click()
    page.get_by_test_id("dropdown-option").filter(has_text="layer 1").click()
    expect(page.locator(".attend-words")).to_contain_text("after layer 1:")

    pick(page, tiny.name)
    expect(page.locator("#attend-main")).to_be_visible()
    expect(about).to_be_hidden()
    expect(page.locator(".attend-conversation")).to_have_text(text, use_inner_text=True)
    expect(page.locator("#attend-message textarea")).to_have_value("And now")
    page.locator("#attend-message textarea").press("Enter")
    expect(page.locator(".at-turn")).to_have_count(4)
    rest(page)


def test_programs_compare_words_and_generation_is_refused(address: str, encoder: Encoder) -> None:
    client: Any = Client(address, verbose=False)
    sentences = ["The cat sat", "a cat so small"]
    result = client.predict("cat", sentences, None, api_name="/similarity")
    known = cosines([encoder.read(sentence).vector("cat", 2) for sentence in sentences])
    assert result["layer"] == 2
    assert result["cosines"][0] == pytest.approx(known[0].tolist(), abs=1e-5)
    with pytest.raises(AppError, match="is not in"):
        client.predict("dog", sentences, None, api_name="/similarity")
    with pytest.raises(AppError, match="can't generate"):
        client.predict("Once", api_name="/generate")
