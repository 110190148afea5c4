"""Learn in a real browser: its chapters, editable numbers, refusals, and the way back to the chat."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from lesson.generation.tree import WORDS
from tests.helpers.browsing import PHONE, Opener, show_predictions
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import to_chapter

pytestmark = BROWSER


@pytest.fixture(scope="module")
def url(embedded_url: str) -> str:
    return embedded_url


def test_the_switch_shows_a_side_at_once_and_what_was_typed_stays(shared_page: Page) -> None:
    page = shared_page
    page.locator("#attend-tabs label", has_text="Chat").click()
    page.locator("#attend-message textarea").fill("not sent yet")
    for name, seen in (("Learn", ".attend-lesson"), ("Compare", ".attend-compare"), ("Write", "#attend-text")) * 3:
        page.locator("#attend-tabs label", has_text=name).click()
        assert page.locator(seen).is_visible(), "no answer of the server's is waited for"
        assert not page.locator("#attend-message").is_visible()
    page.locator("#attend-tabs label", has_text="Chat").click()
    expect(page.locator("#attend-message textarea")).to_have_value("not sent yet")


def test_positions_of_any_width_and_length(shared_page: Page) -> None:
    part = to_chapter(shared_page, "Positions")
    expect(part.get_by_text("Positions as waves")).to_be_visible()
    for name, value in (("Positions, as a number", "12"), ("Numbers per position, as a number", "7")):
        part.get_by_label(name, exact=True).fill(value)
    waves = part.locator("canvas").first
    expect(waves).to_have_js_property("width", 7)
    expect(waves).to_have_js_property("height", 12)
    waves.focus()
    waves.press("ArrowDown")
    expect(part.get_by_text("position 1, column 0: 0.84 = sin(1/100000/7)")).to_be_visible()  # sin 1 = .841
    part.get_by_label("Shift, as a number", exact=True).fill("-3")
    expect(part.get_by_text("position 0 in the table: (0.00, 1.00), the same").first).to_be_visible()
    expect(part.get_by_text("not the same")).to_have_count(0)
    part.get_by_label("Shift, as a number", exact=True).fill("-4")  # there is no position before the first
    expect(part.get_by_text("a whole number from −3 to 64")).to_be_visible()
    part.get_by_role("button", name="Reset").click()
    expect(waves).to_have_js_property("width", 64)


def test_a_weighted_sum_is_computed_again_and_a_wrong_number_loses_nothing(shared_page: Page) -> None:
    part = to_chapter(shared_page, "A weighted sum of words")
    expect(part.get_by_text("0.80 · (5, 7) + 0.20 · (0, 8) = (4.00, 7.20)")).to_be_visible()
    fruit = part.get_by_role("grid", name="Similarity of apple to").get_by_label("fruit")
    fruit.fill("1")
    fruit.press("Enter")
    expect(part.get_by_text("0.50 · (5, 7) + 0.50 · (0, 8) = (2.50, 7.50)").first).to_be_visible()
    fruit.fill("-2")
    fruit.press("Enter")
    expect(part.page.get_by_role("alert").filter(has_text="not negative")).to_be_in_viewport()
    expect(fruit).to_have_value("-2")
    expect(part.get_by_text("(2.50, 7.50)").first).to_be_visible()
    part.get_by_role("button", name="Reset").click()
    expect(fruit).to_have_value("0.25")


def test_why_attention_from_one_state_to_three_translators(shared_page: Page) -> None:
    part = to_chapter(shared_page, "Why attention")
    cards, maps = part.locator(".at-translator"), part.locator(".at-alignments .at-matrix")
    expect(cards).to_have_count(3)
    expect(maps).to_have_count(2)
    expect(part.locator(".at-bleu li")).to_have_count(12)  # three models, four lengths
    expect(part.locator(".at-meetings svg .path")).to_have_count(7 + 2 + 1)  # of eight words, three at once
    expect(part.locator(".at-reach polyline")).to_have_count(4 + 3)  # gradients, and who loses “it”
    part.get_by_role("button", name="Measure it now").click()
    expect(part.get_by_role("region", name="Time to read a text").locator("tbody tr")).to_have_count(9)
    steps = part.locator(".at-unrolled-step")
    expect(steps).to_have_count(7)
    steps.nth(4).click()
    expect(part.get_by_role("grid", name="Decoder, word 2 of 4: “am”")).to_be_visible()
    expect(cards).to_have_count(3)
    before = cards.first.inner_text()
    part.get_by_role("button", name="Nous avons besoin de plus de temps").click()
    expect(maps.first.locator("thead th").first).to_have_text("Nous")
    expect(cards.first).not_to_have_text(before, use_inner_text=True)
    sentence = part.get_by_label("French sentence")
    sentence.fill("漢" * 50)
    sentence.press("Enter")
    expect(part.get_by_role("alert").filter(has_text="The French sentence has")).to_be_visible()
    expect(cards).to_have_count(3)


def test_attention_by_hand_explains_each_number_and_follows_what_is_entered(shared_page: Page) -> None:
    part = to_chapter(shared_page, "Attention by hand")
    line, scores = part.locator(".at-explanation"), part.get_by_role("grid", name="Scores Q Kᵀ")
    scores.locator("tbody td").nth(6).focus()  # it → animal
    expect(line).to_contain_text("= 4.00")
    expect(part.get_by_role("grid", name="Queries Q").locator(".at-lit")).to_have_text(["2.00", "0.00"])
    query = part.get_by_role("grid", name="W_q").locator("input").nth(1)
    query.fill("-2")
    query.press("Enter")
    expect(part.get_by_text("q = (1, 1) · W_q = (1 · 1 + 1 · 1, 1 · −2 + 1 · 1) = (2, −1)")).to_be_visible()
    part.get_by_text("hide the last word, as padding").click()
    hidden = part.get_by_role("grid", name="Mask M").locator(".at-matrix-none")
    expect(hidden).to_have_count(4)
    expect(part.get_by_text("0.15 · je + 0.05 · suis + 0.80 · étudiant")).to_be_visible()
    part.get_by_role("button", name="Reset").click()
    expect(hidden).to_have_count(6)


def test_shuffled_words_have_the_same_vectors_until_positions_are_added(shared_page: Page) -> None:
    part = to_chapter(shared_page, "A weighted sum of words")
    expect(part.get_by_role("button", name="Shuffle the words")).to_be_hidden()
    part.get_by_label("Nothing: it stays exactly the same.").check()
    part.get_by_role("button", name="Guess", exact=True).click()
    part.get_by_role("button", name="Shuffle the words").click()
    expect(part.get_by_text("No vector has changed")).to_be_visible()
    part.get_by_label("add positions").check()
    expect(part.get_by_text("with positions, word order matters")).to_be_visible()
    part.get_by_role("button", name="Reset").click()
    expect(part.get_by_text("with positions, word order matters")).to_be_hidden()


def test_a_words_attention_head_by_head(shared_page: Page) -> None:
    part = to_chapter(shared_page, "Attention in real sentences")
    show_predictions(part)
    strip = part.get_by_role("group", name="Tokens, shaded")
    expect(strip.get_by_role("button").first).to_be_visible()
    shades = strip.get_by_role("button").evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
    animal = strip.get_by_role("button").all_text_contents().index("animal")
    assert shades[animal] not in (*shades[:animal], *shades[animal + 1 :]), "the head that attends most to it is shown"
    strip.get_by_role("button").first.click()
    expect(part.get_by_text("Layer 1, head 1")).to_have_count(0)
    part.get_by_role("grid", name="How much each head (h) attends").locator("tbody td").first.focus()
    expect(part.get_by_text("Layer 1, head 1: “")).to_be_visible()
    sentence = part.get_by_label("Sentence", exact=True)
    sentence.fill("A cat sleeps here")
    sentence.press("Enter")
    expect(part.get_by_label("Word").first).to_have_value("here")
    word = part.get_by_label("Word").first
    word.fill("<img src=x onerror=alert(1)>")
    word.press("Enter")
    expect(part.page.get_by_role("alert").filter(has_text="is not a word of")).to_be_visible()


def test_a_words_vectors_part_by_meaning_from_layer_to_layer(shared_page: Page) -> None:
    part = to_chapter(shared_page, "A word in its context")
    part.get_by_role("button", name="Show it without a guess").click()
    expect(part.get_by_text("After layer 6: average cosine")).to_be_visible()
    points = part.get_by_role("img", name="Map of “apple” in 8 sentences")
    for shape in ("circle", "rect"):
        expect(points.locator(shape)).to_have_count(4)
    layer = part.get_by_role("slider", name="Layer", exact=True)
    layer.focus()
    layer.press("Home")
    expect(part.get_by_text("After layer 0: average cosine")).to_be_visible()
    expect(part.get_by_role("grid", name="“apple” after layer 0: cosines")).to_be_visible()
    part.get_by_role("button", name="bank", exact=True).click()
    expect(part.get_by_role("img", name="Map of “bank” in 8 sentences")).to_be_visible()
    expect(part.get_by_text("After layer 0: average cosine")).to_be_visible()
    expect(part.get_by_label("One meaning (circles)")).to_have_value(re.compile("bank of the river"))
    cell = part.get_by_role("grid", name="In “apple, phone”").get_by_label("phone, weight")
    cell.fill("0.5")
    cell.press("Enter")
    expect(part.get_by_text("0.9 · (5, 7) + 0.5 · (6, 0) = (7.5, 6.3)")).to_be_visible()


def test_a_text_grows_token_by_token_and_its_settings_open_in_compare(shared_page: Page) -> None:
    part = to_chapter(shared_page, "How a text is generated")
    strip, candidates = part.locator(".at-gen-written"), part.get_by_role("list", name="Most probable next tokens")
    expect(candidates.get_by_role("button").first).to_be_visible()
    for count in (1, 2):
        part.get_by_role("button", name="Next token").click()
        expect(strip).to_have_count(count)
    candidates.get_by_role("button").nth(1).click()  # the visitor's choice, not the loop's
    expect(strip).to_have_count(3)
    expect(candidates.get_by_role("button").first).to_be_focused()
    expect(part.get_by_role("region", name="Tokens so far").locator("tbody tr")).to_have_count(3)
    part.get_by_role("button", name="To the end").click()
    expect(part.get_by_role("button", name="Next token")).to_be_disabled()
    expect(part.get_by_role("button", name="Undo")).to_be_focused()
    expect(
        part.get_by_text("the loop stops, whether or not").or_(part.get_by_text("the text is finished"))
    ).to_be_visible()
    part.get_by_role("button", name="Undo").click()
    expect(part.get_by_role("button", name="Next token")).to_be_enabled()
    part.get_by_text("at random, by probability").click()
    expect(strip).to_have_count(0)
    expect(part.get_by_text("The random number 0.")).to_be_visible()

    bars = part.get_by_role("list", name="Probability of each word").get_by_role("listitem")
    expect(bars.first).to_have_attribute("title", "forward: 57.21\u00a0% → 57.21\u00a0%")
    part.get_by_role("button", name="top-p 0.9").click()
    expect(bars.nth(2)).to_contain_text("cut by top-p")
    settings = part.get_by_role("region", name="What the settings do to one")
    settings.get_by_label("Temperature, as a number").fill("7")
    expect(part.get_by_text("a number from 0.1 to 5")).to_be_visible()
    used = part.get_by_role("grid", name="Times used so far").get_by_label("pizza")
    used.fill("12")
    used.press("Enter")
    expect(part.page.get_by_role("alert").filter(has_text="A word is used 12 times")).to_be_in_viewport()
    used.press("Escape")
    expect(
        part.locator(".at-lesson-refused, .at-lesson-waits").filter(visible=True).filter(has_text=" ")
    ).to_have_count(0)

    expect(part.get_by_text("“The dog has”: 0.4 × 0.9 = 0.36")).to_be_visible()
    part.get_by_text("1", exact=True).and_(part.locator(".at-switch span")).click()
    expect(part.get_by_text("With one beam, beam search is greedy decoding.")).to_be_visible()
    part.get_by_text("3", exact=True).and_(part.locator(".at-switch span")).click()
    house = part.get_by_label("Probability of house after nice")
    house.fill("1,5")
    house.press("Enter")
    expect(part.get_by_role("alert").filter(has_text="“1,5” can’t be a probability")).to_be_visible()
    house.fill("0")
    house.press("Enter")
    expect(part.get_by_text("The numbers after “nice” add up to 0.7")).to_be_visible()

    prompt = part.get_by_label("Text", exact=True).input_value()
    part.get_by_role("button", name="Open in Compare").click()
    cards = shared_page.locator(".at-card h3")
    expect(cards).to_have_text(["1 Greedy", "2 Beam search", "3 Sampling", "4 Sampling · Top-p 0.9"])
    expect(shared_page.get_by_label("Prompt for all cards")).to_have_value(prompt)


def test_the_words_of_the_tree_are_ones_own_and_go_into_the_link(shared_page: Page) -> None:
    page = shared_page
    part = to_chapter(page, "How a text is generated")
    part.get_by_role("region", name="Greedy decoding or beam search").get_by_role("button", name="Reset").click()
    dog, search = part.get_by_label("Word 2 after The"), part.get_by_text("Beam search with 2 beams finds")
    expect(search).to_contain_text("“The dog has”")
    part.get_by_label("Probability of dog after The").focus()
    page.keyboard.press("Tab")
    expect(dog).to_be_focused()
    page.keyboard.type("<b>cat</b>")
    page.keyboard.press("Enter")
    expect(search).to_contain_text("“The <b>cat</b> has”: 0.4 × 0.9 = 0.36")
    expect(part.get_by_label("Probability of has after <b>cat</b>")).to_have_value("0.9")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    part.get_by_role("button", name="Copy a link to this page").click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.includes('generation'))")
    (numbers,) = parse_qs(urlsplit(page.evaluate("navigator.clipboard.readText()")).query)["numbers"]
    assert json.loads(numbers)["words"] == [*WORDS[:2], "<b>cat</b>", *WORDS[3:]]

    dog.fill("a" * 21)
    dog.press("Enter")
    refused = part.get_by_role("alert").filter(has_text="has 21 characters, but a word of the tree may have at most 20")
    expect(refused).to_be_in_viewport()
    expect(search).to_contain_text("“The <b>cat</b> has”")
    dog.press("Escape")
    expect(dog).to_have_value("<b>cat</b>")
    expect(refused).to_be_hidden()
    part.get_by_role("region", name="Greedy decoding or beam search").get_by_role("button", name="Reset").click()
    expect(dog).to_have_value("dog")
    expect(search).to_contain_text("“The dog has”")


def test_the_lesson_fits_a_phone(visit: Opener) -> None:
    page = visit(**PHONE)
    for title in (
        "Positions",
        "Why attention",
        "Attention by hand",
        "How a text is generated",
        "A word in its context",
    ):
        to_chapter(page, title)
        expect(page.locator(".at-lesson-waits").first).to_have_text("")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        expect(page.locator(".at-lesson-list [aria-current]")).to_be_in_viewport(ratio=1)
    part = to_chapter(page, "How a text is generated")
    word = part.get_by_label("Word 1 after nice")
    word.tap()
    word.fill("a word of 20 letters")
    word.blur()
    expect(part.get_by_text("Greedy decoding finds “The nice a word of 20 letters”")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_chapters_stand_where_the_settings_were_and_lines_are_short(shared_page: Page) -> None:
    text = to_chapter(shared_page, "Positions").locator(".at-lesson-text").first
    expect(shared_page.locator("#attend-model-chosen")).to_be_hidden()
    chapters, settings = (shared_page.locator(name).bounding_box() for name in (".at-lesson-list", "#attend-settings"))
    assert chapters and settings and (chapters["x"], chapters["width"]) == (settings["x"], settings["width"])
    letters = text.evaluate(
        "one => { const { fontSize, fontFamily } = getComputedStyle(one);"
        " const pen = document.createElement('canvas').getContext('2d'); pen.font = `${fontSize} ${fontFamily}`;"
        " return one.clientWidth / (pen.measureText(one.textContent).width / one.textContent.length) }"
    )
    assert 60 <= letters <= 80


def test_the_end_of_a_chapter_leads_to_those_beside_it(shared_page: Page) -> None:
    page = shared_page
    first = to_chapter(page, "Tokens, side by side")
    links = first.get_by_role("navigation", name="Previous and next chapter").get_by_role("button")
    expect(links).to_have_text(["A vocabulary of your own →"])
    links.click()
    second = page.get_by_role("region", name="A vocabulary of your own", exact=True)
    expect(second.get_by_role("heading", name="A vocabulary of your own")).to_be_focused()
    expect(first).to_be_hidden()
    expect(page.locator(".at-lesson-list [aria-current]")).to_contain_text("A vocabulary of your own")
    second.get_by_role("button", name="← Tokens, side by side").click()
    expect(first).to_be_visible()
