"""Translate in a real browser: the text, the highlighted tokens, and switching there from a chat model."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from model import catalog
from model.loaded import LoadedModel
from model.progress import Progress
from tests.helpers.browsing import PHONE, Opener, page_of, reload, serving
from tests.helpers.stage import BROWSER
from tests.helpers.translators import marian_of_several, nllb
from tests.helpers.visitor import pick, say, set_number, take, to_tab, uses
from tests.helpers.waiting import eventually
from ui.runs.models import Models
from ui.runs.models.model_cache import AnyModel

pytestmark = BROWSER
SOURCE = "Le chat est grand."


@pytest.fixture(scope="module")
def first_address(tiny_translator: LoadedModel) -> Iterator[str]:
    """A page that starts with the translator."""
    with page_of(Models((tiny_translator.name,), lambda *_: tiny_translator)) as served:
        yield served


def entries(page: Page, *words: str) -> None:
    expect(page.locator("#attend-tabs label")).to_have_text(list(words))


def translate(page: Page, text: str, key: str = "Enter") -> None:
    page.locator("#attend-given textarea").fill(text)
    page.keyboard.press(key)
    expect(page.locator(".attend-translation > .at-translated")).to_be_visible()  # the example has gone
    expect(page.locator(".at-kind canvas.at-canvas")).to_have_count(3)
    expect(page.locator("#attend-translate-stop")).to_be_hidden()


def shorten(page: Page) -> None:
    """Limit the length in settings that may be out of sight: the address's length is that of the other tabs."""
    page.locator("#attend-max-new-tokens input[type=number]").evaluate(
        "(box) => { box.value = 12; box.dispatchEvent(new Event('input', { bubbles: true })) }"
    )


def lit(page: Page, side: int) -> list[int]:
    """The percentages shown at the tokens of one side."""
    numbers = page.locator(f".at-link[data-side='{side}'] .at-link-number").all_text_contents()
    return [int(number) for number in numbers if number]


def test_a_sentence_is_translated_and_both_sides_light_each_other(first_address: str, visit: Opener) -> None:
    page = visit(at=first_address)
    entries(page, "Translate", "Compare", "Learn")
    expect(page.locator("#attend-method input:checked")).to_have_value("Beam search")
    set_number(page, "max-new-tokens", 8)
    translate(page, SOURCE, "Control+Enter")
    expect(page.locator("#attend-given textarea")).to_have_value(SOURCE)  # the box keeps what was typed
    expect(page.locator(".at-tree, .at-beams").first).to_be_visible()
    written, source = (page.locator(f".at-link[data-side='{side}']") for side in (1, 0))
    written.nth(2).hover()
    eventually(lambda: bool(lit(page, 0)) and not lit(page, 1))
    assert 95 <= sum(lit(page, 0)) <= 105  # of one token's looks: 100 but for rounding
    words = written.nth(2).get_attribute("aria-label")
    expect(page.locator(".at-links .at-readout")).to_have_text(words or "")
    source.nth(0).focus()
    eventually(lambda: bool(lit(page, 1)) and not lit(page, 0))
    along, across = "ArrowRight", "ArrowDown"
    if page.locator(".at-upright").count():  # side by side, where the fonts are too wide for one above the other
        along, across = across, along
    page.keyboard.press(along)
    expect(source.nth(1)).to_be_focused()
    page.keyboard.press(across)
    expect(page.locator(".at-link[data-side='1']:focus")).to_have_count(1)
    page.keyboard.press("Enter")
    picked = int(page.evaluate("document.activeElement.dataset.index"))
    expect(page.locator(".at-position")).to_contain_text(f"Token {picked + 1} of")
    expect(page.locator(".attend-translation .at-tok.at-shown")).to_have_attribute("data-index", str(picked))
    page.locator(".attend-alignment select").first.select_option("all layers")
    expect(page.locator(".at-kind .at-readout").first).to_contain_text("2 layers")  # of the decoder
    expect(page.locator(".at-kind .at-readout").last).to_contain_text("3 layers")  # of the encoder


ALL = ("Chat", "Write", "Translate", "Compare", "Learn")


