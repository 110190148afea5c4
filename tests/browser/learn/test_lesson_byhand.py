"""The chapters on the small transformer in a real browser: numbers explained, edited, refused and trained."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from lesson.block import BlockSettings
from lesson.forward_trace import trace_forward
from lesson.training import StepSettings, train
from tests.helpers.browsing import PHONE, Opener, show_predictions
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import to_chapter
from tests.helpers.waiting import eventually

pytestmark = BROWSER
BLOCK, TRAINING = "A block by hand", "One training step"


def learn(page: Page, title: str) -> Locator:
    """Open a chapter and wait for its first result."""
    chapter = to_chapter(page, title)
    expect(chapter.locator("tbody td:visible").filter(has_text="0.").first).to_be_visible()
    return chapter


def tables(chapter: Locator, caption: str) -> Locator:
    return chapter.get_by_role("grid", name=caption, exact=True)


def explains(chapter: Locator, text: str) -> None:
    """Wait until this is the explanation, in which word joiners don't count."""
    line = chapter.locator(".at-explanation")
    eventually(lambda: (line.text_content() or "").replace("\u2060", "") == text)


def written(number: float, digits: int = 2) -> str:
    return f"{number:.{digits}f}".replace("-", "−")


def test_a_score_is_written_out_and_lights_what_it_came_from(shared_page: Page) -> None:
    chapter, traced = learn(shared_page, BLOCK), trace_forward(BlockSettings())
    scores = tables(chapter, "Scores Q Kᵀ").first
    scores.locator("tbody td").nth(3).focus()  # are → how
    queries, keys, score = (traced[f"encoder.self.{part}"].values[0] for part in ("queries", "keys", "scores"))
    terms = zip(queries[1].tolist(), keys[0].tolist(), strict=True)
    products = " + ".join(f"({written(q)})({written(k)})" for q, k in terms)
    explains(chapter, f"Scores Q Kᵀ, are → how: {products} = {written(score[1, 0].item())}")
    lit = tables(chapter, "Queries Q").first.locator(".at-lit")
    expect(lit).to_have_text([written(number) for number in queries[1].tolist()])
    expect(tables(chapter, "Keys K").first.locator(".at-lit")).to_have_text([written(k) for k in keys[0].tolist()])
    expect(scores.locator(".at-lit")).to_have_text(written(score[1, 0].item()))


def test_every_table_tells_how_its_numbers_came_about(shared_page: Page) -> None:
    page = shared_page
    chapter = learn(page, BLOCK)
    chapter.get_by_role("combobox", name="Heads").select_option("2")
    chapter.get_by_label("Look-ahead mask in the encoder").check()
    expect(tables(chapter, "Masked, head 2").first).to_be_visible()
    captions = page.evaluate(
        """() => {
          document.querySelectorAll('.at-lesson-block details').forEach((one) => { one.open = true; });
          const line = document.querySelector('.at-lesson-block .at-explanation');
          return [...document.querySelectorAll('.at-lesson-block .at-matrix')].map((figure) => {
            if (!figure.checkVisibility()) return null;
            const cells = [...figure.querySelectorAll('tbody td')];
            const cell = cells.at(-1).querySelector('input') ?? cells.at(-1);
            cell.focus({ preventScroll: true });
            const caption = figure.querySelector('.at-matrix-name').textContent;
            return [caption, cell.value ?? cell.textContent, line.textContent];
          }).filter(Boolean);
        }"""
    )
    assert len(captions) > 80  # 77 stages, many with two heads
    for caption, number, line in captions:
        assert line.startswith(caption), line
        value = line.split(" = ")[-1]
        assert value == number or value == written(float(number.replace("−", "-"))), (line, number)
        assert "undefined" not in line and "NaN" not in line, line
    chapter.get_by_role("button", name="Reset").click()
    expect(tables(chapter, "Masked, head 2")).to_have_count(0)


