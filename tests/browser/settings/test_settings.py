"""The settings in a real browser: what is visible, selected, refused, kept in the address and copied as code."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.helpers.browsing import DESK, PHONE, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import UNFOLD, choose, enter, say, send, set_number, wait_for_drawing

pytestmark = BROWSER


BASIC = ("Greedy", "Temperature", "Top-k", "Top-p", "Beam search")


def marked(page: Page) -> list[str]:
    return page.locator("#attend-presets button[aria-pressed=true]:not([hidden])").all_inner_texts()


def number(page: Page, name: str) -> str:
    return page.locator(f"#attend-{name} input[type=number]").input_value()


def is_refused(page: Page) -> None:
    notices = page.locator(".toast-message-item")
    page.locator(".toast-close").evaluate_all("all => all.forEach((one) => one.click())")
    expect(notices).to_have_count(0)  # or the one before might be taken for this refusal's
    send(page, "Hello")
    expect(notices.first).to_be_visible()
    expect(page.locator("#attend-message textarea")).to_have_value("Hello")


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


def test_a_wrong_or_emptied_control_is_refused_and_the_conversation_stays(page: Page) -> None:
    say(page, "Hello")
    transcript, send_button = page.locator(".attend-conversation").inner_text(), page.locator("#attend-send")
    for name, typed in (("seed", ""), ("seed", "1.5"), ("temperature", "99"), ("max-new-tokens", "0")):
        right = number(page, name)
        set_number(page, name, typed)
        assert number(page, name) == typed  # nothing is put right behind anybody's back
        expect(page.locator(f"#attend-{name} input[type=number]")).to_have_attribute("aria-invalid", "true")
        expect(page.locator(f"#attend-{name} .at-wrong")).not_to_be_empty()
        expect(send_button).to_have_attribute("data-refusal", re.compile("."))
        is_refused(page)
        set_number(page, name, right)
        expect(send_button).not_to_have_attribute("data-refusal", re.compile("."))
    page.locator("#attend-seed input").fill("")
    page.locator("#attend-seed input").press_sequentially("abc")  # what a box doesn't take leaves it empty
    is_refused(page)
    set_number(page, "seed", 1)
    page.locator("#attend-advanced summary").click()
    enter(page.locator("#attend-logit-bias input"), "99999:3")  # which the model cannot follow
    is_refused(page)
    enter(page.locator("#attend-logit-bias input"), "")
    assert page.locator(".attend-conversation").inner_text() == transcript


def test_the_button_warns_of_no_more_than_its_tab_would_refuse(page: Page) -> None:
    send = page.locator("#attend-send")
    choose(page, "Temperature")
    set_number(page, "temperature", 9)
    expect(send).to_have_attribute("data-refusal", re.compile("Temperature"))
    choose(page, "Greedy")  # which has no temperature
    expect(send).not_to_have_attribute("data-refusal", re.compile("."))
    choose(page, "Temperature")
    expect(send).to_have_attribute("aria-description", re.compile("Temperature"))
    set_number(page, "temperature", 1)
    expect(send).not_to_have_attribute("data-refusal", re.compile("."))


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
    page.locator("#attend-presets button", has_text="Restore").click()
    assert [number(page, name) for name in ("temperature", "top-k", "top-p")] == ["0.3", "40", "0.9"]
    assert marked(page) == ["Precise"]


def test_five_methods_are_in_sight_and_a_preset_leaves_the_slider_of_another_as_it_was(visit: Opener) -> None:
    page = visit("")
    names = page.locator("#attend-method .at-name")
    assert [name.inner_text() for name in names.all() if name.is_visible()] == [*BASIC, "Custom"]
    page.locator("#attend-method summary").click()
    assert names.all_inner_texts() == [*BASIC, "Beam sampling", "Diverse beams", "Contrastive", "DoLa", "Custom"]
    assert page.locator("#attend-form label.selected").count() == 1  # and no second list says the same names
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
    expect(page.locator("#attend-seed")).to_be_hidden()
    page.locator("#attend-advanced summary").click()
    expect(page.locator("#attend-min-p")).to_be_visible()
    for name in ("xtc-probability", "mirostat-mode"):  # only drawn tokens
        expect(page.locator(f"#attend-{name}")).to_be_hidden()
    to_strategy(page, "Greedy")
    for name in ("temperature", "top-k", "num-beams", "min-p"):
        expect(page.locator(f"#attend-{name}")).to_be_hidden()
    expect(page.locator("#attend-repetition-penalty")).to_be_visible()
    to_strategy(page, "Contrastive")
    expect(page.locator("#attend-top-k")).to_be_visible()
    expect(page.locator("#attend-order li span")).to_have_count(0)  # it has no filter to order


def test_the_stages_that_are_on_can_change_their_order_and_compare_shows_what_all_cards_share(visit: Opener) -> None:
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
    page.locator("#attend-code").click()
    command = page.locator(".attend-code pre").nth(1).inner_text()
    assert re.search(r"--order '.*top_p, top_h, temperature, top_k, min_p,", command)
    page.keyboard.press("Escape")
    choose(page, "Greedy")
    page.locator("#attend-tabs label", has_text="Compare").click()
    for name in ("max-new-tokens", "seed", "top-candidates"):
        expect(page.locator(f"#attend-{name}")).to_be_visible()
    for name in ("method", "presets", "advanced", "code"):
        expect(page.locator(f"#attend-{name}")).to_be_hidden()
    set_number(page, "seed", 5)  # which greedy decoding does not use, but other cards do
    expect(page.locator(".at-sidebar-settings")).to_contain_text("seed 5")
    page.locator("#attend-tabs label", has_text="Chat").click()
    expect(page.locator("#attend-method")).to_be_visible()
    expect(page.locator("#attend-seed")).to_be_hidden()


def test_a_search_leaves_the_settings_in_sight_that_it_finds(visit: Opener) -> None:
    page = visit()
    page.set_viewport_size({"width": 1280, "height": 720})
    box = page.get_by_role("searchbox", name="Search the settings")
    fields = page.locator("#attend-form .at-field:has(> .at-head):visible")
    sections = page.locator("#attend-advanced h3:visible")
    expect(box).to_be_hidden()  # a method shows a few settings alone
    choose(page, "Custom")
    expect(box).to_be_visible()
    box.fill("top k")
    expect(page.locator("#attend-top-k")).to_be_visible()
    expect(page.locator("#attend-min-p, #attend-temperature").filter(visible=True)).to_have_count(0)
    box.fill("min_p")
    expect(page.locator("#attend-min-p")).to_be_visible()  # its fold opens
    expect(sections).to_have_text(["Cutting off unlikely tokens"])
    expect(page.locator("#attend-min-p")).to_be_in_viewport(ratio=1)
    page.locator("#attend-min-p").click(trial=True)  # the preview stands beneath it, even in a low window
    box.fill("repetition line break")  # words of an explanation
    expect(page.locator("#attend-dry-multiplier")).to_be_visible()
    expect(fields).to_have_count(1)
    box.fill("seed")
    expect(page.locator("#attend-seed")).to_be_visible()
    box.fill("no such thing")
    expect(fields).to_have_count(0)
    box.press("Escape")
    expect(box).to_have_value("")
    expect(page.locator("#attend-temperature")).to_be_visible()
    expect(page.locator("#attend-min-p, #attend-seed").filter(visible=True)).to_have_count(0)  # folded as before
    page.locator("#attend-advanced summary").click()
    expect(sections).to_have_count(6)
    expect(page.locator("#attend-min-p")).to_be_visible()
    choose(page, "Top-k")
    expect(box).to_be_hidden()
    expect(page.locator("#attend-top-k")).to_be_visible()


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


def test_settings_that_cover_the_page_have_the_focus_until_they_are_closed(visit: Opener) -> None:
    page = visit(viewport={"width": 1024, "height": 768})
    button, close = page.locator("#attend-open-settings"), page.locator("#attend-settings .toggle-button")
    button.press("Enter")
    expect(close).to_be_focused()
    expect(page.locator("#attend-code")).to_be_visible()  # a frame or two after the button that closes them
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#attend-code")).to_be_focused()  # the last
    page.keyboard.press("Tab")
    expect(close).to_be_focused()
    page.keyboard.press("Enter")
    expect(button).to_be_focused()
    expect(page.locator("#attend-settings :is(button, input, select, summary)").filter(visible=True)).to_have_count(0)
    page.locator(".at-skip").press("Tab")
    expect(page.locator("#attend-settings :focus")).to_have_count(0)


def test_on_a_low_screen_the_preview_covers_no_slider(embedded_url: str, visit: Opener) -> None:
    page = visit(at=embedded_url)
    page.set_viewport_size({"width": 1280, "height": 600})
    slider, preview = page.locator("#attend-temperature input[type=range]"), page.locator("#attend-preview")
    expect(preview.locator("li")).to_have_count(6)  # of the example
    boxes = slider.bounding_box(), preview.bounding_box()
    assert boxes[0] and boxes[1] and boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]


def test_a_wide_window_opens_the_settings_again_that_a_narrow_one_has_closed(visit: Opener) -> None:
    page = visit()
    settings = page.locator("#attend-settings.open")
    page.set_viewport_size(PHONE["viewport"])
    expect(settings).to_have_count(0)
    page.set_viewport_size(DESK)
    expect(settings).to_have_count(1)
    page.locator("#attend-open-settings").click()  # by hand
    expect(settings).to_have_count(0)
    page.set_viewport_size(PHONE["viewport"])
    wait_for_drawing(page)
    page.set_viewport_size(DESK)
    wait_for_drawing(page)
    expect(settings).to_have_count(0)


def test_the_seed_of_a_run_can_be_reused_and_one_without_chance_shows_none(page: Page) -> None:
    say(page, "Hello")
    used = page.locator("#attend-seed-used")
    expect(used).to_be_visible()
    seed = used.inner_text().split()[-1]
    page.locator("#attend-seed").evaluate(UNFOLD)
    assert number(page, "seed") == "-1"
    used.click()
    expect(page.locator("#attend-seed input")).to_have_value(seed)
    choose(page, "Greedy")
    say(page, "Hello")
    expect(page.locator("#attend-seed-used")).to_be_hidden()


def test_the_preview_moves_with_the_settings_and_draws_nothing_out_of_sight(embedded_url: str, visit: Opener) -> None:
    page = visit("?seed=7&max_new_tokens=12&way=Temperature", at=embedded_url)
    preview = page.locator("#attend-preview")
    expect(preview.locator("li")).to_have_count(6)  # of the example
    say(page, "Hi! How are you today?")
    page.wait_for_function("""() => {
      const [, final] = document.querySelectorAll('.at-table tbody tr:first-child td');
      const share = document.querySelector('#attend-preview .at-share');
      const [wanted, shown] = [final, share].map((cell) => parseFloat(cell?.textContent.replace('>', '')));
      return share.textContent.includes('>') ? wanted > shown : Math.round(wanted) === shown;
    }""")  # as the run was decoded with these settings
    for method in (*BASIC, "Temperature"):  # each fits the screen without scrolling
        choose(page, method)
        assert page.locator("#attend-settings .sidebar-content").evaluate("one => one.scrollHeight <= one.clientHeight")
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
    expect(preview).to_contain_text("Typical-p")  # which it can't show
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