def test_a_tab_brings_its_model_and_going_back_brings_the_one_before(two_kinds_url: str, visit: Opener) -> None:
    page = visit(at=two_kinds_url, **PHONE)
    entries(page, *ALL)
    say(page, "Hello")
    to_tab(page, "Translate")
    uses(page, "Translate", "attend-translate")
    shorten(page)
    translate(page, SOURCE)
    expect(page.locator(".attend-translation .at-note")).to_contain_text("attend-translate")
    words = page.locator(".attend-translation .at-text").inner_text()
    to_tab(page, "Compare")
    uses(page, "Compare", "attend-chat")  # it leaves the translator with Translate
    to_tab(page, "Chat")
    uses(page, "Chat", "attend-chat")
    expect(page.locator(".at-turn")).to_have_count(2)
    expect(page.locator(".at-assistant .at-note")).to_contain_text("attend-chat")
    say(page, "And now?")
    to_tab(page, "Translate")
    uses(page, "Translate", "attend-translate")
    expect(page.locator(".attend-translation .at-text")).to_have_text(words)
    page.locator("#attend-given textarea").fill("   ")
    page.locator("#attend-go").click()
    expect(page.locator(".toast-body")).to_be_visible()
    expect(page.locator(".attend-translation > .at-translated")).to_have_count(0)  # of another text, none stays
    entries(page, *ALL)
    tops = page.locator("#attend-tabs label").evaluate_all("all => all.map((label) => label.offsetTop)")
    assert len(set(tops)) == 1  # one line
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_tab_that_is_left_before_its_model_has_come_does_not_bring_it(
    tiny: LoadedModel, tiny_translator: LoadedModel, visit: Opener
) -> None:
    come = threading.Event()

    def load(name: str, progress: Progress) -> AnyModel:
        while name == "attend-translate" and not come.wait(0.05):
            progress(0, 0)  # ends here when nobody waits any longer
        return tiny_translator if name == "attend-translate" else tiny

    with page_of(Models(("attend-chat", "attend-translate"), load)) as address:
        page = visit(at=address)
        to_tab(page, "Translate")
        expect(page.locator(".attend-loading")).to_have_text("Loading attend-translate …")
        box = page.locator("#attend-given textarea")
        box.press("Shift+Enter")
        eventually(lambda: box.input_value() == "\n")
        box.fill(SOURCE)
        page.keyboard.press("Enter")
        expect(page.locator(".toast-body")).to_contain_text("attend-translate is still loading: try again")
        to_tab(page, "Write")
        uses(page, "Write", "attend-chat")
        to_tab(page, "Translate")
        expect(page.locator(".attend-loading")).to_have_text("Loading attend-translate …")
        box = page.locator("#attend-given textarea")
        before = box.bounding_box()
        come.set()
        uses(page, "Translate", "attend-translate")
        expect(box).to_be_visible()
        assert box.bounding_box() == before  # the note lies over the page
        expect(page.locator("#attend-given textarea")).to_have_value(SOURCE)
        shorten(page)
        translate(page, SOURCE)


SLOW_TO_FOLLOW = """() => {
  const following = window.gradio_config.dependencies.filter((one) => one.trigger_after !== null).map((one) => one.id);
  const ask = window.fetch;
  window.fetch = async (resource, options) => {
    const response = await ask(resource, options);
    const joins = String(resource.url ?? resource).includes('/queue/join');
    if (joins && following.includes(JSON.parse(options.body).fn_index)) {
      await new Promise((later) => setTimeout(later, 3000));
    }
    return response;
  };
}"""


def test_what_is_done_follows_the_model_and_the_way_that_of_nobody(two_kinds_url: str, visit: Opener) -> None:
    page = visit(at=two_kinds_url)
    take(page, "attend-translate")
    uses(page, "Translate", "attend-translate")
    expect(page.locator("#attend-given textarea")).to_be_visible()
    expect(page.locator("#attend-message")).to_be_hidden()
    expect(page.locator("#attend-method input:checked")).to_have_value("Beam search")
    set_number(page, "max-new-tokens", 6)
    translate(page, SOURCE)
    take(page, "attend-chat")
    uses(page, "Chat", "attend-chat")
    expect(page.locator("#attend-message textarea")).to_be_visible()
    expect(page.locator("#attend-method input:checked")).to_have_value("Temperature")
    page.locator("#attend-method label", has_text="Greedy").click()
    take(page, "attend-translate")
    uses(page, "Translate", "attend-translate")
    expect(page.locator("#attend-method input:checked")).to_have_value("Beam search")  # nobody has chosen another here
    to_tab(page, "Chat")
    uses(page, "Chat", "attend-chat")
    expect(page.locator("#attend-method input:checked")).to_have_value("Greedy")

    take(page, "attend-translate")
    uses(page, "Translate", "attend-translate")
    page.evaluate(SLOW_TO_FOLLOW)
    page.locator("#attend-tabs label", has_text="Compare").click()
    expect(page.locator(".attend-model-coming")).to_have_attribute("data-current", "attend-chat")
    to_tab(page, "Translate")
    uses(page, "Translate", "attend-translate")
    expect(page.locator("#attend-given textarea")).to_be_visible()


