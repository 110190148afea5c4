"""The whole page as a visitor sees it: `python app.py`, a real browser, and no request to any other host.

Every test fails on an error in the browser's console and on any request to another host. One chats with the embedded
model, as `make run` serves it; the others use small models with random weights.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from model import names
from model.arguments import DEFAULT
from model.loaded import LoadedModel
from tests.helpers.browsing import PHONE, SHORT, Opener, reload, serving, started
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import WITH_TEXT, boxes, choose, rest, say, set_number, take, to_chat, to_write
from ui.chat import actions as chat
from ui.chat.screen import ChatScreen
from ui.chat.tab import ChatTab
from ui.frame import Changes
from ui.runs.session import Session
from ui.screen import Screen

pytestmark = BROWSER


@pytest.fixture(scope="module")
def embedded(tiny_checkpoint: Path) -> Iterator[str]:
    """The page as `make run` serves it."""
    with started(DEFAULT if DEFAULT in names.embedded() else str(tiny_checkpoint)) as address:
        yield address


def test_a_visitor_chats_and_looks_behind_every_token(embedded: str, visit: Opener) -> None:
    page = visit(at=embedded)
    say(page, "Hi! How are you today?")
    tokens, headline = page.locator(".at-assistant .at-tok"), page.locator(".at-headline")
    assert tokens.count() > 0
    expect(headline).to_contain_text(f" of {tokens.count()}")  # with the table, which is drawn in the same frame
    rows = page.locator(".at-table tbody tr")
    assert 2 <= rows.count() <= 12  # ten candidates, maybe the chosen one behind them, and the rest
    expect(page.locator("#attend-meter")).to_contain_text("of 512 tokens used, 12 reserved for the answer")
    newest = headline.inner_text()
    tokens.first.click()
    expect(headline).to_contain_text("Token 1 of")
    assert headline.inner_text() != newest or tokens.count() == 1
    expect(page.locator("#attend-seed-used")).to_contain_text("Seed ")

    say(page, "What do you like to do on weekends?")
    expect(page.locator(".at-strip")).to_contain_text("Whatdoyoulike")  # whose boxes show no spaces
    page.locator(".at-assistant").first.locator(".at-tok").nth(0).click()
    expect(headline).to_contain_text("Token 1 of")
    expect(page.locator(".at-strip")).not_to_contain_text("Whatdoyoulike")


def test_versions_undo_clear_and_the_way_back(visit: Opener) -> None:
    page = visit()
    page.locator(".at-example").first.click()
    expect(page.locator(".at-assistant")).to_have_count(1)
    rest(page)
    expect(page.locator("#attend-seed-used")).to_contain_text("Seed ")
    seed = page.locator("#attend-seed-used").inner_text()
    page.get_by_role("button", name="Retry").click()
    expect(page.locator("#attend-seed-used")).not_to_have_text(seed)  # answered again, by chance
    rest(page)
    expect(page.locator(".at-turn")).to_have_count(2)
    versions = page.get_by_role("group", name="Versions of this message")
    expect(versions).to_have_text("2/2")
    tokens = page.locator(".at-assistant .at-tok")
    expect(page.locator(".at-headline")).to_contain_text(f" of {tokens.count()}")
    second, strip = page.locator(".at-assistant .at-text").inner_text(), page.locator(".at-strip").inner_text()
    page.get_by_role("button", name="Previous version").focus()
    page.keyboard.press("Enter")
    expect(versions).to_have_text("1/2")
    expect(page.get_by_role("button", name="Next version")).to_be_focused()
    expect(page.locator(".at-assistant .at-text")).not_to_have_text(second, use_inner_text=True)
    expect(page.locator(".at-strip")).not_to_have_text(strip, use_inner_text=True)  # the inspector follows
    page.locator(".at-user").hover()
    page.get_by_role("button", name="Edit").click()
    page.locator(".at-edit-text").fill("Good morning!")
    page.get_by_role("button", name="Save & resend").click()
    expect(page.locator(".at-user")).to_contain_text("Good morning!")
    rest(page)
    page.locator("#attend-clear").click()
    expect(page.locator("#attend-restore")).to_have_text("Undo clear")
    expect(page.locator(".at-turn")).to_have_count(0)
    page.locator("#attend-restore").click()
    expect(page.locator(".at-user")).to_contain_text("Good morning!")
    page.locator(".at-user").get_by_role("button", name="Previous version").click()
    expect(page.locator(".at-assistant")).to_contain_text("1/2")  # with the versions of its answer
    page.locator(".at-user").get_by_role("button", name="Next version").click()
    expect(page.locator(".at-user")).to_contain_text("Good morning!")
    page.get_by_role("button", name="Undo: take").click()
    expect(page.locator(".at-turn")).to_have_count(0)
    expect(page.locator("#attend-message textarea")).to_have_value("Good morning!")
    page.get_by_role("button", name="Redo").click()
    expect(page.locator(".at-user")).to_contain_text("Good morning!")
    expect(page.locator("#attend-message textarea")).to_have_value("")
    expect(page.get_by_role("button", name="Redo")).to_have_count(0)


def test_an_answer_goes_on_and_another_token_leads_elsewhere(visit: Opener) -> None:
    page = visit("?max_new_tokens=12&min_new_tokens=12&seed=5")
    say(page, "Hello")
    tokens = page.locator(".at-assistant .at-tok")
    expect(tokens).to_have_count(12)
    page.get_by_role("button", name="Continue").click()
    expect(tokens).to_have_count(24)
    rest(page)
    tokens.nth(20).click()
    expect(page.locator(".at-headline")).to_contain_text("Token 21 of 24")
    kept = page.locator(".at-assistant .at-text").evaluate(
        "(text) => [...text.children].slice(0, 20).map((t) => t.textContent)"
    )
    row = page.locator(".at-table tbody tr:not(.at-won):not(.at-rest)").first
    row.get_by_role("button").click()
    expect(page.get_by_role("group", name="Versions of this message")).to_have_text("2/2")
    rest(page)
    expect(tokens).to_have_count(33)  # 20 that stay, the other one, and 12 more
    texts = page.locator(".at-assistant .at-text").evaluate("(text) => [...text.children].map((t) => t.textContent)")
    assert texts[:20] == kept
    tokens.nth(20).click()
    expect(page.locator(".at-reason")).to_contain_text("Chosen by you")
    page.get_by_role("button", name="Previous version").click()
    expect(tokens).to_have_count(24)
    page.locator(".at-menu summary").click()
    with page.expect_download() as begun:
        page.get_by_role("button", name="Download JSON").click()
    assert begun.value.suggested_filename == "tiny-hello.json"
    user, assistant = json.loads(begun.value.path().read_text(encoding="utf-8"))
    assert user == {"role": "user", "content": "Hello"} and len(assistant["tokens"]) == 24


def test_several_answers_are_versions_with_their_own_tokens(visit: Opener) -> None:
    page = visit("?method=Custom&num_return_sequences=3&max_new_tokens=8&min_new_tokens=8&seed=5")
    say(page, "Hello")
    versions = page.get_by_role("group", name="Versions of this message")
    text = page.locator(".at-assistant .at-text")
    seen = set()
    for number in (1, 2, 3):
        expect(versions).to_have_text(f"{number}/3")
        expect(page.locator(".at-headline")).to_contain_text("of 8")
        expect(page.locator(".at-assistant .at-tok.at-shown")).to_have_count(1)  # the inspector shows this version
        seen.add(text.inner_text())
        if number < 3:
            page.get_by_role("button", name="Next version").click()
    assert len(seen) == 3
    last = text.inner_text()
    reload(page)
    expect(versions).to_have_text("3/3")
    assert text.inner_text() == last


def test_lost_updates_are_requested(tiny: LoadedModel, visit: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page receives only every fifth update."""
    asking: list[Session] = []
    render, resend = ChatTab.render, chat.resend

    def lossy(tab: ChatTab, screen: Screen) -> Changes:
        lost = (
            isinstance(screen, ChatScreen) and screen.answer and screen.answer["busy"] and screen.answer["version"] % 5
        )
        return render(tab, replace(screen, answer=None) if lost else screen)  # pyright: ignore[reportCallIssue]

    def at_first(session: Session) -> ChatScreen:
        asking.append(session)
        return resend(session)

    monkeypatch.setattr(ChatTab, "render", lossy)
    monkeypatch.setattr(chat, "resend", at_first)
    with serving(tiny, pause=0.03) as address:
        page = visit("?min_new_tokens=40&max_new_tokens=40&seed=4", at=address)
        say(page, "Hi")
        assert asking
        answer = page.locator(".at-assistant .at-text")
        assert answer.evaluate("(node) => node.textContent") == asking[0].turns[1].text
        expect(answer.locator(".at-tok")).to_have_count(40)