def test_a_changed_number_changes_what_follows_until_one_starts_again(shared_page: Page) -> None:
    page = shared_page
    chapter = learn(page, BLOCK)
    embeddings, sums = tables(chapter, "Embeddings").first, tables(chapter, "Sum x").first
    embeddings.locator("input").first.click()
    page.keyboard.type("2,5")
    page.keyboard.press("ArrowDown")  # leaves the field, which is when it is taken
    expect(sums.locator("tbody td").first).to_have_text("2.50")  # sin 0 is 0
    expect(embeddings.locator("input").first).to_have_value("2.50")
    expect(embeddings.locator("input").nth(6)).to_be_focused()
    chapter.get_by_label("The encoder reads: add a word").click()
    expect(sums.locator("tbody tr")).to_have_count(4)
    expect(sums.locator("tbody td").first).to_have_text("2.50")
    chapter.get_by_role("button", name="Reset").click()
    expect(sums.locator("tbody tr")).to_have_count(3)
    expect(sums.locator("tbody td").first).to_have_text("−0.25")
    expect(embeddings.locator("input").first).to_have_value("−0.25")


def test_what_is_no_number_or_too_large_stays_as_it_was_typed(shared_page: Page) -> None:
    page = shared_page
    chapter = learn(page, BLOCK)
    first = tables(chapter, "Embeddings").first.locator("input").first
    sums = tables(chapter, "Sum x").first.locator("tbody td").first
    first.fill("1e")
    first.press("Enter")
    expect(chapter.get_by_role("alert").filter(has_text="“1e” is not a number")).to_be_visible()
    for typed, message in (
        (" ", "The cell is empty: enter a number such as −0.25."),
        ("a" * 20 + "b" * 3_000 + "c" * 20, f"“{'a' * 20}…{'c' * 20}” is not a number: enter a number such as −0.25."),
        ("1e400", "“1e400” is too large a number: enter a number such as −0.25."),
    ):
        first.fill(typed)
        first.press("Enter")
        expect(chapter.get_by_role("alert").filter(has_text=message)).to_be_visible()
    first.fill("1e9")  # a number, which the server refuses by its limit
    first.press("Enter")
    limit = "Embeddings can't contain 1000000000: each must be a number from −100 to 100."
    expect(chapter.get_by_role("alert").filter(has_text=limit)).to_be_visible()
    first.fill("1000")
    first.press("Enter")
    refused = "Embeddings can't contain 1000: each must be a number from −100 to 100."
    expect(chapter.get_by_role("alert").filter(has_text=refused)).to_be_visible()
    expect(first).to_have_value("1000")
    expect(sums).to_have_text("−0.25")
    first.press("Escape")
    expect(first).to_have_value("−0.25")
    expect(chapter.get_by_text(refused)).to_be_hidden()


def test_a_held_number_is_not_lost_to_the_pointer(shared_page: Page) -> None:
    page = shared_page
    chapter = learn(page, BLOCK)
    positions = tables(chapter, "Positions").first.locator("tbody td")
    positions.nth(0).hover()
    explains(chapter, "Positions, how: sin(0/100000/6) = 0.00")
    positions.nth(7).click()
    explains(chapter, "Positions, are: cos(1/100000/6) = 0.54")
    positions.nth(0).hover()
    explains(chapter, "Positions, are: cos(1/100000/6) = 0.54")


