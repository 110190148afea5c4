"""The whole page as a visitor sees it: a real browser, and no request to any other host.

Every test fails on an error in the browser's console and on any request to another host. One chats with the embedded
model; the others use small models with random weights.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from model.loaded import LoadedModel
from tests.browser.test_layout import edges
from tests.helpers.browsing import PHONE, SHORT, HeldPage, Opener, reload, serving
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import (
    WITH_TEXT,
    boxes,
    choose,
    rest,
    say,
    send,
    set_number,
    take,
    to_chat,
    to_tab,
    to_write,
    wait_for_drawing,
)
from tests.helpers.waiting import Gate, eventually
from ui.chat import chat_actions as chat
from ui.chat.chat_tab import ChatTab
from ui.chat.chat_update import ChatUpdate
from ui.page_update import PageUpdate
from ui.runs.session import Session
from ui.view import Changes

pytestmark = BROWSER
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script> ${alert(3)} {{x}} <end> \u05e9\u05dc\u05d5\u05dd"


def test_a_visitor_chats_and_looks_behind_every_token(embedded_url: str, visit: Opener) -> None:
    page = visit(at=embedded_url)
    say(page, "Hi! How are you today?")
    tokens, headline = page.locator(".at-assistant .at-tok"), page.locator(".at-headline")
    assert tokens.count() > 0
    expect(headline).to_contain_text(f" of {tokens.count()}")  # with the table, which is drawn in the same frame
    assert 2 <= page.locator(".at-table tbody tr").count() <= 12  # ten, maybe the chosen one behind them, and the rest
    expect(page.locator("#attend-meter")).to_contain_text("of 512")
    tokens.first.click()
    expect(headline).to_contain_text("Token 1 of")

    say(page, "What do you like to do on weekends?")
    expect(page.locator(".at-strip")).to_contain_text("Whatdoyoulike")  # whose boxes show no spaces
    page.locator(".at-assistant").first.locator(".at-tok").nth(0).click()
    expect(page.locator(".at-strip")).not_to_contain_text("Whatdoyoulike")  # the inspector shows the first answer's run


def test_versions_undo_clear_and_the_way_back(visit: Opener) -> None:
    page = visit()
    page.locator(".at-example").first.click()
    expect(page.locator(".at-assistant")).to_have_count(1)
    rest(page)
    seed, tokens = page.locator("#attend-seed-used"), page.locator(".at-assistant .at-tok")
    first_seed = seed.inner_text()
    page.get_by_role("button", name="Retry").click()
    expect(seed).not_to_have_text(first_seed)  # answered again, by chance
    rest(page)
    expect(page.locator(".at-turn")).to_have_count(2)
    versions = page.get_by_role("group", name="Versions of this message")
    expect(versions).to_have_text("2/2")
    expect(page.locator(".at-headline")).to_contain_text(f" of {tokens.count()}")
    second, strip = page.locator(".at-assistant .at-text").inner_text(), page.locator(".at-strip").inner_text()
    page.get_by_role("button", name="Previous version").focus()
    page.keyboard.press("Enter")
    expect(versions).to_have_text("1/2")
    expect(page.get_by_role("button", name="Next version")).to_be_focused()
    expect(page.locator(".at-assistant .at-text")).not_to_have_text(second, use_inner_text=True)
    expect(page.locator(".at-strip")).not_to_have_text(strip, use_inner_text=True)  # the inspector follows

    user, box = page.locator(".at-user"), page.locator("#attend-message textarea")
    user.hover()
    page.get_by_role("button", name="Edit").click()
    page.locator(".at-edit-text").fill("Good morning!")
    page.get_by_role("button", name="Save & resend").click()
    expect(user).to_contain_text("Good morning!")
    rest(page)
    page.locator("#attend-clear").click()
    expect(page.locator(".at-turn")).to_have_count(0)
    page.locator("#attend-restore").click()
    expect(user).to_contain_text("Good morning!")
    user.get_by_role("button", name="Previous version").click()
    expect(page.locator(".at-assistant")).to_contain_text("1/2")  # with the versions of its answer
    user.get_by_role("button", name="Next version").click()
    expect(user).to_contain_text("Good morning!")
    page.get_by_role("button", name="Undo: take").click()
    expect(page.locator(".at-turn")).to_have_count(0)
    expect(box).to_have_value("Good morning!")
    page.get_by_role("button", name="Redo").click()
    expect(user).to_contain_text("Good morning!")
    expect(box).to_have_value("")
    expect(page.get_by_role("button", name="Redo")).to_have_count(0)


def test_an_answer_goes_on_and_elsewhere_and_keys_alone_send_the_next(visit: Opener) -> None:
    page = visit("?max_new_tokens=12&min_new_tokens=12&seed=5")
    say(page, "Hello")
    tokens = page.locator(".at-assistant .at-tok")
    expect(tokens).to_have_count(12)
    page.get_by_role("button", name="Continue").click()
    expect(tokens).to_have_count(24)
    rest(page)
    tokens.nth(20).click()
    expect(page.locator(".at-headline")).to_contain_text("Token 21 of 24")
    kept = tokens.all_text_contents()[:20]
    other = page.locator(".at-table tbody tr:not(.at-won):not(.at-rest)").first
    other.get_by_role("button", name="instead").press("Enter")
    expect(page.get_by_role("group", name="Versions of this message")).to_have_text("2/2")
    rest(page)
    expect(tokens).to_have_count(33)  # 20 that stay, the other one, and 12 more
    assert tokens.all_text_contents()[:20] == kept
    page.get_by_role("button", name="Previous version").click()
    expect(tokens).to_have_count(24)
    page.locator(".at-menu summary").click()
    with page.expect_download() as begun:
        page.get_by_role("button", name="Download JSON").click()
    assert begun.value.suggested_filename == "tiny-hello.json"
    user, assistant = json.loads(begun.value.path().read_text(encoding="utf-8"))
    assert user == {"role": "user", "content": "Hello"} and len(assistant["tokens"]) == 24

    page.keyboard.press("Escape")  # from here on with the keyboard alone
    message = page.locator("#attend-message textarea")
    message.focus()
    page.keyboard.type("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Two")
    expect(message).to_have_value("One\nTwo")
    page.keyboard.press("Enter")
    expect(page.locator(".at-assistant")).to_have_count(2)
    rest(page)
    selected = page.locator(".at-box[tabindex='0']")
    expect(page.locator(".at-box").last).to_have_attribute("aria-selected", "true")  # the strip shows the newest
    newest = int(selected.get_attribute("data-index") or 0)
    selected.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f".at-box[data-index='{newest - 1}']")).to_have_attribute("aria-selected", "true")


def test_several_answers_are_versions_with_their_own_tokens(visit: Opener) -> None:
    page = visit("?method=Custom&num_return_sequences=3&max_new_tokens=8&min_new_tokens=8&seed=5")
    say(page, "Hello")
    versions, text = page.get_by_role("group", name="Versions of this message"), page.locator(".at-assistant .at-text")
    seen = list[str]()
    for number in (1, 2, 3):
        expect(versions).to_have_text(f"{number}/3")
        expect(page.locator(".at-assistant .at-tok.at-shown")).to_have_count(1)  # the inspector shows this version
        seen.append(text.inner_text())
        if number < 3:
            page.get_by_role("button", name="Next version").click()
    assert len(set(seen)) == 3
    reload(page)
    expect(versions).to_have_text("3/3")
    assert text.inner_text() == seen[2]


def test_lost_updates_are_requested(tiny: LoadedModel, visit: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page receives none of the updates while the answer grows."""
    asking, lost = list[Session](), list[ChatUpdate]()
    render, resend = ChatTab.render, chat.resend

    def lossy(tab: ChatTab, screen: PageUpdate) -> Changes:
        if not (isinstance(screen, ChatUpdate) and screen.answer and screen.answer["busy"]):
            return render(tab, screen)
        lost.append(screen)
        return render(tab, replace(screen, answer=None))

    def at_first(session: Session) -> ChatUpdate:
        asking.append(session)
        return resend(session)

    monkeypatch.setattr(ChatTab, "render", lossy)
    monkeypatch.setattr(chat, "resend", at_first)
    gate = Gate()
    with serving(tiny, gate=gate) as address:
        page = visit("?min_new_tokens=40&max_new_tokens=40&seed=4", at=address)
        send(page, "Hi")
        eventually(lambda: bool(page.title() and lost))
        gate.open()
        answer = page.locator(".at-assistant .at-text")
        expect(answer.locator(".at-tok")).to_have_count(40)
        rest(page)
        assert asking and answer.evaluate("(node) => node.textContent") == asking[0].turns[1].text


