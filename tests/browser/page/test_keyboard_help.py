"""The help in a real browser, and the page's icon."""

from __future__ import annotations

import inspect
from importlib import import_module

from playwright.sync_api import expect

from tests.helpers.browsing import PHONE, Opener
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import rest, to_tab, to_write

pytestmark = BROWSER

PLAYWRIGHT = {"←": "ArrowLeft", "→": "ArrowRight", "↑": "ArrowUp", "↓": "ArrowDown", "Ctrl": "Control", "Esc": "Escape"}
SHORTCUTS = """dialog => [...dialog.querySelectorAll('dt')].map((keys) => [
  keys.closest('section').querySelector('h4').textContent,
  [...keys.children].map((key) => key.textContent).join(' '),
])"""
# All that the help lists, and a test that presses it.
PRESSED = {
    ("Everywhere", "Esc"): "page.test_keyboard_help.test_a_question_mark_lists_the_keys_but_for_whoever_types_one",
    ("Everywhere", "?"): "page.test_keyboard_help.test_a_question_mark_lists_the_keys_but_for_whoever_types_one",
    ("Tokens", "← →"): "inspector.test_inspector.test_keys_and_clicks_select_without_the_server",
    ("Tokens", "↑ ↓"): "inspector.test_inspector.test_keys_and_clicks_select_without_the_server",
    ("Tokens", "Home End"): "inspector.test_inspector.test_keys_and_clicks_select_without_the_server",
    ("Tokens", "Enter"): "inspector.test_views.test_a_click_shows_the_token_at_once_or_asks_for_its_run",
    ("Attention map, beams", "← → ↑ ↓"): "inspector.test_beams.test_the_tree_works_from_the_keyboard",
    ("Attention map, beams", "Enter"): "inspector.test_beams.test_the_tree_works_from_the_keyboard",
    ("Chat", "Enter"): "chat.test_chat.test_an_answer_goes_on_and_elsewhere_and_keys_alone_send_the_next",
    ("Chat", "Shift Enter"): "chat.test_chat.test_an_answer_goes_on_and_elsewhere_and_keys_alone_send_the_next",
    ("Chat", "Esc"): "inspector.test_views.test_retry_undo_and_edit_trigger_their_events",
    ("Write", "Ctrl Enter"): "page.test_keyboard_help.test_write_goes_on_and_a_link_skips_to_its_box",
    ("Write", "Enter"): "page.test_keyboard_help.test_write_goes_on_and_a_link_skips_to_its_box",
    ("Write", "← → ↑ ↓"): "write.test_scores.test_a_text_is_scored_read_token_by_token_and_saved",
    (
        "Translate",
        "Enter",
    ): "translate.test_translate.test_a_tab_that_is_left_before_its_model_has_come_does_not_bring_it",
    (
        "Translate",
        "Shift Enter",
    ): "translate.test_translate.test_a_tab_that_is_left_before_its_model_has_come_does_not_bring_it",
    ("Translate", "← → ↑ ↓"): "translate.test_translate.test_a_sentence_is_translated_and_both_sides_light_each_other",
    ("Compare", "Ctrl Enter"): "compare.test_compare.test_a_phone_in_the_dark_and_the_keyboard",
    ("Learn", "← → ↑ ↓"): "learn.test_lesson.test_positions_of_any_width_and_length",
    ("Learn", "Enter"): "learn.test_lesson_byhand.test_what_is_no_number_or_too_large_stays_as_it_was_typed",
    ("Learn", "Esc"): "learn.test_lesson_byhand.test_what_is_no_number_or_too_large_stays_as_it_was_typed",
    ("Tour", "← →"): "tour.test_tour.test_a_first_visitor_sees_six_steps_once_and_can_take_them_again",
    ("Tour", "Esc"): "tour.test_tour.test_the_tour_follows_a_click_on_a_token_and_gives_way_to_work",
}


def test_a_question_mark_lists_the_keys_but_for_whoever_types_one(visit: Opener) -> None:
    page = visit()
    dialog, box = page.get_by_role("dialog", name="Help"), page.locator("#attend-message textarea")
    box.press("?")
    expect(box).to_have_value("?")
    expect(dialog).to_be_hidden()
    page.locator("#attend-tabs input").first.focus()
    page.keyboard.press("?")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#attend-tabs input").first).to_be_focused()
    icon = page.request.get(f"{page.url.partition('?')[0]}favicon.ico")
    assert icon.headers["content-type"].startswith("image/svg+xml")

    page.set_viewport_size(PHONE["viewport"])
    button = page.locator("#attend-keys")
    button.click()
    assert page.evaluate("document.documentElement.scrollWidth") == page.evaluate("innerWidth")
    assert_tests_press(dialog.evaluate(SHORTCUTS))
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()


def assert_tests_press(listed: list[tuple[str, str]]) -> None:
    """A test presses each key that the help lists."""
    offered = {title for title, _ in listed}  # this page has no translator
    assert {(title, keys) for title, keys in listed} == {each for each in PRESSED if each[0] in offered}
    assert {title for title, _ in PRESSED} - offered <= {"Translate"}
    for (_, keys), test in PRESSED.items():
        module, _, name = test.rpartition(".")
        source = inspect.getsource(getattr(import_module(f"tests.browser.{module}"), name))
        names = [PLAYWRIGHT.get(key, key) for key in keys.split(" ")]
        one_of = ["+".join(names)] if names[0] in ("Control", "Shift") else names
        assert any(f'"{name}"' in source for name in one_of), f"{test} presses none of {keys}"


def test_write_goes_on_and_a_link_skips_to_its_box(visit: Opener) -> None:
    page = visit("?max_new_tokens=3&min_new_tokens=3&seed=5")
    skip, box = page.get_by_role("link", name="Skip to the text box"), page.locator("#attend-text textarea")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport(ratio=1)
    skip.click(trial=True)  # nothing covers it, not even the open settings
    address = page.url
    page.keyboard.press("Enter")
    expect(page.locator("#attend-message textarea")).to_be_focused()
    assert page.url == address
    to_tab(page, "Learn")
    page.get_by_role("link", name="Skip to the chapter").press("Enter")
    expect(page.locator(".at-lesson-body h2:visible").first).to_be_focused()
    to_write(page)
    skip.press("Enter")
    expect(box).to_be_focused()
    page.keyboard.type("The fox")
    page.keyboard.press("Enter")
    page.keyboard.type("and")
    expect(box).to_have_value("The fox\nand")
    expect(page.locator(".at-headline")).to_contain_text("Prompt token 6 of 6")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".at-headline")).to_contain_text("Token 3 of 3")
    rest(page)
    assert box.input_value().startswith("The fox\nand")
