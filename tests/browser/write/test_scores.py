"""Any text: what Write says of a text that is scored, in a real browser."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

import attend
from decoding.run.score import TextScore, score_text, score_windows
from model.loaded import LoadedModel
from tests.helpers.browsing import serving
from tests.helpers.stage import BROWSER, HOSTILE
from tests.helpers.visitor import to_tab
from tests.helpers.waiting import eventually
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write.scores import answers, score_events

pytestmark = BROWSER

TEXT = "The quick fox and the lazy dog."
LONG = "The quick brown fox jumps over the lazy dog. " * 24  # windows of the tiny models, which read 128 tokens


@pytest.fixture(scope="module")
def url(tiny: LoadedModel, tiny_writer: LoadedModel) -> Iterator[str]:
    with serving(tiny, tiny_writer) as served:
        yield served


@pytest.fixture
def page(shared_page: Page) -> Page:
    to_tab(shared_page, "Write")
    return shared_page


def press_score(page: Page, text: str) -> Locator:
    page.locator("#attend-text textarea").fill(text)
    page.get_by_role("button", name="Score this text").click()
    return page.get_by_role("region", name="How surprising the text is")


def strip(panel: Locator) -> Locator:
    return panel.get_by_role("listbox", name="Tokens of the scored text").get_by_role("option")


def sums(panel: Locator) -> list[list[str]]:
    """The rows of the table of sums."""
    rows = panel.get_by_role("table", name="The text as a whole").locator("tbody tr")
    return [row.locator("th, td").all_text_contents() for row in rows.all()]


def test_a_text_is_scored_read_token_by_token_and_saved(
    page: Page, tiny: LoadedModel, tiny_writer: LoadedModel
) -> None:
    panel, score = press_score(page, TEXT), attend.Model(tiny).score(TEXT)
    tokens = strip(panel)
    expect(tokens.filter(has_text="fox")).to_be_visible()
    surprises = [-math.log2(token.probability) for token in score.tokens]
    expect(tokens).to_have_count(len(surprises))
    [[_, bits_per_byte, *_, count]] = sums(panel)
    assert (bits_per_byte, count) == (f"{score.bits_per_byte:.3f}", str(len(surprises)))

    readout = panel.locator(".at-scores-readout")
    most = max(range(len(surprises)), key=surprises.__getitem__)
    expect(readout).to_contain_text(f"{surprises[most]:.2f} bits")  # the most surprising token is selected
    curve = panel.get_by_role("img", name="Surprise over the text")
    curve.focus()
    for _ in surprises:
        page.keyboard.press("ArrowLeft")
    expect(readout).to_contain_text(f"{surprises[0]:.2f} bits")
    page.keyboard.press("Enter")
    expect(tokens.first).to_have_attribute("aria-selected", "true")
    tokens.nth(2).click()
    expect(readout).to_contain_text(f"{surprises[2]:.2f} bits")
    tokens.nth(2).press("ArrowRight")
    expect(readout).to_contain_text(f"{surprises[3]:.2f} bits")

    panel.get_by_text("All tokens").click()
    with page.expect_download() as download:
        panel.get_by_role("button", name="Save CSV").click()
    rows = [*csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8").splitlines())]
    assert [float(row["surprise, bits"]) for row in rows] == pytest.approx(surprises, rel=1e-5)

    panel.get_by_label("Compare with").select_option(label=tiny_writer.name)
    expect(panel.locator("polyline")).to_have_count(2)
    assert [row[1] for row in sums(panel)] == [
        f"{score_text(loaded, TEXT).bits_per_byte:.3f}" for loaded in (tiny, tiny_writer)
    ]
    expect(panel.get_by_text("Compare the models by bits per byte")).to_be_visible()
    panel.get_by_text(tiny_writer.name).last.click()
    panel.get_by_label("Compare with").select_option("")
    expect(panel.locator("polyline")).to_have_count(1)

    to_tab(page, "Chat")
    expect(panel).to_be_hidden()
    to_tab(page, "Write")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    expect(page.locator("#attend-score")).to_be_focused()


def test_a_long_text_is_read_in_windows_until_it_is_stopped(
    page: Page, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = press_score(page, LONG)
    expect(panel.get_by_text("at least 64 tokens before it")).to_be_visible()
    total = len(attend.Model(tiny).score(LONG).tokens)
    assert sums(panel)[0][-1] == str(total)

    requests: list[tuple[Session, int]] = []

    def observed(session: Session, models: Models, text: object, name: str, turn: int) -> answers.Replies:
        requests.append((session, turn))
        return answers.scored(session, models, text, name, turn)

    def held_back(loaded: LoadedModel, text: str) -> Iterator[TextScore]:
        """The windows of the text, from the second one on after the server has heard of Stop."""
        session, turn = requests[-1]
        for number, scored in enumerate(score_windows(loaded, text)):
            if number:
                eventually(lambda: session.scores != turn)
            yield scored

    monkeypatch.setattr(score_events, "scored", observed)
    monkeypatch.setattr(answers, "score_windows", held_back)
    press_score(page, LONG)
    expect(panel.get_by_text(f"64 of {total} tokens")).to_be_visible()
    page.keyboard.press("Escape")  # as Stop does
    expect(panel.get_by_text(f"You stopped it: the numbers cover the first 128 of {total} tokens.")).to_be_visible()
    expect(panel.get_by_role("button", name="Stop")).to_be_hidden()


def test_hostile_text_stays_text(page: Page, tiny: LoadedModel) -> None:
    text = "a".join(HOSTILE)
    panel = press_score(page, text)
    expect(strip(panel)).to_have_count(len(attend.Model(tiny).score(text).tokens))
    panel.locator("details", has_text="All tokens").evaluate("fold => { fold.open = true; }")
    expect(panel.locator("tbody tr").last).to_be_attached()
    assert panel.locator("script, .at-strip img, td img").count() == 0


def test_what_is_about_another_text_says_so(page: Page) -> None:
    panel, box = press_score(page, TEXT), page.locator("#attend-text textarea")
    again = panel.get_by_role("button", name="Score the new text")
    expect(strip(panel).first).to_be_visible()
    expect(again).to_be_hidden()
    box.fill("x" * 20_001)
    expect(again).to_be_visible()
    again.click()
    refusal = panel.get_by_role("alert")
    expect(refusal).to_contain_text("20,001 characters, but the limit is 20,000")
    expect(refusal).to_contain_text("generate.py --score")
    expect(panel.get_by_role("table", name="The text as a whole")).to_be_hidden()  # it is another text's
    expect(again).to_be_hidden()
    page.get_by_role("button", name="Clear").click()  # a change by the page
    expect(again).to_be_visible()
    press_score(page, LONG)
    expect(strip(panel).first).to_be_visible()
    expect(refusal).to_be_hidden()
    expect(again).to_be_hidden()