def test_the_page_runs_the_method_that_was_chosen_and_keeps_the_values_of_the_others(visit: Opener) -> None:
    page = visit("?max_new_tokens=8")
    choose(page, "Top-k")
    set_number(page, "top-k", 7)
    choose(page, "Greedy")
    say(page, "Hello")
    expect(page.locator(".at-draw")).to_have_count(0)
    choose(page, "Top-k")
    say(page, "Hello")
    expect(page.locator(".at-stages tbody tr", has_text="top-k").locator("td").first).to_have_text("7")
    expect(page.locator(".at-draw")).to_have_count(1)
    choose(page, "Beam search")
    say(page, "Hello")
    assert page.locator(".at-assistant").last.locator(".at-tok").count() <= 8
    expect(page.locator(".at-beams tbody tr.at-won")).to_have_count(1)
    page.locator("#attend-presets button", has_text="Precise").click()
    expect(page.locator("#attend-method label.selected .at-name")).to_have_text("Custom")


def test_stop_really_stops(held: HeldPage, visit: Opener) -> None:
    page = visit("?min_new_tokens=400&max_new_tokens=400", at=held.url)
    to_chat(page)
    answers = page.locator(".at-assistant")
    for number, stop in enumerate(
        (lambda: page.locator("#attend-stop").click(), lambda: page.keyboard.press("Escape"))
    ):
        send(page, "Hi")
        expect(page.locator("#attend-stop")).to_be_visible()
        expect(answers.nth(number).locator(".at-tok").first).to_be_attached()
        page.evaluate("document.activeElement.blur()")
        stop()
        rest(page)
        expect(answers.nth(number).locator(".at-note")).to_contain_text("stopped")
    written = answers.first.locator(".at-text").inner_text()
    for name in ("min-new-tokens", "max-new-tokens"):
        set_number(page, name, 2)
    held.gate.open()
    say(page, "Are you there?")
    assert answers.first.locator(".at-text").inner_text() == written  # nothing has come after it
    expect(page.locator("#attend-send")).to_be_visible()