def test_training_goes_on_step_by_step_and_starts_again(shared_page: Page) -> None:
    chapter = learn(shared_page, TRAINING)
    one, two = (train(StepSettings(step=step)).losses for step in (1, 2))
    line = chapter.get_by_text("the loss goes from")
    expect(line).to_contain_text(f"Step 1: the loss goes from {one[0]:.3f} to {one[1]:.3f}")
    list_items = chapter.locator(".at-targets li")
    expect(list_items).to_have_text([re.compile(rf"^\s*{words}\s*→") for words in ("<sos>", "<sos> I", "<sos> I am")])
    chapter.get_by_role("button", name="Take a step").click()
    expect(line).to_contain_text(f"Step 2: the loss goes from {two[1]:.3f} to {two[2]:.3f}")
    chapter.get_by_role("button", name="Take ten steps").click()
    expect(line).to_contain_text("Step 12:")
    chapter.get_by_label("Learning rate", exact=True).fill("")
    chapter.get_by_label("Learning rate", exact=True).press("Tab")
    expect(chapter.get_by_text("a number from 0.000001 to 1")).to_be_visible()
    expect(line).to_contain_text("Step 12:")
    chapter.get_by_label("Learning rate", exact=True).fill("0.1")
    chapter.get_by_label("Learning rate", exact=True).press("Tab")
    expect(line).to_contain_text("Step 1:")
    chapter.get_by_role("button", name="Reset").click()
    expect(line).to_contain_text(f"Step 1: the loss goes from {one[0]:.3f} to {one[1]:.3f}")
    expect(chapter.get_by_label("Learning rate", exact=True)).to_have_value("0.01")
    expect(chapter.get_by_text("a number from")).to_be_hidden()


def test_another_matrix_is_shown_and_its_change_written_out(shared_page: Page) -> None:
    chapter = learn(shared_page, TRAINING)
    update = train(StepSettings(matrix="embedding")).update
    chapter.get_by_role("radio", name="embedding").focus()
    chapter.page.keyboard.press("Space")
    expect(tables(chapter, "Gradient, g").locator("tbody tr")).to_have_count(11)
    expect(tables(chapter, "Gradient, g").locator("tbody th")).to_contain_text(["<sos>", "<eos>", "hello"])
    tables(chapter, "First moment, m").locator("tbody td").first.focus()
    gradient, moment = (f"{value[0, 0].item():.3g}".replace("-", "−") for value in (update.gradient, update.first))
    explains(chapter, f"First moment, m: 0.9 · 0 + 0.1 · {gradient} = {moment}")
    chapter.get_by_role("button", name="Reset").click()
    expect(chapter.get_by_role("radio", name="embedding")).not_to_be_checked()


def test_the_line_covers_no_number_that_the_keys_reach(shared_page: Page) -> None:
    page = shared_page
    chapter = learn(page, TRAINING)
    cells = tables(chapter, "Weights before, w").locator("tbody td")
    page.evaluate("scrollTo(0, 0)")
    cells.first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowDown")
        below = "document.activeElement.getBoundingClientRect().bottom"
        assert page.evaluate(
            f"{below} <= document.querySelector('.at-lesson-training .at-explanation').getBoundingClientRect().top"
        )


_CUT_OFF = """() => {
  const shown = (selector) => [...document.querySelectorAll(`.at-lesson-block ${selector}`)]
    .filter((one) => one.checkVisibility());
  const right = document.documentElement.clientWidth;
  return [
    ...shown('.at-matrix input').filter((field) => field.scrollWidth > field.clientWidth).map((field) => field.value),
    ...shown('.at-formula').filter((one) => one.getBoundingClientRect().right > right).map((one) => one.textContent),
    ...shown('.at-references pre').filter((one) => parseFloat(getComputedStyle(one).paddingTop) < 6)
      .map((one) => one.ariaLabel),
  ];
}"""


def test_a_phone_needs_no_scrolling_sideways_shows_the_line_and_cuts_nothing_off(visit: Opener) -> None:
    """“−0.319” needs more room than “0.32”, a long formula scrolls, and code keeps away from the edge of its box."""
    page = visit(**PHONE)
    for title in (BLOCK, TRAINING):
        chapter = learn(page, title)
        assert page.evaluate("document.documentElement.scrollWidth") == 390, title
        chapter.locator("tbody td").filter(has_text="0.").nth(8).tap()
        expect(chapter.locator(".at-explanation")).to_be_in_viewport()
        expect(chapter.locator(".at-explanation")).to_contain_text("=")

    chapter = learn(page, BLOCK)
    show_predictions(chapter)
    page.get_by_label("Show code").check()
    chapter.evaluate("one => one.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    expect(tables(chapter, "Query weights").first).to_be_visible()
    expect(chapter.get_by_text("def two_layers").first).to_be_visible()
    assert page.evaluate(_CUT_OFF) == []
