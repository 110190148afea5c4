"""The settings in a real browser: what is visible, selected, refused, kept in the address and copied as code."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.helpers.browsing import PHONE, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import UNFOLD, choose, say, set_number

pytestmark = BROWSER


def marked(page: Page) -> list[str]:
    return page.locator("#attend-presets button[aria-pressed=true]:not([hidden])").all_inner_texts()


def number(page: Page, name: str) -> str:
    return page.locator(f"#attend-{name} input[type=number]").input_value()


def refused(page: Page, sentence: str) -> None:
    page.locator("#attend-message textarea").fill("Hello")
    page.keyboard.press("Enter")
    expect(page.locator(".toast-body").last).to_contain_text(sentence)
    expect(page.locator(".toast-message-item")).to_have_count(1)  # those before are gone


def to_strategy(page: Page, name: str) -> None:
    page.locator("#attend-strategy select").select_option(label=name)


@pytest.fixture
def page(shared_page: Page) -> Page:
    """A page with its initial settings, except for the length."""
    choose(shared_page, "Custom")
    to_strategy(shared_page, "Sampling")
    shared_page.locator("#attend-advanced").evaluate("one => { one.open = false }")
    shared_page.locator("#attend-form .at-reset").evaluate_all("all => all.forEach((one) => one.click())")
    set_number(shared_page, "max-new-tokens", 6)
    return shared_page


SEEDS = "between -1 and 4294967295"


@pytest.mark.parametrize(
    ("name", "typed", "sentence"),
    [
        ("seed", "-5", f"Seed is -5, but must be {SEEDS}."),
        ("seed", "", f"Seed is empty, but must be a whole number {SEEDS}."),
        ("seed", "1.5", f"Seed is 1.5, but must be a whole number {SEEDS}."),
        ("temperature", "", "Temperature is empty, but must be a number between 0 and 2."),
        ("temperature", "99", "Temperature is 99, but must be between 0 and 2."),
        ("top-k", "2.5", "Top-k is 2.5, but must be a whole number between 0 and 200."),
        ("max-new-tokens", "0", "Maximum length is 0, but must be between 1 and 4096"),
    ],
)
def test_a_wrong_or_emptied_control_gets_its_sentence_and_the_conversation_stays(
    page: Page, name: str, typed: str, sentence: str
) -> None:
    if not page.locator(".at-assistant").count():
        say(page, "Hello")
    transcript = page.locator(".attend-conversation").inner_text()
    set_number(page, name, typed)
    assert number(page, name) == typed  # nothing is put right behind anybody's back
    expect(page.locator(f"#attend-{name} input[type=number]")).to_have_attribute("aria-invalid", "true")
    expect(page.locator(f"#attend-{name} .at-wrong")).to_contain_text("Must be a")
    expect(page.locator("#attend-send")).to_have_attribute("data-refusal", re.compile(r"must be a .*from .* to "))
    refused(page, sentence)
    assert page.locator(".attend-conversation").inner_text() == transcript


def test_the_button_warns_of_no_more_than_its_tab_would_refuse(page: Page) -> None:
    send = page.locator("#attend-send")
    choose(page, "Temperature")
    set_number(page, "temperature", 9)
    expect(send).to_have_attribute("data-refusal", "Temperature must be a number from 0 to 2.")
    choose(page, "Greedy")  # which has no temperature
    expect(send).not_to_have_attribute("data-refusal", re.compile("."))
    choose(page, "Temperature")
    expect(send).to_have_attribute("aria-description", re.compile("Temperature"))
    set_number(page, "temperature", 1)
    expect(send).not_to_have_attribute("data-refusal", re.compile("."))


def test_what_a_box_does_not_take_leaves_it_empty(page: Page) -> None:
    page.locator("#attend-seed").evaluate(UNFOLD)
    page.locator("#attend-seed input").fill("")
    page.locator("#attend-seed input").press_sequentially("abc")
    refused(page, "Seed is empty")


def test_a_comma_is_the_decimal_point_that_it_is_in_most_of_europe(page: Page) -> None:
    for name, typed, read in (
        ("temperature", "0,8", "0.8"),
        ("max-new-tokens", "1,2", "12"),
    ):  # a whole number has none
        page.locator(f"#attend-{name} input[type=number]").fill("")
        page.keyboard.type(typed)
        assert number(page, name) == read


def test_presets_are_marked_and_neutralise_can_be_taken_back(page: Page) -> None:
    assert marked(page) == ["Balanced"]
    set_number(page, "temperature", 0.3)
    assert marked(page) == []
    page.locator("#attend-presets button", has_text="Precise").click()
    assert marked(page) == ["Precise"]
    set_number(page, "seed", 5)
    assert marked(page) == ["Precise"]
    page.locator("#attend-presets button", has_text="Turn filters off").click()
    assert [number(page, name) for name in ("temperature", "top-k", "top-p", "seed")] == ["1", "0", "1", "5"]
    expect(page.locator("#attend-form .at-note")).to_contain_text("All filters are off")
    page.locator("#attend-presets button", has_text="Restore").click()
    assert [number(page, name) for name in ("temperature", "top-k", "top-p")] == ["0.3", "40", "0.9"]
    assert marked(page) == ["Precise"]


def test_a_preset_leaves_the_slider_of_the_method_that_was_chosen_as_it_was(visit: Opener) -> None:
    page = visit("")
    selected = page.locator("#attend-method label.selected .at-name")
    expect(selected).to_have_text("Temperature")
    expect(page.locator("#attend-top-k")).to_be_hidden()
    assert (number(page, "temperature"), marked(page)) == ("0.6", [])
    set_number(page, "temperature", 0.4)
    page.locator("#attend-presets button", has_text="Balanced").click()
    expect(selected).to_have_text("Custom")
    assert [number(page, name) for name in ("temperature", "top-k", "top-p")] == ["0.8", "40", "0.95"]
    assert marked(page) == ["Balanced"]
    page.locator("#attend-presets button", has_text="Turn filters off").click()
    choose(page, "Temperature")
    assert (number(page, "temperature"), marked(page)) == ("0.4", [])
    choose(page, "Custom")
    page.locator("#attend-presets button", has_text="Restore").click()
    assert marked(page) == ["Balanced"]
    choose(page, "Temperature")
    expect(page).to_have_url(re.compile(r"/\?temperature=0\.4$"))


def test_a_way_whose_parameter_is_off_starts_with_a_sensible_value(page: Page) -> None:
    page.locator("#attend-presets button", has_text="Turn filters off").click()
    choose(page, "Top-k")
    assert number(page, "top-k") == "40"
    choose(page, "Top-p")
    assert number(page, "top-p") == "0.95"
    assert marked(page) == []


def test_only_what_the_strategy_uses_is_in_sight(page: Page) -> None:
    to_strategy(page, "Beam search")
    expect(page.locator("#attend-num-beams")).to_be_visible()
    expect(page.locator("#attend-run summary")).to_contain_text("Length and more")
    expect(page.locator("#attend-seed")).to_be_hidden()
    page.locator("#attend-advanced summary").click()
    expect(page.locator("#attend-min-p")).to_be_visible()
    for name in ("xtc-probability", "mirostat-mode"):  # only drawn tokens
        expect(page.locator(f"#attend-{name}")).to_be_hidden()
    to_strategy(page, "Greedy")
    for name in ("temperature", "top-k", "num-beams", "min-p"):
        expect(page.locator(f"#attend-{name}")).to_be_hidden()
    expect(page.locator("#attend-repetition-penalty")).to_be_visible()


def test_the_stages_that_are_on_can_change_their_order(visit: Opener) -> None:
    page = visit()
    choose(page, "Custom")
    page.locator("#attend-advanced summary").click()
    stages = page.locator("#attend-order li span")
    assert stages.all_inner_texts() == ["Temperature", "Top-k", "Top-p"]
    page.get_by_role("button", name="Top-p: earlier").click()
    page.keyboard.press("Enter")  # the same button, moved along, has the focus
    assert stages.all_inner_texts() == ["Top-p", "Temperature", "Top-k"]
    set_number(page, "min-p", 0.05)
    assert stages.all_inner_texts() == ["Top-p", "Temperature", "Top-k", "Min-p"]
    say(page, "Hello")
    expect(page.locator(".at-table th").first).to_have_text("Token")
    page.locator("#attend-code").click()
    expect(page.locator(".attend-code")).to_be_visible()
    command = page.locator(".attend-code pre").nth(1).inner_text()
    assert re.search(r"--order '.*top_p, top_h, temperature, top_k, min_p,", command)


def test_settings_that_the_model_cannot_follow_leave_the_message_in_its_box(visit: Opener) -> None:
    page = visit("?logit_bias=99999:3")
    refused(page, "Logit bias names token 99999, but this model's highest token id is ")
    expect(page.locator("#attend-message textarea")).to_have_value("Hello")
    expect(page.locator(".at-assistant")).to_have_count(0)


def test_escape_closes_the_settings_of_a_phone_and_the_endpoints(visit: Opener) -> None:
    page = visit(**PHONE)
    page.locator("#attend-open-settings").tap()
    expect(page.locator("#attend-method")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator("#attend-method")).not_to_be_in_viewport()
    expect(page.locator("#attend-open-settings")).to_be_focused()
    page.locator("#attend-api").tap()
    expect(page.locator(".api-docs")).to_contain_text("/compare")
    page.keyboard.press("Escape")
    expect(page.locator(".api-docs")).to_have_count(0)


def test_two_settings_that_clash_are_called_as_the_page_calls_them(visit: Opener) -> None:
    page = visit("?max_new_tokens=4&min_new_tokens=9")
    refused(page, "Minimum length is 9, but Maximum length is 4: lower the first or raise the second.")


def test_contrastive_search_has_candidates_and_no_filter_to_order(page: Page) -> None:
    page.locator("#attend-advanced summary").click()
    to_strategy(page, "Contrastive")
    expect(page.locator("#attend-top-k")).to_be_visible()
    expect(page.locator("#attend-order li")).to_have_text("No filters are on.")


def test_each_strategy_says_what_it_does(page: Page) -> None:
    help_line = page.locator("#attend-strategy .at-help")
    expect(help_line).to_have_text("Draws each token at random, by its probability.")
    to_strategy(page, "Greedy")
    expect(help_line).to_have_text("Always picks the most probable token.")


def test_the_seed_of_a_run_can_be_reused_and_one_without_chance_shows_none(page: Page) -> None:
    say(page, "Hello")
    used = page.locator("#attend-seed-used")
    expect(used).to_be_visible()
    seed = used.inner_text().split()[1]
    page.locator("#attend-seed").evaluate(UNFOLD)
    assert number(page, "seed") == "-1"
    used.click()
    expect(page.locator("#attend-seed input")).to_have_value(seed)
    choose(page, "Greedy")
    say(page, "Hello")
    expect(page.locator("#attend-seed-used")).to_be_hidden()


BASIC = ("Greedy", "Temperature", "Top-k", "Top-p", "Beam search")


def test_the_list_has_five_methods_in_sight_then_more_then_all_parameters(visit: Opener) -> None:
    page = visit("")
    names = page.locator("#attend-method .at-name")
    in_sight = [name.inner_text() for name in names.all() if name.is_visible()]
    assert in_sight == [*BASIC, "Custom"]
    page.locator("#attend-method summary").click()
    assert names.all_inner_texts() == [*BASIC, "Beam sampling", "Diverse beams", "Contrastive", "DoLa", "Custom"]
    assert all(page.locator("#attend-method .at-hint").all_inner_texts())
    assert page.locator("#attend-form label.selected").count() == 1  # and no second list says the same names


def test_a_basic_method_fits_the_screen_without_scrolling(embedded_url: str, visit: Opener) -> None:
    page = visit("?seed=7&max_new_tokens=12", at=embedded_url)
    say(page, "Hi! How are you today?")
    for method in BASIC:
        choose(page, method)
        content = page.locator("#attend-settings .sidebar-content")
        higher = content.evaluate("one => [one.scrollHeight, one.clientHeight]")
        assert higher[0] <= higher[1], (method, higher)


def test_in_compare_only_what_all_cards_share_is_in_sight(visit: Opener) -> None:
    page = visit("?method=Greedy&max_new_tokens=12")
    page.locator("#attend-tabs label", has_text="Compare").click()
    expect(page.locator(".at-sharing")).to_contain_text("each card has its own method")
    for name in ("max-new-tokens", "seed", "top-candidates"):
        expect(page.locator(f"#attend-{name}")).to_be_visible()
    for name in ("method", "presets", "advanced", "code"):
        expect(page.locator(f"#attend-{name}")).to_be_hidden()
    set_number(page, "seed", 5)  # which greedy decoding does not use, but other cards do
    expect(page.locator(".at-sidebar-settings")).to_have_text("Maximum length 12 · seed 5 (sidebar settings)")
    page.locator("#attend-tabs label", has_text="Chat").click()
    expect(page.locator("#attend-method")).to_be_visible()
    expect(page.locator("#attend-seed")).to_be_hidden()


def test_the_preview_moves_with_the_settings_and_draws_nothing_out_of_sight(embedded_url: str, visit: Opener) -> None:
    page = visit("?seed=7&max_new_tokens=12&method=Temperature", at=embedded_url)
    preview = page.locator("#attend-preview")
    expect(preview.locator("li")).to_have_count(6)  # of the example
    say(page, "Hi! How are you today?")
    page.wait_for_function("""() => {
      const [, final] = document.querySelectorAll('.at-table tbody tr:first-child td');
      const share = document.querySelector('#attend-preview .at-share');
      const [wanted, shown] = [final, share].map((cell) => parseFloat(cell?.textContent.replace('>', '')));
      return share.textContent.includes('>') ? wanted > shown : Math.round(wanted) === shown;
    }""")  # as the run was decoded with these settings
    drawn = preview.locator(".at-share").first
    share = drawn.inner_text()
    set_number(page, "temperature", 2)
    expect(drawn).not_to_have_text(share)
    choose(page, "Greedy")
    expect(preview.locator(".at-share")).to_have_text([re.compile("100"), *["cut"] * 5])
    choose(page, "Beam search")
    expect(preview).to_be_hidden()  # it says nothing about a single token
    choose(page, "Custom")
    set_number(page, "min-p", 0.2)
    page.locator("#attend-advanced summary").click()
    set_number(page, "typical-p", 0.9)
    expect(preview).to_contain_text("Not shown: Typical-p.")
    page.locator("#attend-open-settings").click()
    expect(page.locator("#attend-method")).not_to_be_in_viewport()
    page.evaluate("""() => {
      window.redrawn = 0;
      const count = new MutationObserver((all) => { window.redrawn += all.length; });
      count.observe(document.querySelector('#attend-preview'), { subtree: true, childList: true, attributes: true });
    }""")
    say(page, "And you?")
    assert page.evaluate("window.redrawn") == 0
    page.locator("#attend-open-settings").click()
    page.wait_for_function("window.redrawn > 0")
