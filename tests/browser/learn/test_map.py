"""The map in a real browser: from a chapter to its part, along the parts with the keys, and back to a chapter."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.helpers.browsing import PHONE, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import to_chapter

pytestmark = BROWSER


@pytest.fixture(scope="module")
def url(embedded_url: str) -> str:
    return embedded_url


def test_from_a_chapter_along_the_parts_with_the_keys_and_to_another_chapter(shared_page: Page) -> None:
    page = shared_page
    place = to_chapter(page, "Words as vectors").locator(".at-place")
    expect(place.locator("summary")).to_have_text("You are here: embedding")
    place.get_by_role("button", name="Open the map").click()
    part = page.get_by_role("region", name="Map", exact=True)
    title = part.locator(".at-model-map-panel h3")
    expect(title).to_have_text("Embedding")
    chosen = part.get_by_role("button", name="Embedding (11, 256) · 1,048,576 parameters, decoder")
    chosen.focus()
    for name in ("Norm", "Queries, keys, values", "Positions", "Weights", "Weighted sum"):
        page.keyboard.press("ArrowRight" if name == "Weighted sum" else "ArrowUp")
        expect(part.locator(".at-model-map-box:focus .at-model-map-title")).to_have_text(name)
    page.keyboard.press("Enter")
    expect(title).to_have_text("Weighted sum")
    expect(part.locator(".at-model-map-box:focus")).to_have_attribute("aria-pressed", "true")
    expect(part.locator(".at-model-map-code > pre")).to_contain_text("grouped @ values")
    heat = part.locator("canvas").first
    expect(heat).to_have_js_property("width", 32)  # the width of a head
    part.get_by_label("Layer", exact=True).select_option("3")
    expect(part.locator(".at-model-map-place")).to_have_text("layer 3, head 1")
    part.get_by_role("button", name="Chapter: Several heads").click()
    expect(page.get_by_role("heading", name="Several heads")).to_be_focused()


ARROWS = """() => {
  const boxes = [...document.querySelectorAll('.at-model-map-box')];
  const seen = new Set([document.querySelector('.at-model-map-box[tabindex="0"]')]);
  for (const box of seen) ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'].forEach((key) => {
    box.focus();
    box.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    seen.add(document.activeElement);
  });
  return boxes.filter((box) => !seen.has(box)).map((box) => box.dataset.part);
}"""


@pytest.mark.parametrize(("model", "parts"), [("attend-chat", 17), ("attend-translate", 37)])
def test_without_a_mouse_every_part_is_reached_and_escape_leads_back_to_it(
    shared_page: Page, model: str, parts: int
) -> None:
    page = shared_page
    part = to_chapter(page, "Map")
    part.get_by_label("Model", exact=True).select_option(model)
    boxes = part.locator(".at-model-map-box")
    expect(boxes).to_have_count(parts)
    assert page.evaluate(ARROWS) == []
    part.get_by_label("The decoder has written" if parts > 17 else "Sentence").focus()
    page.keyboard.press("Tab")
    for key in ("ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    focused = part.locator(".at-model-map-box:focus-visible")
    expect(focused.locator("rect")).to_have_css("stroke-dasharray", "4px, 2px")  # of a map drawn anew, too
    name = focused.locator(".at-model-map-title").text_content() or ""
    page.keyboard.press("Enter")
    expect(focused).to_have_attribute("aria-pressed", "true")
    expect(part.locator(".at-model-map-panel h3")).to_have_text(name)
    page.keyboard.press("Tab")
    expect(part.locator(".at-model-map-panel :focus")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(focused.locator(".at-model-map-title")).to_have_text(name)


def test_a_sentence_that_is_too_long_is_refused_and_the_map_stays(shared_page: Page) -> None:
    part = to_chapter(shared_page, "Map")
    part.get_by_label("Model", exact=True).select_option("attend-chat")
    sentence = part.get_by_label("Sentence")
    expect(sentence).to_have_value("My dog is called Max. My dog is called")
    sentence.fill("漢" * 40)
    sentence.press("Enter")
    expect(part.get_by_role("alert")).to_contain_text("at most 24 can be shown")
    expect(part.locator(".at-model-map-box")).to_have_count(17)
    sentence.fill("<b>one</b>")
    sentence.press("Enter")
    expect(part.locator(".at-picture-rows")).to_contain_text("<")
    expect(part.get_by_role("alert")).to_be_hidden()
    assert part.locator(".at-picture-rows b").count() == 0


def test_on_a_phone_both_sides_fit_and_a_chapters_place_is_one_line(visit: Opener) -> None:
    page = visit(**PHONE)
    place = to_chapter(page, "A block by hand").locator(".at-place")
    expect(place).to_have_js_property("open", False)
    assert place.bounding_box()["height"] < 30  # type: ignore[index]
    place.locator("summary").click()
    place.get_by_role("button", name="Open the map").click()
    part = page.get_by_role("region", name="Map", exact=True)
    expect(part.get_by_label("Model", exact=True)).to_have_value("attend-translate")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = part.locator("svg.at-model-map").bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
    part.get_by_role("button", name="Weights (8, 11, 11), no parameters, encoder").click()
    expect(part.locator(".at-model-map-panel h3")).to_be_in_viewport()