def test_a_text_that_grows_out_of_sight_leaves_the_meter_to_the_tab_in_sight(held: HeldPage, visit: Opener) -> None:
    page = visit("?min_new_tokens=4&max_new_tokens=4", at=held.url)
    to_chat(page)
    send(page, "Hi")
    expect(page.locator("#attend-stop")).to_be_visible()
    to_write(page)
    meter, empty = page.locator(".attend-meter-text"), "1 of 512 tokens used"  # the start of a text
    expect(meter).to_have_text(empty)
    held.gate.open()
    eventually(lambda: page.locator(".at-assistant .at-tok").count() >= 4)
    wait_for_drawing(page)
    expect(meter).to_have_text(empty)
    to_tab(page, "Chat")
    expect(meter).to_have_text(re.compile(r"^(?!1 of )\d+ of 512 tokens used"))


def test_write_goes_on_token_by_token_and_takes_another(visit: Opener) -> None:
    page = visit()
    to_write(page)
    box = page.locator("#attend-text textarea")
    box.fill("The dog and the fox")
    expect(page.locator(".at-box").nth(1)).to_be_visible()  # what is typed is cut into tokens at once
    prompt = boxes(page)
    for count in (1, 2):
        page.locator("#attend-next").click()
        expect(page.locator(".at-box")).to_have_count(prompt + count)
        rest(page)
    before = box.input_value()
    assert before.startswith("The dog and the fox")
    page.locator(".at-box").nth(prompt).click()
    wait_for_drawing(page)  # until then the previous token's table is there, and a key pressed in it would be lost
    page.locator(".at-table").get_by_role("button", name="instead").first.press("Enter")
    expect(page.locator(".at-box")).to_have_count(prompt + 1)
    page.locator("#attend-back").click()
    expect(page.locator(".at-box")).to_have_count(prompt + 2)
    expect(box).to_have_value(before)
    page.locator("#attend-empty").click()
    expect(box).to_have_value("")


