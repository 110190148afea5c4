"""The chapters on tokens, vocabularies and vectors in a real browser, as visitors use them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from model import names
from tests.helpers.browsing import PHONE, Opener, show_predictions
from tests.helpers.stage import BROWSER, HOSTILE
from tests.helpers.visitor import to_chapter

pytestmark = BROWSER
EMBEDDED = pytest.mark.skipif("attend-chat" not in names.embedded(), reason="the embedded models are not there")
TOKENS, VOCABULARY, VECTORS = "Tokens, side by side", "A vocabulary of your own", "Words as vectors"


@pytest.fixture(scope="module")
def url(embedded_url: str) -> str:
    return embedded_url


def learn(page: Page, title: str) -> Locator:
    """Open a chapter and wait for its first result."""
    chapter = to_chapter(page, title)
    expect(chapter.locator(".at-cut, .at-small td, .at-word-dot").first).to_be_visible()
    return chapter


def cut(chapter: Locator, name: str) -> Locator:
    return chapter.get_by_role("region", name=name, exact=True).first


def ids(chapter: Locator, name: str) -> list[str]:
    return cut(chapter, name).locator(".at-piece small").all_text_contents()


def test_a_text_is_cut_as_it_is_typed(shared_page: Page) -> None:
    chapter = learn(shared_page, TOKENS)
    box = chapter.get_by_label("Text to split")
    box.fill("a rose is a rose")
    expect(cut(chapter, "Words")).to_contain_text("5 tokens")
    expect(cut(chapter, "Words").locator(".at-piece small")).to_have_text(["0", "1", "2", "0", "1"])
    expect(cut(chapter, "Bytes")).to_contain_text("16 tokens")
    assert ids(chapter, "Bytes")[:3] == ["97", "32", "114"]  # a, a space, r in ASCII
    expect(cut(chapter, "Bytes")).to_contain_text("same text")
    box.fill("a rose, is")
    expect(cut(chapter, "Words")).to_contain_text("Lost: white space. Decodes to a rose , is.")


def test_hostile_texts_are_shown_as_they_are(shared_page: Page) -> None:
    chapter = learn(shared_page, TOKENS)
    text = " ".join(HOSTILE)
    chapter.get_by_label("Text to split").fill(text)
    expect(cut(chapter, "Characters")).to_contain_text(f"{len(text)} tokens")
    content = "".join(cut(chapter, "Words").locator(".at-piece .at-chip").all_text_contents())
    assert "<img" in content and "${7*7}" in content and "{{x}}" in content and "U+202E" in content
    assert chapter.locator("img").count() == 0


def test_what_is_refused_leaves_what_is_shown_and_typed(shared_page: Page) -> None:
    chapter = learn(shared_page, TOKENS)
    before = ids(chapter, "Words")
    box = chapter.get_by_label("Text to split")
    box.fill("a" * 2_001)
    expect(chapter.get_by_role("alert")).to_contain_text("2,001")
    expect(box).to_have_value("a" * 2_001)
    box.fill("   ")
    expect(chapter.get_by_role("alert")).not_to_contain_text("2,001")
    expect(chapter.get_by_role("alert")).not_to_be_empty()
    expect(box).to_have_value("   ")
    assert ids(chapter, "Words") == before
    chapter.get_by_role("button", name="Many scripts").click()
    expect(chapter.get_by_role("alert")).to_be_hidden()
    expect(cut(chapter, "Words")).to_contain_text("नमस्ते")
    chapter.get_by_role("button", name="Reset").click()
    expect(cut(chapter, "Words")).to_contain_text("quick")


def test_merges_are_stepped_through_and_a_new_word_is_split(shared_page: Page) -> None:
    chapter = learn(shared_page, VOCABULARY)
    show_predictions(chapter)
    merges, new = chapter.get_by_role("slider", name="Merges"), chapter.locator(".at-segmentations dd").last
    expect(chapter).to_contain_text("Merges: 5 of 15")
    expect(new.locator(".at-piece")).to_have_text(["low", "est</w>"])
    merges.focus()
    merges.press("ArrowLeft")
    expect(chapter).to_contain_text("Merges: 4 of 15")
    expect(new.locator(".at-piece")).to_have_text(["lo", "w", "est</w>"])
    expect(chapter.get_by_role("region", name="Pairs").locator("tbody tr").first).to_contain_text("next")
    number = chapter.get_by_role("spinbutton", name="Merges, as a number")
    for wrong in ("99", "-1", "2.5", ""):
        number.fill(wrong)
        expect(chapter.get_by_text("a whole number from 0 to 15")).to_be_visible()
        expect(chapter).to_contain_text("Merges: 4 of 15")
    number.fill("4")
    expect(chapter.get_by_text("a whole number from 0 to 15")).to_be_hidden()
    chapter.get_by_label("New text", exact=True).fill("slower")
    expect(chapter.locator(".at-segmentations dd").first.locator("[data-unknown]")).to_have_text("slower")
    expect(new.locator(".at-piece")).to_have_text(["s", "lo", "w", "e", "r", "</w>"])
    chapter.get_by_label("Sentences to learn from").fill("aaa aaa")
    expect(chapter).to_contain_text("Merges: 3 of 3")
    chapter.get_by_role("button", name="Reset").click()
    expect(chapter).to_contain_text("Merges: 5 of 15")
    expect(new.locator(".at-piece")).to_have_text(["low", "est</w>"])


@EMBEDDED
def test_analogies_say_where_they_fail(shared_page: Page) -> None:
    chapter = learn(shared_page, VECTORS)
    show_predictions(chapter)
    expect(chapter).to_contain_text("going − go + come is nearest to coming, as expected. To “come” alone, it is only")
    chapter.get_by_role("button", name="mother − father + brother").click()
    expect(chapter).to_contain_text("But so is “brother” alone, without the step: this analogy shows nothing.")
    chapter.get_by_label("Expected").fill("unheard")
    expect(chapter).to_contain_text("“unheard” is left out: it is not a single token of this model.")
    chapter.get_by_label("Model", exact=True).select_option("attend-translate")
    expect(chapter).to_contain_text("6,000 tokens")
    # the sum of the pairs in its README.md
    expect(chapter).to_contain_text("learned from 294,000 pairs of mostly short sentences")
    chapter.get_by_role("button", name="mother − father + brother").click()
    expect(chapter).to_contain_text("“sister” is number")
    chapter.get_by_label("Word", exact=True).fill("winter")
    neighbours = chapter.get_by_role("region", name="Nearest neighbours").locator("tbody tr")
    expect(neighbours.first).to_contain_text("summer")
    chapter.get_by_role("button", name="Reset").click()
    expect(chapter).to_contain_text("4,096 tokens")
    expect(chapter).not_to_contain_text("sentence pairs")
    expect(chapter.get_by_label("Word", exact=True)).to_have_value("dog")


@EMBEDDED
def test_the_map_shows_every_word_once_and_its_neighbours(shared_page: Page) -> None:
    chapter = learn(shared_page, VECTORS)
    chapter.get_by_label("Words to compare").fill("two three four, red blue")
    expect(chapter.locator(".at-word-dot")).to_have_count(5)
    expect(chapter.locator(".at-word-label")).to_have_count(5)
    expect(chapter.get_by_role("grid", name="Cosine similarities").locator("tbody tr")).to_have_count(5)
    slider = chapter.get_by_role("slider", name="Neighbours of each")
    slider.focus()
    slider.press("ArrowLeft")
    expect(chapter.locator(".at-word-near")).to_have_count(0)
    chapter.get_by_label("Words to compare").fill("two three")
    expect(chapter.get_by_role("alert")).to_be_visible()
    expect(chapter.locator(".at-word-dot")).to_have_count(5)
    chapter.get_by_role("button", name="Reset").click()
    expect(chapter.get_by_role("alert")).to_be_hidden()


_TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  const inside = document.querySelectorAll('.attend-lesson :is(p, input, textarea, button, svg)');
  const wide = [...inside].filter((node) => node.checkVisibility()
    && !node.closest('nav, .at-matrix-scroll, .at-small-scroll')
    && node.getBoundingClientRect().right > width + 1).map((node) => node.outerHTML.slice(0, 80));
  return document.documentElement.scrollWidth > width ? [...wide, 'the page'] : wide;
}"""


def test_nothing_is_wider_than_the_page(shared_page: Page, visit: Opener) -> None:
    wide = {}
    for page, width in ((shared_page, "desk"), (visit(**PHONE), "phone")):
        for title in (TOKENS, VOCABULARY, *([VECTORS] if "attend-chat" in names.embedded() else [])):
            show_predictions(learn(page, title))
            wide[f"{title}, {width}"] = page.evaluate(_TOO_WIDE)
    assert not any(wide.values()), wide