def test_the_selector_shows_only_what_a_strategy_has_and_keeps_values(visit: Opener) -> None:
    page = visit()
    choose(page, "Top-k")
    expect(page.locator("#attend-top-p")).to_be_hidden()
    set_number(page, "top-k", 7)
    choose(page, "Greedy")
    expect(page.locator("#attend-top-k")).to_be_hidden()
    expect(page.locator("#attend-seed")).to_be_hidden()
    say(page, "Hello")
    expect(page.locator(".at-reason")).to_contain_text("most probable")
    choose(page, "Top-k")
    expect(page.locator("#attend-top-k input[type=number]")).to_have_value("7")
    say(page, "Hello")
    expect(page.locator(".at-stages tbody tr", has_text="top-k").locator("td").first).to_have_text("7")
    choose(page, "Beam search")
    expect(page.locator("#attend-num-beams")).to_be_visible()
    set_number(page, "max-new-tokens", 8)
    say(page, "Hello")
    assert page.locator(".at-assistant").last.locator(".at-tok").count() <= 8
    expect(page.locator(".at-reason")).to_contain_text("Beam search ranks whole texts, not single tokens")
    expect(page.locator(".at-beams tbody tr.at-won")).to_have_count(1)
    page.locator("#attend-presets button", has_text="Precise").click()
    expect(page.locator("#attend-temperature input[type=number]")).to_have_value("0.3")
    expect(page.locator("#attend-method label.selected .at-name")).to_have_text("Custom")