def test_a_model_without_a_chat_format_opens_in_write_and_another_can_be_chosen(held: HeldPage, visit: Opener) -> None:
    held.gate.open()
    page = visit(f"?{SHORT}", at=held.url)
    expect(page.locator("#attend-text textarea")).to_be_visible()
    expect(page.locator("#attend-message")).to_be_hidden()
    page.locator("#attend-tabs label", has_text="Chat").click()
    expect(page.locator(".toast-body")).to_have_count(1)
    expect(page.locator("#attend-text textarea")).to_be_visible()
    to_chat(page)
    say(page, "Hello")
    take(page, "tiny-writer")
    expect(page.locator("#attend-text textarea")).to_be_visible()
    expect(page.locator("#attend-tabs label.selected")).to_have_text("Write")


def test_hostile_text_is_only_text_and_a_refused_message_stays_in_its_box(visit: Opener) -> None:
    page = visit()
    say(page, HOSTILE)
    expect(page.locator(".at-user .at-text")).to_have_text(HOSTILE, use_inner_text=True)
    transcript, box = page.locator(".attend-conversation").inner_text(), page.locator("#attend-message textarea")
    for text in ("   ", "word " * 700):
        box.fill(text)
        box.press("Enter")
        expect(page.locator(".toast-body").last).to_be_visible()
        assert box.input_value() == text
    assert page.locator(".attend-conversation").inner_text() == transcript
    say(page, "Still there?")
    to_write(page)
    page.locator("#attend-text textarea").fill(HOSTILE)
    expect(page.locator(".at-box").nth(5)).to_be_visible()
    assert page.locator("#attend-main img, #attend-main script").count() == 0


def test_on_a_phone_in_the_dark_the_conversation_comes_first_and_a_tapped_token_brings_its_table(visit: Opener) -> None:
    page = visit(f"?__theme=dark&{SHORT}", **PHONE)
    say(page, "Hi! How are you today?")
    say(page, "And you?")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    conversation, inspector = (page.locator(f"#attend-{part}").bounding_box() for part in ("conversation", "inspector"))
    assert conversation and inspector and conversation["y"] < inspector["y"]
    assert page.evaluate("document.body.classList.contains('dark')")
    table = page.locator(".at-table-pane")
    for answer in page.locator(".at-log > .at-assistant").all():  # the older one's has to be fetched
        page.evaluate("scrollTo(0, 0)")
        expect(table).not_to_be_in_viewport(ratio=0.9)
        answer.locator(WITH_TEXT).first.tap()
        expect(table).to_be_in_viewport(ratio=0.95)
    page.locator(".at-facts").evaluate("one => { one.textContent = '99.99 % · rank 1 of 4,096 · entropy 10.4 bits' }")
    (_, top, right, _), position, buttons = edges(page, ".at-facts", ".at-position", ".at-step-buttons")
    assert page.locator(".at-facts").evaluate("one => one.getClientRects().length") == 1  # they take one line
    assert right <= 390 and position[3] <= top and buttons[3] <= top
    page.locator("#attend-open-settings").tap()
    expect(page.locator("#attend-method")).to_be_in_viewport()