def test_on_a_phone_nothing_is_too_wide_and_a_long_alignment_has_a_shade_where_it_goes_on(
    first_address: str, visit: Opener
) -> None:
    page = visit("?max_new_tokens=40&min_new_tokens=40", at=first_address, **PHONE)
    translate(page, "Le chat est grand et le chien est petit, le chat est noir.")
    plane = page.locator(".at-plane.at-upright")
    assert plane.evaluate("one => one.scrollHeight > one.clientHeight + 50")

    def edges() -> list[bytes]:
        """What is drawn at the upper and the lower edge, beside the tokens."""
        plane.scroll_into_view_if_needed()
        box = plane.bounding_box()
        assert box is not None
        x, tops = box["x"] + 2, (box["y"] + 1, box["y"] + box["height"] - 9)
        return [page.screenshot(clip={"x": x, "y": y, "width": 4, "height": 8}) for y in tops]

    plane.evaluate("one => { one.scrollTop = 0; }")
    clear, shade_below = edges()
    plane.evaluate("one => { one.scrollTop = one.scrollHeight; }")
    shade_above, clear_below = edges()
    assert clear == clear_below
    assert len({clear, shade_above, shade_below}) == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator(".at-link[data-side='1']").nth(1).tap()
    expect(page.locator(".at-link[data-side='0'] .at-link-number:not(:empty)")).not_to_have_count(0)


@pytest.fixture(scope="module")
def languages(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    translator = catalog.load(str(nllb(tmp_path_factory.mktemp("page") / "nllb")))
    several = catalog.load(str(marian_of_several(tmp_path_factory.mktemp("page") / "marian")))
    with serving(translator, tiny, several) as address:
        yield address


def test_the_languages_are_chosen_under_the_model_and_come_back_with_a_translation(
    languages: str, visit: Opener
) -> None:
    page = visit(at=languages)
    source, target = page.get_by_label("From", exact=True), page.get_by_label("To", exact=True)
    expect(source).to_have_value("eng_Latn")
    expect(target.locator("option")).to_have_text(
        ["model’s choice", "English", "French", "Simplified Chinese", "Spanish", "Traditional Chinese"]
    )
    swap = page.get_by_role("button", name="Swap languages")
    expect(swap).to_be_disabled()
    expect(swap).to_have_attribute("title", "Choose a language under “To” first")
    expect(target.locator("option:disabled")).to_have_text("English")  # it is translated from
    target.focus()
    page.keyboard.type("Fr")  # as any list, from the keyboard
    expect(target).to_have_value("fra_Latn")
    source.select_option("fra_Latn")  # the same as the other swaps both, also before the server has answered
    expect(target).to_have_value("eng_Latn")
    target.select_option("fra_Latn")
    expect(source).to_have_value("eng_Latn")
    swap.click()
    expect(source).to_have_value("fra_Latn")
    expect(target).to_have_value("eng_Latn")
    page.locator("#attend-given textarea").fill("the cat")
    page.keyboard.press("Enter")
    read = page.locator(".at-link[data-side='0']")
    expect(read.filter(has_text="fra_Latn")).to_have_count(1)  # the language token of the source
    expect(read.filter(has_text="eng_Latn")).to_have_count(0)
    pick(page, "marian")
    expect(page.get_by_label("From", exact=True)).to_be_hidden()
    expect(target).to_be_visible()
    pick(page, "tiny-chat")
    expect(target).to_be_hidden()

    pick(page, "nllb")
    uses(page, "Translate", "nllb")
    expect(source).to_have_value("fra_Latn")  # as it was left
    swap.click()
    expect(target).to_have_value("fra_Latn")
    translate(page, "the cat")
    pick(page, "tiny-chat")
    uses(page, "Chat", "tiny-chat")
    expect(page).to_have_url(re.compile("tab=Chat"))  # where the reload leads
    page.wait_for_function("JSON.parse(sessionStorage.getItem('attend-shown') ?? '{}').translate")
    reload(page)
    expect(page.locator("#attend-tabs label.selected")).to_have_text("Chat")
    to_tab(page, "Translate")
    uses(page, "Translate", "nllb")
    expect(page.locator("#attend-given textarea")).to_have_value("the cat")
    expect(source).to_have_value("eng_Latn")
    expect(target).to_have_value("fra_Latn")
    target.select_option("spa_Latn")
    page.wait_for_function("JSON.parse(sessionStorage.getItem('attend-languages')).nllb.target === 'spa_Latn'")
    reload(page)
    expect(page.locator("#attend-given textarea")).to_have_value("the cat")
    expect(target).to_have_value("spa_Latn")  # chosen, but not used