@pytest.mark.parametrize("key", [None, "Escape"], ids=["button", "Escape"])
def test_stop_really_stops(slow_models: str, visit: Opener, key: str | None) -> None:
    page = visit("?min_new_tokens=400&max_new_tokens=400", at=slow_models)  # 80 seconds
    to_chat(page)
    box = page.locator("#attend-message textarea")
    box.fill("Hi")
    box.press("Enter")
    expect(page.locator("#attend-stop")).to_be_visible()
    if key:
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(key)
    else:
        page.locator("#attend-stop").click()
    rest(page)
    answer = page.locator(".at-assistant")
    expect(answer.locator(".at-note")).to_contain_text("stopped")
    written = answer.locator(".at-text").inner_text()
    assert answer.locator(".at-tok").count() < 400
    page.locator("#attend-advanced summary").click()
    for name in ("min-new-tokens", "max-new-tokens"):
        set_number(page, name, 2)
    say(page, "Are you there?")
    assert answer.first.locator(".at-text").inner_text() == written  # nothing has come after it
    expect(page.locator("#attend-send")).to_be_visible()


def test_write_goes_on_token_by_token_and_takes_another(visit: Opener) -> None:
    page = visit()
    to_write(page)
    box = page.locator("#attend-text textarea")
    box.fill("The dog and the fox")
    expect(page.locator(".at-box").nth(1)).to_be_visible()  # what is typed is cut into tokens at once
    given = boxes(page)
    page.locator("#attend-next").click()
    expect(page.locator(".at-box")).to_have_count(given + 1)
    rest(page)
    page.locator("#attend-next").click()
    expect(page.locator(".at-box")).to_have_count(given + 2)
    rest(page)
    before = box.input_value()
    assert before.startswith("The dog and the fox")
    page.locator(".at-box").nth(given).click()
    page.locator(".at-table tbody button").first.click()
    expect(page.locator(".at-box")).to_have_count(given + 1)
    page.locator("#attend-back").click()
    expect(page.locator(".at-box")).to_have_count(given + 2)
    expect(box).to_have_value(before)
    page.locator("#attend-empty").click()
    expect(box).to_have_value("")


def test_a_model_without_a_chat_format_opens_in_write_and_another_can_be_chosen(
    slow_models: str, visit: Opener
) -> None:
    page = visit(at=slow_models)
    expect(page.locator("#attend-text textarea")).to_be_visible()
    expect(page.locator("#attend-message")).to_be_hidden()
    page.locator("#attend-tabs label", has_text="Chat").click()
    expect(page.locator(".toast-body")).to_contain_text("tiny-writer is not a chat model")
    expect(page.locator("#attend-text textarea")).to_be_visible()
    to_chat(page)
    set_number(page, "max-new-tokens", 10)
    say(page, "Hello")
    take(page, "tiny-writer")
    expect(page.locator("#attend-text textarea")).to_be_visible()
    expect(page.locator("#attend-tabs label.selected")).to_have_text("Write")


