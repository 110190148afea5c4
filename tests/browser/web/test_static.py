"""The page without a server in a real browser, served as any static host would serve it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

import attend
from tests.browser.page import axe
from tests.browser.web.static_page import (
    ADDRESS,
    MESSAGE,
    SENTENCE,
    SHORT,
    choose,
    open_tab,
    say,
    send,
    visit,
)
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import enter

pytestmark = BROWSER


def test_an_answer_is_that_of_python_and_every_token_can_be_looked_into(page: Page, rounded_chat: attend.Model) -> None:
    say(page, MESSAGE)
    expected = rounded_chat.chat(MESSAGE, strategy="greedy", **SHORT)
    expect(page.locator(".at-log .at-assistant .at-text")).to_have_text(expected.text)
    expect(page.locator(".at-box")).to_have_count(len(expected.document()["prompt"]["ids"]) + len(expected.tokens))
    page.locator(".at-log .at-assistant .at-tok").first.click()
    expect(page.locator(".at-headline")).to_contain_text(f"Token 1 of {len(expected.tokens)}")
    expect(page.locator(".at-step table.at-candidates tbody tr, .at-table tbody tr").first).to_be_visible()
    expect(page.locator(".at-map canvas").first).to_be_visible()

    say(page, "Hello!", answers=2)  # it knows the conversation
    assert page.locator(".at-box").count() > len(expected.tokens) + len(expected.document()["prompt"]["ids"])
    page.locator(".at-log .at-assistant").first.locator(".at-tok").nth(1).click()  # the earlier run comes back
    expect(page.locator(".at-headline")).to_contain_text(f"Token 2 of {len(expected.tokens)}")
    page.locator(".attend-inspector .at-term", has_text="entropy").first.click()
    expect(page.get_by_role("dialog", name="Entropy")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".at-log .at-assistant").last.locator(".at-tok").first.click()
    page.get_by_role("button", name="Undo").last.click()
    expect(page.locator(".at-log > .at-assistant")).to_have_count(1)
    expect(page.locator(".at-box")).to_have_count(len(expected.document()["prompt"]["ids"]) + len(expected.tokens))
    expect(page.locator("#at-panel-chat form [role=status]")).to_have_text("")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("Hello!")
    page.get_by_role("button", name="Redo").click()
    expect(page.locator(".at-log > .at-assistant")).to_have_count(2)
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")
    expect(page.get_by_role("button", name="Redo")).to_be_hidden()


def test_an_answer_that_was_cut_off_goes_on_as_if_it_had_not_been(page: Page) -> None:
    panel = open_tab(page, "Chat")
    page.locator("#attend-run").evaluate("fold => { fold.open = true; }")
    length, answer = page.locator("#attend-max-new-tokens-value"), panel.locator(".at-log > .at-assistant").last
    length.fill("4")
    say(page, MESSAGE, answers=panel.locator(".at-log > .at-assistant").count() + 1)
    whole = answer.locator(".at-tok").all_text_contents()
    length.fill("2")
    panel.get_by_role("button", name="Retry").last.click()
    expect(answer.locator(".at-tok")).to_have_text(whole[:2])
    answer.get_by_role("button", name="Continue").click()
    expect(answer.locator(".at-tok")).to_have_text(whole)
    expect(page.locator(".at-headline")).to_contain_text("Token 3 of 4")
    length.fill(str(SHORT["max_new_tokens"]))


def test_a_link_skips_the_settings(page: Page) -> None:
    skip = page.locator("a, button, input, select, summary, textarea").first
    expect(skip).to_have_text("Skip to the text box")
    skip.press("Enter")
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    panel = open_tab(page, "Learn")
    expect(skip).to_have_text("Skip to the chapter")
    expect(panel.locator(".at-lesson-top h2:visible")).to_be_visible()  # its chapter
    skip.press("Enter")
    expect(panel.locator("h2:focus")).to_have_count(1)


def test_a_wrong_setting_is_said_and_the_message_stays(page: Page) -> None:
    page.locator("#attend-run").evaluate("fold => { fold.open = true; }")
    length = page.locator("#attend-max-new-tokens-value")
    length.fill("100000")
    panel = open_tab(page, "Chat")
    before = panel.locator(".at-log > *").count()
    send(panel, "Message", "Hello!", "Send")
    expect(panel.get_by_role("status").last).to_contain_text("max_new_tokens is 100000, but must be")
    expect(panel.get_by_role("textbox", name="Message")).to_have_value("Hello!")
    assert panel.locator(".at-log > *").count() == before
    length.fill(str(SHORT["max_new_tokens"]))


def test_a_draft_outlives_another_try_at_an_earlier_message(page: Page) -> None:
    panel = open_tab(page, "Chat")
    say(page, MESSAGE, answers=panel.locator(".at-log > .at-assistant").count() + 1)
    box = panel.get_by_role("textbox", name="Message")
    box.fill("a draft")
    panel.get_by_role("button", name="Retry").last.click()
    expect(panel.get_by_role("button", name="Stop")).to_be_hidden()
    expect(box).to_have_value("a draft")
    box.fill("")


def test_an_answer_that_ends_out_of_sight_leaves_the_inspector_to_the_tab_in_sight(page: Page) -> None:
    send(open_tab(page, "Write"), "Text", "The dog", "Continue")
    tokens = page.locator(".at-box").all_text_contents()
    open_tab(page, "Chat").get_by_role("textbox", name="Message").fill(MESSAGE)
    chat = page.locator("#at-panel-chat")  # also while it is hidden
    count = chat.locator(".at-log > .at-assistant").count()
    page.evaluate("() => { document.querySelector('#at-panel-chat form').requestSubmit(); location.hash = 'write'; }")
    expect(chat.locator(".at-log > .at-assistant")).to_have_count(count + 1)
    expect(chat.locator("form [role=status]")).to_contain_text("tokens in")
    expect(page.locator(".at-box")).to_have_text(tokens)


def test_a_cleared_conversation_can_be_brought_back(page: Page) -> None:
    panel = open_tab(page, "Chat")
    say(page, MESSAGE, answers=panel.locator(".at-log > .at-assistant").count() + 1)
    texts = panel.locator(".at-log > .at-turn .at-text").all_text_contents()
    panel.get_by_role("button", name="Clear", exact=True).click()
    expect(panel.get_by_role("button", name="Clear", exact=True)).to_be_hidden()
    page.locator("#attend-run").evaluate("fold => { fold.open = true; }")
    length = page.locator("#attend-max-new-tokens-value")
    length.fill("100000")
    send(panel, "Message", "Hello!", "Send")  # which is refused, and changes nothing
    expect(panel.get_by_role("status").last).to_contain_text("max_new_tokens is 100000")
    length.fill(str(SHORT["max_new_tokens"]))
    panel.get_by_role("button", name="Undo clear").click()
    expect(panel.locator(".at-log > .at-turn .at-text")).to_have_text(texts, use_inner_text=True)
    panel.get_by_role("textbox", name="Message").fill("")


def test_a_translation_is_that_of_python_with_its_alignment(page: Page, rounded_translator: attend.Model) -> None:
    panel = open_tab(page, "Translate")
    expect(panel.locator(".at-recorded")).to_be_visible()  # an example comes before the model
    expect(page.locator("#attend-method legend")).to_have_text("Decoding method for Translate")
    choose(page, "Beam search")
    length = page.locator("#attend-max-new-tokens-value")
    expect(length).not_to_have_value(str(SHORT["max_new_tokens"]))  # which the address gave to Chat
    page.locator("#attend-run").evaluate("fold => { fold.open = true; }")
    length.fill(str(SHORT["max_new_tokens"]))
    send(panel, "Text to translate", SENTENCE, "Translate")
    expected = rounded_translator.generate(SENTENCE, strategy="beam", num_beams=4, **SHORT)
    expect(panel.locator(".at-translated .at-text")).to_have_text(expected.text)
    source, text = (panel.locator(f".at-link[data-side='{side}']") for side in (0, 1))
    expect(source).to_have_count(len(expected.document()["source"]))
    expect(text).to_have_count(len(expected.tokens))
    expect(panel.locator(".at-kind:visible")).to_have_count(3)
    text.first.click()
    expect(page.locator(".at-headline")).to_contain_text(f"Token 1 of {len(expected.tokens)}")
    expect(page.locator(".at-node").first).to_be_visible()  # the beams


def test_cards_are_those_of_python_and_open_in_the_inspector(page: Page, rounded_chat: attend.Model) -> None:
    panel = open_tab(page, "Compare")
    panel.get_by_role("button", name="Strategy", exact=True).click()
    panel.get_by_role("textbox", name="Prompt for all cards").fill("The dog")
    panel.get_by_role("button", name="Compare", exact=True).click()
    expect(panel.get_by_role("status").filter(has_text="Done: ")).to_contain_text("in 3 cards", timeout=60_000)
    runs = [rounded_chat.generate("The dog", strategy=name, **SHORT) for name in ("greedy", "sample", "beam")]
    for card, expected in zip(panel.locator(".at-card").all(), runs, strict=True):
        expect(card.locator(".at-text")).to_have_text(expected.text)
        mean = sum(token.log_probability for token in expected.tokens) / len(expected.tokens)
        expect(card.locator(".at-metric", has_text="Log-prob")).to_contain_text(f"{-mean:.2f}")
    cards = page.locator(".at-card")
    cards.last.locator(".at-tok").nth(2).click()
    expect(page.locator(".at-headline")).to_contain_text(f"Token 3 of {len(runs[-1].tokens)}")
    cards.first.get_by_role("button", name="Remove this card").click()
    panel.get_by_role("button", name="Undo: put back Greedy").click()
    expect(cards.first.locator(".at-text")).to_have_text(runs[0].text)
    cards.first.locator(".at-tok").nth(1).click()
    expect(page.locator(".at-headline")).to_contain_text(f"Token 2 of {len(runs[0].tokens)}")


def test_a_wrong_setting_of_the_last_card_is_said_before_the_first_card_writes(page: Page) -> None:
    panel = open_tab(page, "Compare")
    panel.get_by_role("button", name="Strategy", exact=True).click()
    texts = panel.locator(".at-card .at-text")
    before, last = texts.all_text_contents(), panel.locator(".at-card").nth(2)
    last.locator(".at-edits-card").first.click()
    last.get_by_label("Add a setting").select_option("logit_bias")
    enter(last.locator("[data-name=logit_bias]"), "99999:5")
    send(panel, "Prompt for all cards", "The cat", "Compare")
    expect(panel.get_by_role("status").filter(has_text="Card 3: logit_bias names token 99999")).to_be_visible()
    assert texts.all_text_contents() == before
    panel.get_by_role("button", name="Strategy", exact=True).click()


def test_a_run_is_shared_as_a_file_and_opened_again(page: Page, tmp_path: Path) -> None:
    say(page, "Hello!", answers=page.locator(".at-log > .at-assistant").count() + 1)
    tokens = page.locator(".at-box").all_text_contents()
    with page.expect_download() as download:
        page.get_by_role("button", name="Share run").click()
    download.value.save_as(tmp_path / "run.html")
    open_tab(page, "Write")
    page.locator("#attend-alone input[type=file]").set_input_files(tmp_path / "run.html")
    expect(page.get_by_text("viewing run.html")).to_be_visible()
    expect(page.locator(".at-box")).to_have_text(tokens)
    page.get_by_role("button", name="Close file").click()
    expect(page.get_by_text("viewing run.html")).to_be_hidden()
    page.locator("#attend-alone input[type=file]").set_input_files(
        {"name": "thesis.json", "mimeType": "application/json", "buffer": b"[]"}
    )
    expect(page.get_by_text("thesis.json can’t be opened")).to_be_visible()


def test_recorded_runs_open_without_a_model(page: Page) -> None:
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="a translation").click()
    recorded = opened.value
    expect(recorded.locator(".at-headline")).to_be_visible()
    expect(recorded.locator(".at-link")).not_to_have_count(0)
    recorded.close()


def test_the_tabs_are_reached_with_the_keys_and_by_the_address(page: Page, own: str) -> None:
    page.get_by_role("tab", name="Chat").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tabpanel", name="Translate")).to_be_visible()
    assert page.url.endswith("#translate")
    page.go_back()
    expect(page.get_by_role("tabpanel", name="Chat")).to_be_visible()

    page.goto(f"{own}?prompt=The+dog&top_k=7&model=SmolLM2-135M-Instruct#write")
    expect(page.get_by_text("made with SmolLM2-135M-Instruct, which doesn’t run here")).to_be_visible()
    expect(page.get_by_role("textbox", name="Text")).to_have_value("The dog")
    expect(page.locator("#attend-top-k-value")).to_have_value("7")
    page.goto(own + ADDRESS)


def test_axe_finds_nothing(browser: Browser, own: str) -> None:
    with visit(browser, own, bypass_csp=True) as page:  # which forbids to inject axe
        for name in ("Chat", "Write", "Translate", "Compare", "Learn"):
            open_tab(page, name)
            expect(page.locator(".at-cuts section" if name == "Learn" else ".at-headline").first).to_be_visible()
            panel = f"#at-panel-{name.lower()}"  # beside the inspector, which Write and Compare show as Chat does
            within = {"Chat": "html", "Translate": f"{panel}, .attend-inspector"}.get(name, panel)
            assert axe.violations(page, within=within) == [], name
            page.locator("body").evaluate("body => body.classList.toggle('dark')")
            assert axe.violations(page, "color-contrast", within=within) == [], f"{name}, dark"
            page.locator("body").evaluate("body => body.classList.toggle('dark')")
