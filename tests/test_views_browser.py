"""The two views in a real browser, fed with values directly: what is drawn, asked for and left alone."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from playwright import sync_api

from tests.stage import HEADS, HOSTILE, LAYERS, WORDS, Stage, conversation, inspector, open_page, turn, use

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM and os.environ.get("CI") != "true", reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Stage, Any]]:
    stage = Stage()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    stage.demo.launch(server_port=port, prevent_thread_lock=True, quiet=True, ssr_mode=False, run_history=False)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield stage, browser
        browser.close()
    stage.demo.close()


@pytest.fixture(scope="module")
def shared(served: tuple[Stage, Any]) -> Iterator[tuple[Any, list[str]]]:
    yield from open_page(*served)


@pytest.fixture
def stage(served: tuple[Stage, Any], shared: tuple[Any, list[str]]) -> Iterator[Stage]:
    """A page that several tests use one after the other: none of them may leave a choice behind."""
    yield from use(served[0], *shared)


@pytest.fixture
def fresh(served: tuple[Stage, Any]) -> Iterator[Stage]:
    """A page for one test, which may leave what it likes."""
    for opened in open_page(*served):
        yield from use(served[0], *opened)


@pytest.fixture(scope="module")
def narrow(served: tuple[Stage, Any]) -> Iterator[tuple[Any, list[str]]]:
    yield from open_page(*served, viewport={"width": 390, "height": 844}, has_touch=True)


@pytest.fixture
def phone(served: tuple[Stage, Any], narrow: tuple[Any, list[str]]) -> Iterator[Stage]:
    yield from use(served[0], *narrow)


# ---- the inspector ----


def test_the_newest_token_is_shown_with_its_table(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS))
    assert stage.find(".at-box[aria-selected=true]").inner_text() == "."
    headline = stage.find(".at-headline").inner_text()
    for part in ("Token 5 of 5", "25.00\u00a0%", "rank 2 of 4,096", "entropy 2.0 bits"):
        assert part in headline
    read = "[...document.querySelectorAll('.at-table tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    shown = [cells[:3] for cells in stage.page.evaluate(read)]
    # 0.6 / 0.85 = 70.59 %, 0.25 / 0.85 = 29.41 %; the others have 0.4 - 0.25 - 0.00001
    assert shown == [
        ["␣better", "60.00\u00a0%", "70.59\u00a0%"],
        [". (chosen)", "25.00\u00a0%", "29.41\u00a0%"],
        ["␣removed", "<0.01\u00a0%", "removed by top-k"],
        ["4,093 others", "15.00\u00a0%", "0\u00a0%"],
    ]
    assert stage.find(".at-table thead th[scope=col]").count() == 4
    assert stage.find(".at-table tbody th[scope=row]").count() == 4


def test_keys_and_clicks_select_without_the_server(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS))
    stage.find('.at-box[data-index="3"]').click()
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 2 of 5")
    stage.page.keyboard.press("ArrowRight")
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 3 of 5")
    stage.page.keyboard.press("Home")
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Given token 1 of 2")
    stage.page.keyboard.press("End")
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 5 of 5")
    assert stage.heard == []


def test_a_selection_stays_while_the_run_goes_on_until_it_follows_again(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:4], busy=True))
    sync_api.expect(stage.find(".at-follow")).to_be_hidden()
    stage.find('.at-box[data-index="2"]').click()
    stage.show(inspector=inspector(WORDS[:6], since=4, busy=True))
    assert "Token 1 of 4" in stage.find(".at-headline").inner_text()
    stage.find(".at-follow").click()
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 4 of 4")
    stage.show(inspector=inspector(WORDS, since=6))
    assert "Token 5 of 5" in stage.find(".at-headline").inner_text()


def test_an_update_adds_boxes_and_leaves_the_others_alone(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:4], busy=True))
    stage.page.evaluate("document.querySelectorAll('.at-box').forEach((box) => { box.kept = true; })")
    stage.show(inspector=inspector(WORDS, since=3, busy=True))
    kept = stage.page.evaluate("[...document.querySelectorAll('.at-box')].map((box) => Boolean(box.kept))")
    assert kept == [True] * 4 + [False] * 3
    assert stage.page.evaluate("[...document.querySelectorAll('.at-box')].map((box) => box.textContent)")[4:] == [
        "a",
        "fox",
        ".",
    ]


def test_a_beam_that_changes_its_mind_replaces_the_end(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS, busy=True))
    stage.show(inspector=inspector([*WORDS[:4], " the", " end"], since=4, busy=True))
    texts = stage.page.evaluate("[...document.querySelectorAll('.at-box')].map((box) => box.textContent)")
    assert texts == ["<s>", "Hi", "I", "am", "the", "end"]
    assert "Token 4 of 4" in stage.find(".at-headline").inner_text()


def test_a_lost_update_is_asked_for_once_the_run_is_over(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:3], busy=True))
    stage.show(inspector=inspector(WORDS, since=5, busy=True))
    assert stage.find(".at-box").count() == 3
    stage.show(inspector=inspector(WORDS, since=6))
    assert stage.hears() == [("missing", {"run": "r1"})]
    stage.show(inspector=inspector(WORDS))
    assert stage.find(".at-box").count() == len(WORDS)


def test_what_was_looked_at_is_listed_and_the_sink_can_be_hidden(fresh: Stage) -> None:
    fresh.show(inspector=inspector(WORDS))
    # the query of token 6 is token 5; it looks at 0 and at 4, one half each; bytes make 50 % of a half exactly
    looked = fresh.find(".at-looked li")
    assert [looked.nth(i).inner_text().split() for i in range(looked.count())] == [
        ["<s>", "50.00", "%"],
        ["␣a", "50.00", "%"],
    ]
    fresh.find(".at-sink").click()
    sync_api.expect(looked).to_have_count(1)
    fresh.find(".at-looked li button").click()
    sync_api.expect(fresh.find(".at-headline")).to_contain_text("Token 3 of 5")


def test_the_map_reads_out_its_cells_and_selects_rows(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS))
    canvas = stage.find(".at-canvas")
    box = canvas.bounding_box()
    # 5 passes (queries 1 to 5) by 6 keys: the middle of the last row's fifth column is key 4
    position = {"x": box["width"] * 4.5 / 6, "y": box["height"] * 4.5 / 5}
    canvas.hover(position=position)
    assert stage.find(".at-readout").inner_text() == "␣fox → ␣a: 50.00\u00a0%, choosing ."
    canvas.click(position={"x": 3, "y": box["height"] * 2.5 / 5})
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 3 of 5")
    canvas.focus()
    stage.page.keyboard.press("ArrowUp")
    assert stage.find(".at-readout").inner_text().startswith("I → ")


def test_layers_and_heads_can_be_chosen(fresh: Stage) -> None:
    fresh.show(inspector=inspector(WORDS))
    options = fresh.page.evaluate("[...document.querySelectorAll('.at-map-pane select')].map((s) => s.options.length)")
    assert options == [LAYERS + 1, HEADS + 1]
    fresh.find('select[aria-label="Layer"]').select_option("1")
    fresh.find('select[aria-label="Head"]').select_option("2")
    assert fresh.find(".at-looked li").count() == 2


def test_the_colour_switch_is_for_both_and_is_remembered(fresh: Stage) -> None:
    text = "".join(WORDS[2:])
    fresh.show(conversation=conversation(turn("assistant", text, WORDS[2:])), inspector=inspector(WORDS))
    fresh.find(".at-switch label").nth(1).click()
    # token 6 was chosen looking at 0 and 4; the shade is relative to the strongest but for the first
    sync_api.expect(fresh.find('.at-box[data-index="4"]')).to_have_attribute("data-look", "10")
    sync_api.expect(fresh.find(".at-tok").nth(2)).to_have_attribute("data-look", "10")
    sync_api.expect(fresh.find(".at-tok").nth(1)).to_have_attribute("data-look", "0")
    fresh.find(".at-switch label").nth(2).click()
    modes = "[...document.querySelectorAll('[data-colour]')].map((node) => node.dataset.colour)"
    assert fresh.page.evaluate(modes) == ["off", "off"]
    fresh.page.reload()
    fresh.page.wait_for_selector(".attend-inspector > *")
    assert fresh.page.evaluate(modes) == ["off", "off"]


def test_in_write_mode_a_row_takes_its_token(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS, mode="write"))
    stage.find(".at-table tbody tr").nth(0).click()
    assert stage.hears() == [("take", {"index": 6, "id": 900})]
    stage.show(inspector=inspector(WORDS, run="r2"))
    assert stage.find(".at-take").count() == 0
    stage.find(".at-table tbody tr").nth(0).click()
    stage.page.wait_for_timeout(100)
    assert len(stage.heard) == 1


def test_the_numbers_can_be_copied(stage: Stage) -> None:
    stage.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    stage.show(inspector=inspector(["<s>", "Hi", '=1+"1"\n']))
    stage.find(".at-data summary").click()
    stage.find(".at-sheet button").nth(0).click()
    sync_api.expect(stage.find(".at-copied")).to_be_visible()
    lines = stage.page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "id,token,model,top-k,what became of it"
    assert lines[2] == r'2,"""=1+\""1\""\n""",0.25,0.294118,chosen'


# ---- the conversation ----


def test_copying_works_where_the_clipboard_is_refused(fresh: Stage) -> None:
    fresh.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    fresh.show(conversation=conversation(turn("user", "a <b>\n"), turn("assistant", "Hi", ["Hi"])))
    fresh.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }")
    for button, text in ((".at-user .at-icon >> nth=1", "a <b>\n"), (".at-assistant .at-icon >> nth=2", "Hi")):
        fresh.find(button).click()
        sync_api.expect(fresh.find(".at-copied").last).to_be_visible()
        assert fresh.page.evaluate("navigator.clipboard.readText()") == text
    fresh.find(".at-assistant .at-icon >> nth=3").click()
    fresh.page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('User: a <b>'))")


def test_an_empty_conversation_offers_examples(stage: Stage) -> None:
    stage.show(conversation=conversation())
    stage.find(".at-example").click()
    assert stage.hears() == [("example", {"text": "Hi! How are you?"})]


def test_streaming_adds_tokens_and_leaves_the_rest_alone(stage: Stage) -> None:
    old = [turn("user", "Hello"), turn("assistant", "Hi you", ["Hi", " you"], run="r0"), turn("user", "And?")]
    first = turn("assistant", "I am", ["I", " am"], state="streaming")
    stage.show(conversation=conversation(*old, first, busy=True))
    sync_api.expect(stage.find(".at-caret")).to_have_count(1)
    stage.page.evaluate("document.querySelectorAll('.at-turn, .at-tok').forEach((node) => { node.kept = true; })")
    later = turn("assistant", "I am a fox", ["I", " am", " a", " fox"], state="stopped", note="reached the limit")
    stage.show(conversation=conversation(*old, later))
    kept = "(selector) => [...document.querySelectorAll(selector)].map((node) => Boolean(node.kept))"
    assert stage.page.evaluate(kept, ".at-turn") == [True] * 4
    assert stage.page.evaluate(kept, ".at-tok") == [True] * 4 + [False] * 2
    assert stage.find(".at-text").nth(3).inner_text() == "I am a fox"
    assert stage.find(".at-note").nth(3).inner_text() == "stopped · reached the limit"
    assert stage.find(".at-caret").count() == 0


def test_a_click_shows_the_token_at_once_or_asks_for_its_run(stage: Stage) -> None:
    turns = [turn("assistant", "Oh no", ["Oh", " no"], run="r0"), turn("user", "Hi")]
    turns.append(turn("assistant", "".join(WORDS[2:]), WORDS[2:]))
    stage.show(conversation=conversation(*turns), inspector=inspector(WORDS))
    stage.find(".at-tok").nth(2 + 1).click()  # " am", of the run that is shown
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 2 of 5")
    sync_api.expect(stage.find(".at-tok.at-shown")).to_have_text(" am")
    assert stage.heard == []
    stage.find(".at-tok").nth(1).focus()
    stage.page.keyboard.press("Enter")
    assert stage.hears() == [("token", {"turn": 0, "index": 1})]


def test_retry_undo_and_edit_are_asked_for(stage: Stage) -> None:
    stage.show(conversation=conversation(turn("user", "Hello"), turn("assistant", "Hi", ["Hi"])))
    stage.find(".at-assistant .at-icon").nth(0).click()
    stage.find(".at-assistant .at-icon").nth(1).click()
    stage.find(".at-user .at-icon").nth(0).click()
    area = stage.find(".at-edit-text")
    area.fill("  ")
    assert stage.find(".at-edit .at-primary").is_disabled()
    stage.page.keyboard.press("Escape")
    assert area.count() == 0
    stage.find(".at-user .at-icon").nth(0).click()
    area.fill("Hello <b>you</b>")
    stage.find(".at-edit .at-primary").click()
    assert stage.hears(3) == [
        ("retry", {"turn": 1}),
        ("undo", {"turn": 1}),
        ("edit", {"turn": 0, "text": "Hello <b>you</b>"}),
    ]
    stage.show(
        conversation=conversation(turn("user", "Hello"), turn("assistant", "", [], state="streaming"), busy=True)
    )
    assert stage.find(".at-user .at-icon").count() == 1  # copying is all that can be done meanwhile


def test_dropped_turns_are_set_apart(stage: Stage) -> None:
    turns = [turn("user", "Old", dropped=True), turn("assistant", "Older", dropped=True), turn("user", "New")]
    stage.show(conversation=conversation(*turns))
    order = "[...document.querySelectorAll('.at-log > *')].map((node) => node.className)"
    assert stage.page.evaluate(order) == [
        "at-turn at-user at-dropped",
        "at-turn at-assistant at-dropped",
        "at-divider",
        "at-turn at-user",
    ]
    stage.show(conversation=conversation(turn("user", "New")))
    assert stage.page.evaluate(order) == ["at-turn at-user"]


# ---- both ----


def test_hostile_text_is_only_text(stage: Stage) -> None:
    words = ["<s>", "Hi", *HOSTILE]
    text = "".join(HOSTILE)
    shown = conversation(turn("user", text), turn("assistant", text, HOSTILE))
    stage.show(conversation=shown, inspector=inspector(words))
    assert stage.page.evaluate("document.querySelector('.at-user .at-text').textContent") == text
    assert stage.page.evaluate("document.querySelector('.at-assistant .at-text').textContent") == text
    assert stage.find(".at-text *:not(span), .attend-inspector img, .attend-inspector script").count() == 0
    for index in range(2, len(words)):
        stage.find(f'.at-box[data-index="{index}"]').click()
    stage.find(".at-data summary").click()
    boxes = stage.page.evaluate("[...document.querySelectorAll('.at-box')].slice(2).map((box) => box.textContent)")
    assert boxes == [
        "<img src=x onerror=alert(1)>",
        "${7*7}",
        "{{x}}",
        "</script><script>alert(2)</script>",
        "\u05e9\u05dc\u05d5\u05dd",
        "\u25cc\u0301",
        "U+202Eevil",
        "⏎",
        "`",
        "\\",
        "&amp;",
    ]


@pytest.mark.parametrize("words", [WORDS, ["<s>", "Hi", *HOSTILE, "long" * 60], ["<s>", *[" word"] * 300]])
def test_nothing_is_wider_than_a_phone(phone: Stage, words: list[str]) -> None:
    text = "".join(words[2:])
    shown = conversation(turn("user", text), turn("assistant", text, words[2:]))
    phone.show(conversation=shown, inspector=inspector(words))
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    for selector in (".at-bubble", ".at-strip", ".at-table", ".at-map", ".at-looked", ".at-cumulative"):
        box = phone.find(selector).first.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, selector