def test_hostile_text_is_shown_as_it_is(visit: Opener) -> None:
    page = visit()
    hostile = "<img src=x onerror=alert(1)><script>alert(2)</script> ${alert(3)} {{x}} <end> \u05e9\u05dc\u05d5\u05dd"
    say(page, hostile)
    expect(page.locator(".at-user .at-text")).to_have_text(hostile, use_inner_text=True)
    assert page.locator("#attend-main img, #attend-main script").count() == 0
    to_write(page)
    expect(page.locator("#attend-meter")).to_have_text("1 of 512 tokens used")  # the tokens of Chat have gone
    page.locator("#attend-text textarea").fill(hostile)
    expect(page.locator(".at-box").nth(5)).to_be_visible()
    assert page.locator("#attend-main img, #attend-main script").count() == 0


def test_bad_messages_get_a_sentence_and_the_conversation_stays(visit: Opener) -> None:
    page = visit()
    say(page, "Hello")
    transcript = page.locator(".attend-conversation").inner_text()
    for text, sentence in (("   ", "type something first"), ("word " * 700, "shorten it")):
        page.locator("#attend-message textarea").fill(text)
        page.keyboard.press("Enter")
        expect(page.locator(".toast-body").last).to_contain_text(sentence)
        assert page.locator("#attend-message textarea").input_value() == text
    assert page.locator(".attend-conversation").inner_text() == transcript
    expect(page.locator("#attend-send")).to_have_text("Send")
    say(page, "Still there?")


def test_two_visitors_never_see_each_others_text(visit: Opener) -> None:
    first, second = visit(), visit()
    say(first, "My secret is alpha")
    say(second, "My secret is omega")
    say(first, "And what is yours?")
    assert "omega" not in first.locator("body").inner_text()
    assert "alpha" not in second.locator("body").inner_text()
    to_write(second)
    expect(second.locator("#attend-meter")).to_have_text("1 of 512 tokens used")  # the server has shown what is there
    assert second.locator("#attend-text textarea").input_value() == ""


def test_a_phone_in_the_dark_shows_the_conversation_first_and_nothing_sticks_out(visit: Opener) -> None:
    page = visit(f"?__theme=dark&{SHORT}", **PHONE)
    say(page, "Hi! How are you today?")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    conversation, inspector = (page.locator(f"#attend-{part}").bounding_box() for part in ("conversation", "inspector"))
    assert conversation and inspector and conversation["y"] < inspector["y"]
    assert page.evaluate("document.body.classList.contains('dark')")
    page.locator("#attend-open-settings").tap()
    expect(page.locator("#attend-method")).to_be_in_viewport()


def test_on_a_phone_a_tapped_token_brings_its_table_into_view(visit: Opener) -> None:
    page = visit(f"?{SHORT}", **PHONE)
    say(page, "Hello")
    say(page, "And you?")
    table = page.locator(".at-table-pane")
    page.evaluate("scrollTo(0, 0)")
    expect(table).not_to_be_in_viewport(ratio=0.9)
    for answer in page.locator(".at-log > .at-assistant").all():  # the older one's has to be fetched
        answer.locator(WITH_TEXT).first.tap()
        expect(table).to_be_in_viewport(ratio=0.95)
        page.evaluate("scrollTo(0, 0)")
        expect(table).not_to_be_in_viewport(ratio=0.9)


def test_everything_works_from_the_keyboard(visit: Opener) -> None:
    page = visit("?max_new_tokens=12&min_new_tokens=12&seed=5")
    message = page.locator("#attend-message textarea")
    message.focus()
    page.keyboard.type("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Two")
    expect(message).to_have_value("One\nTwo")
    page.keyboard.press("Enter")
    expect(page.locator(".at-assistant")).to_have_count(1)
    rest(page)
    expect(page.locator(".at-headline")).to_contain_text("Token 12 of 12")
    expect(page.locator(".at-box").last).to_have_attribute("aria-selected", "true")  # the strip shows the newest
    selected = page.locator(".at-box[tabindex='0']")
    newest = int(selected.get_attribute("data-index") or 0)
    selected.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f".at-box[data-index='{newest - 1}']")).to_have_attribute("aria-selected", "true")
