"""The cards of Compare: filled, added, changed, widened, removed, and the settings that each can have."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.compare.test_compare import card, compare, ended, headings, to_compare
from tests.helpers.browsing import PHONE, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import enter, set_number

pytestmark = BROWSER


def open_second(page: Page) -> tuple[Locator, Locator]:
    """The second card of a sweep of strategies, and the form of its settings."""
    to_compare(page)
    page.get_by_role("button", name="Strategy", exact=True).click()
    second = card(page, 2)
    second.get_by_role("button", name="Change the settings").click()
    return second, second.locator(".at-form")


def test_cards_are_filled_added_edited_and_removed(visit: Opener) -> None:
    page = visit()
    to_compare(page)
    page.get_by_role("button", name="Beams", exact=True).click()
    assert headings(page) == [
        (f"{number} Beams {beams}", "Beam search") for number, beams in enumerate((1, 2, 4, 8), start=1)
    ]
    add = page.get_by_role("button", name="Add card")
    add.click()
    add.click()
    expect(page.locator(".at-card")).to_have_count(6)
    expect(add).to_be_disabled()
    for _ in range(4):
        card(page, 1).get_by_role("button", name="Remove").click()
    expect(page.locator(".at-card")).to_have_count(2)
    remove = card(page, 1).get_by_role("button", name="Remove")
    expect(remove).to_be_disabled()
    expect(remove).to_have_attribute("title", "A comparison has at least 2 cards")

    form = card(page, 2).locator(".at-form")  # open since it was added
    expect(form).to_be_visible()
    form.locator("[data-name=strategy]").select_option("sample")
    expect(form.locator("[data-name=num_beams]")).to_have_count(0)
    heat = form.locator("[data-name=temperature]")
    enter(heat, "9")
    expect(form.locator(".at-wrong", has_text="a number from 0 to 2")).to_be_visible()
    expect(heat).to_have_attribute("aria-invalid", "true")  # without a value, readers take it for right
    page.locator(".attend-compare .at-primary").click()
    expect(heat).to_be_focused()  # nothing runs with a value that is not the one in sight
    expect(page.locator(".attend-compare .at-stop")).to_be_hidden()
    heat.fill("0.3")
    enter(form.locator("[data-name=max_new_tokens]"), "7")
    expect(card(page, 2).locator("h3")).to_have_text("2 Sampling · Temperature 0.3 · Maximum length 7")

    page.locator(".at-ask-row label", has_text="answer as a message").click()
    page.locator(".at-ask-text").fill("The old house")
    compare(page)
    ended(page)
    assert 0 < card(page, 2).locator(".at-tok").count() <= 7
    form.locator("select").first.select_option(label="Creative")
    expect(card(page, 2).locator(".at-outdated")).to_have_text("Old result: settings changed")
    form.get_by_role("button", name="Use Chat settings").click()
    expect(heat).to_have_value("0.6")

    before = card(page, 1).locator(".at-card-text").inner_text()
    add.click()
    card(page, 1).get_by_role("button", name="Remove").click()
    undo = page.get_by_role("button", name="Undo: put")
    expect(undo).to_be_focused()
    undo.press("Enter")
    expect(card(page, 1).get_by_role("button", name="Remove")).to_be_focused()
    expect(card(page, 1).locator(".at-card-text")).to_have_text(before, use_inner_text=True)
    expect(undo).to_be_hidden()
    card(page, 1).locator(".at-tok:not(:empty)").first.click()
    expect(page.locator(".at-headline")).to_contain_text("Token 1 of")  # the server has it again, too

    add.click()
    for _ in range(2):
        card(page, 1).get_by_role("button", name="Remove").click()
    expect(page.locator(".at-card .at-tok")).to_have_count(0)
    expect(page.locator(".attend-inspector .at-empty")).to_be_visible()  # the server has heard of it
    expect(page.locator(".at-ask-text")).to_have_value("The old house")


def test_a_sweep_of_ones_own_values_a_wide_card_and_settings_that_changed(visit: Opener) -> None:
    page = visit("?seed=5&max_new_tokens=8")
    to_compare(page)
    page.get_by_role("button", name="Custom values").click()
    values = page.get_by_label("Values, one per card")
    expect(values).to_be_focused()
    page.get_by_label("Setting to vary").select_option(label="Min-p")
    for wrong, sentence in (("0.1", "Enter 2 to 6 values"), ("0.1, 7", "Each value must be a number from 0 to 1.")):
        values.fill(wrong)
        values.press("Enter")
        expect(page.locator(".at-sweep .at-wrong")).to_contain_text(sentence)
        expect(values).to_have_attribute("aria-invalid", "true")
    values.fill("0, 0.05; 0.3")
    values.press("Enter")
    expect(values).to_have_attribute("aria-invalid", "false")
    expect(page.locator(".at-card h3")).to_have_text(["1 Min-p 0", "2 Min-p 0.05", "3 Min-p 0.3"])
    compare(page)
    ended(page)
    expect(page.locator(".at-card-prompt").first).to_have_text("… time there was a little fox")

    second = card(page, 2)
    narrow = second.bounding_box()
    widen = second.get_by_role("button", name="full width")
    widen.click()
    expect(widen).to_have_attribute("aria-pressed", "true")
    wide, grid = second.bounding_box(), page.locator(".at-cards").bounding_box()
    assert (
        narrow and wide and grid and wide["width"] == pytest.approx(grid["width"]) and narrow["width"] < wide["width"]
    )
    page.keyboard.press("Escape")
    expect(widen).to_have_attribute("aria-pressed", "false")
    expect(widen).to_be_focused()

    status, prompt = page.locator(".at-compare-status"), page.locator(".at-ask-text")
    text = prompt.input_value()
    prompt.fill(f"{text} and")
    expect(status).to_have_text("Prompt changed, run again.")
    expect(page.locator(".at-card.at-stale")).to_have_count(3)
    prompt.fill(text)
    expect(status).to_contain_text("Done")
    set_number(page, "max-new-tokens", 9)
    expect(status).to_have_text("Settings changed, run again.")
    expect(page.locator(".at-card.at-stale")).to_have_count(3)
    set_number(page, "max-new-tokens", 8)
    expect(status).to_contain_text("Done")
    second.get_by_role("button", name="Change the settings").click()
    enter(second.locator("[data-name=temperature]"), "0.4")
    expect(status).to_have_text("Settings changed, run again.")
    expect(page.locator(".at-card.at-stale")).to_have_count(1)


def test_any_setting_is_added_changed_kept_and_taken_away(visit: Opener) -> None:
    page = visit()
    second, form = open_second(page)
    options = form.locator("[data-name=strategy] option")
    assert options.all_inner_texts() == [
        *("Greedy", "Sampling", "Beam search", "Beam sampling", "Diverse beams", "Contrastive", "DoLa")
    ]
    more = form.get_by_label("Add a setting")
    assert "Beam groups" not in more.locator("option").all_inner_texts()  # sampling has none
    more.select_option(label="Repetition penalty")
    penalty = form.locator("[data-name=repetition_penalty]")
    expect(penalty).to_be_focused()
    expect(penalty).to_have_value("1")
    enter(penalty, "1.3")
    more.select_option(label="Banned words")
    enter(form.locator("[data-name=banned_words]"), "cat, dog")
    length = form.locator("[data-name=max_new_tokens]")
    expect(length).to_have_attribute("placeholder", "12")  # the panel's holds
    set_number(page, "max-new-tokens", 8)
    expect(length).to_have_attribute("placeholder", "8")
    words = "2 Sampling · Repetition penalty 1.3 · Banned words cat, dog"
    expect(second.locator("h3")).to_have_text(words)

    for _ in range(2):  # a second run changes nothing either
        compare(page)
        ended(page)
        page.locator("#attend-tabs label", has_text="Write").click()
        expect(page.locator(".attend-compare")).to_be_hidden()
        to_compare(page)
        expect(second.locator("h3")).to_have_text(words)
        expect(penalty).to_have_value("1.3")
        assert all(1 <= card.locator(".at-tok").count() <= 8 for card in page.locator(".at-card").all())

    more.select_option(label="Logit bias")
    bias = form.locator("[data-name=logit_bias]")
    enter(bias, "cat")
    page.locator(".attend-compare .at-primary").click()
    expect(page.locator(".toast-body").last).to_contain_text("Card 2: Logit bias")
    expect(bias).to_have_value("cat")
    for name in ("Logit bias", "Repetition penalty"):
        form.get_by_role("button", name=f"Remove {name}").click()
    expect(penalty).to_have_count(0)
    expect(more).to_be_focused()
    expect(second.locator("h3")).to_have_text("2 Sampling · Banned words cat, dog")


def test_a_card_switches_off_a_part_of_the_model(visit: Opener) -> None:
    page = visit()
    second, form = open_second(page)
    form.get_by_label("Add a setting").select_option(label="Without")
    without = form.locator("[data-name=without]")
    expect(without).to_have_attribute("placeholder", "e.g. 6.5, layer 2")
    enter(without, "head 9.9")
    page.locator(".attend-compare .at-primary").click()
    expect(page.locator(".toast-body").last).to_contain_text("Card 2: There is no layer 9 (8, counted from 0)")
    enter(without, "2.3, feed-forward 1 x 40")
    compare(page)
    ended(page)
    expect(second.locator("h3")).to_have_text("2 Sampling · Without 2.3, feed-forward 1 x 40")
    expect(second.locator(".at-parted-note")).to_contain_text("Differs from token")


def test_on_a_phone_a_removed_card_comes_back_where_it_was(visit: Opener) -> None:
    page = visit(**PHONE)
    to_compare(page)
    page.get_by_role("button", name="Strategy", exact=True).click()
    names = [name for name, _ in headings(page)]
    card(page, 2).get_by_role("button", name="Remove").click()
    undo = page.locator(".at-cards > button")
    expect(undo).to_have_text("Undo: put back Sampling")
    expect(undo).to_be_in_viewport()
    assert page.locator(".at-cards > *").nth(1).evaluate("node => node.tagName") == "BUTTON"
    undo.click()
    expect(undo).to_have_count(0)
    assert [name for name, _ in headings(page)] == names
