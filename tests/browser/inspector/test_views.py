"""The conversation, alone and beside the inspector, in a real browser: what is drawn, requested and left untouched."""

from __future__ import annotations

import pytest
from playwright import sync_api

from tests.helpers.stage import BROWSER, HOSTILE, WORDS, Stage, conversation, inspector, turn, update

pytestmark = BROWSER


# ---- the conversation ----


def test_copying_works_where_the_clipboard_is_refused(fresh: Stage) -> None:
    fresh.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    fresh.show(conversation=conversation(turn("user", "a <b>\n"), turn("assistant", "Hi", ["Hi"])))
    fresh.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }")
    for button, text in ((".at-user .at-icon >> nth=1", "a <b>\n"), (".at-assistant .at-icon >> nth=2", "Hi")):
        fresh.find(button).click()
        sync_api.expect(fresh.find(f"{button.split()[0]} .at-copied")).to_be_visible()
        assert fresh.page.evaluate("navigator.clipboard.readText()") == text
    fresh.find(".at-menu summary").click()
    fresh.page.get_by_role("button", name="Copy as Markdown").click()
    fresh.page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('**User**'))")


def test_an_empty_conversation_offers_examples(stage: Stage) -> None:
    stage.show(conversation=conversation())
    stage.find(".at-example").click()
    assert stage.wait_for_events() == [("example", {"text": "Hi! How are you?"})]


def test_streaming_adds_tokens_and_leaves_the_rest_alone(stage: Stage) -> None:
    old = [turn("user", "Hello"), turn("assistant", "Hi you", ["Hi", " you"], run="r0"), turn("user", "And?")]
    first = turn("assistant", "I am", ["I", " am"], state="streaming")
    stage.show(conversation=conversation(*old, first, busy=True))
    sync_api.expect(stage.find(".at-caret")).to_have_count(1)
    stage.page.evaluate("document.querySelectorAll('.at-turn, .at-tok').forEach((node) => { node.kept = true; })")
    later = turn("assistant", "I am a fox", ["I", " am", " a", " fox"], state="stopped", note="reached the limit")
    stage.show(conversation=conversation(*old, later))
    sync_api.expect(stage.find(".at-text").nth(3)).to_have_text("I am a fox")
    kept = "(selector) => [...document.querySelectorAll(selector)].map((node) => Boolean(node.kept))"
    assert stage.page.evaluate(kept, ".at-turn") == [True] * 4
    assert stage.page.evaluate(kept, ".at-tok") == [True] * 4 + [False] * 2
    sync_api.expect(stage.find(".at-note").nth(3)).to_have_text("stopped · reached the limit")
    sync_api.expect(stage.find(".at-caret")).to_have_count(0)


def test_an_update_draws_what_differs_alone(stage: Stage) -> None:
    first = turn("assistant", "I am a", ["I", " am", " a"], state="streaming")
    stage.show(conversation=conversation(turn("user", "Hello"), first, busy=True))
    tokens = sync_api.expect(stage.find(".at-tok"))
    tokens.to_have_count(3)
    stage.page.evaluate("document.querySelectorAll('.at-turn, .at-tok').forEach((node) => { node.kept = true; })")
    stage.show(conversation=update(1, since=2, words=[" a", " fox"]))  # one token again
    tokens.to_have_text(["I", " am", " a", " fox"])
    kept = "[...document.querySelectorAll('.at-tok')].map((node) => [node.textContent, Boolean(node.kept)])"
    assert stage.page.evaluate(kept) == [["I", True], [" am", True], [" a", True], [" fox", False]]
    stage.show(conversation=update(2, since=1, words=[" was"], state="done", note="reached the limit", busy=False))
    tokens.to_have_text(["I", " was"])
    assert stage.page.evaluate(kept) == [["I", True], [" was", False]]  # a search has found a better text
    assert stage.page.evaluate("[...document.querySelectorAll('.at-turn')].every((node) => node.kept)")
    sync_api.expect(stage.find(".at-note").last).to_have_text("reached the limit")
    sync_api.expect(stage.find(".at-caret")).to_have_count(0)
    sync_api.expect(stage.find(".at-user .at-icon")).to_have_count(2)  # it can be edited again
    assert stage.events == []


def test_tokens_that_come_after_the_inspectors_are_marked_at_once(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS))
    stage.show(conversation=conversation(turn("user", "Hello"), turn("assistant", "".join(WORDS[2:]), WORDS[2:])))
    sync_api.expect(stage.find(".at-tok.at-shown")).to_have_text(WORDS[-1])


def test_missing_turns_are_requested_and_what_is_shown_stays(stage: Stage) -> None:
    first = turn("assistant", "I am", ["I", " am"], state="streaming")
    stage.show(conversation=conversation(turn("user", "Hello"), first, busy=True))
    stage.show(conversation=update(2, since=3, words=[" fox"]))
    assert stage.wait_for_events() == [("missing", {})]
    assert stage.find(".at-text").last.inner_text() == "I am"
    full = turn("assistant", "I am a fox", ["I", " am", " a", " fox"], state="streaming", version=2)
    stage.show(conversation=conversation(turn("user", "Hello"), full, busy=True))
    stage.show(conversation=update(3, since=4, words=["."]))
    sync_api.expect(stage.find(".at-text").last).to_have_text("I am a fox.")


def test_a_click_shows_the_token_at_once_or_asks_for_its_run(stage: Stage) -> None:
    turns = [turn("assistant", "Oh no", ["Oh", " no"], run="r0"), turn("user", "Hi")]
    turns.append(turn("assistant", "".join(WORDS[2:]), WORDS[2:]))
    stage.show(conversation=conversation(*turns), inspector=inspector(WORDS))
    stage.find(".at-tok").nth(2 + 1).click()  # " am", of the run that is shown
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 2 of 5")
    sync_api.expect(stage.find(".at-tok.at-shown")).to_have_text(" am")
    assert stage.events == []
    stage.find(".at-tok").nth(1).focus()
    stage.page.keyboard.press("Enter")
    assert stage.wait_for_events() == [("token", {"turn": 0, "index": 1})]


def test_retry_undo_and_edit_trigger_their_events(stage: Stage) -> None:
    stage.show(conversation=conversation(turn("user", "Hello"), turn("assistant", "Hi", ["Hi"])))
    stage.find(".at-assistant .at-icon").nth(0).click()
    stage.wait_for_events()  # of two at once either may come first
    stage.find(".at-assistant .at-icon").nth(1).click()
    stage.wait_for_events(2)
    stage.find(".at-user .at-icon").nth(0).click()
    area = stage.find(".at-edit-text")
    area.fill("  ")
    sync_api.expect(stage.find(".at-edit .at-primary")).to_be_disabled()
    stage.page.keyboard.press("Escape")
    sync_api.expect(area).to_have_count(0)
    stage.find(".at-user .at-icon").nth(0).click()
    area.fill("Hello <b>you</b>")
    sync_api.expect(stage.find(".at-edit")).to_contain_text("Enter to send")
    stage.page.keyboard.press("Enter")
    assert stage.wait_for_events(3) == [
        ("retry", {"turn": 1}),
        ("undo", {"turn": 1}),
        ("edit", {"turn": 0, "text": "Hello <b>you</b>"}),
    ]
    stage.show(
        conversation=conversation(turn("user", "Hello"), turn("assistant", "", [], state="streaming"), busy=True)
    )
    sync_api.expect(stage.find(".at-user .at-icon")).to_have_count(1)  # copying is all that can be done meanwhile


def test_the_keyboard_stays_with_a_message_whose_first_version_was_not_edited(stage: Stage) -> None:
    stage.show(conversation=conversation(turn("user", "Hello", versions=(0, 2)), turn("assistant", "Hi", ["Hi"])))
    stage.find(".at-user").get_by_role("button", name="Edit").click()
    stage.page.keyboard.press("Escape")
    sync_api.expect(stage.find(".at-user .at-icon:focus")).to_have_attribute("aria-label", "Next version")


def test_a_line_does_not_end_with_the_colour_of_a_space(stage: Stage) -> None:
    words = ["So", *[" word", " and"] * 60, "\n", " x"]
    stage.show(conversation=conversation(turn("user", "Hi"), turn("assistant", "".join(words), words)))
    sync_api.expect(stage.find(".at-tok")).to_have_count(len(words))
    coloured = """tokens => tokens.map((one) => [...one.getClientRects()].filter((box) => box.width > 0.5).length)"""
    assert stage.find(".at-tok").evaluate_all(coloured)[:121] == [1] * 121
    assert stage.find(".at-text").last.inner_text() == "".join(words)  # every space is still there


def test_a_token_without_a_text_is_named_once_it_has_a_name(stage: Stage) -> None:
    """But not the bytes of a character: their names say little, and the character is there."""

    def show(state: str, *labels: str) -> None:
        answer = turn("assistant", "Hi", ["Hi", "", ""], state=state)
        assert answer["tokens"] is not None
        for token, label in zip(answer["tokens"][1:], labels, strict=False):
            token["label"] = label
        stage.show(conversation=conversation(turn("user", "Hello"), answer, busy=state == "streaming"))

    tokens, width = stage.find(".at-tok"), "one => one.getBoundingClientRect().width"
    piece, end = tokens.nth(1), tokens.nth(2)
    show("streaming")
    sync_api.expect(end).to_have_attribute("data-shape", "before")
    nameless = end.evaluate(width)
    show("done", "<0xF0>", "<end>")
    sync_api.expect(piece).to_have_attribute("title", "<0xF0> · 25.00\u00a0%")
    sync_api.expect(piece).to_have_attribute("data-shape", "before")
    sync_api.expect(end).to_have_attribute("title", "<end> · 25.00\u00a0%")
    sync_api.expect(end).to_have_attribute("data-shape", "name")
    assert end.evaluate(width) > nameless + 15  # it is written there
    assert stage.find(".at-assistant .at-text").evaluate("one => one.textContent") == "Hi"  # and not copied


def test_dropped_turns_are_set_apart(stage: Stage) -> None:
    turns = [turn("user", "Old", dropped=True), turn("assistant", "Older", dropped=True), turn("user", "New")]
    stage.show(conversation=conversation(*turns))
    entries = sync_api.expect(stage.find(".at-log > *"))
    entries.to_have_count(4)
    order = "[...document.querySelectorAll('.at-log > *')].map((node) => node.className)"
    assert stage.page.evaluate(order) == [
        "at-turn at-user at-dropped",
        "at-turn at-assistant at-dropped",
        "at-row at-sm at-quiet at-divider",
        "at-turn at-user",
    ]
    first, last = stage.find(".at-bubble").first, stage.find(".at-bubble").last
    colour = "one => getComputedStyle(one).color"
    assert first.evaluate(colour) != last.evaluate(colour)  # dimmed, and said in words
    sync_api.expect(first).to_contain_text("No longer in the context. You: Old")
    assert "No longer" not in last.inner_text()
    stage.show(conversation=conversation(turn("user", "New")))
    entries.to_have_count(1)
    assert stage.page.evaluate(order) == ["at-turn at-user"]


# ---- both ----


def test_hostile_text_is_only_text(stage: Stage) -> None:
    words = ["<s>", "Hi", *HOSTILE]
    text = "".join(HOSTILE)
    turns = [turn("user", text), turn("assistant", text, HOSTILE)]
    stage.show(conversation=conversation(*turns), inspector=inspector(words))
    sync_api.expect(stage.find(".at-tok")).to_have_count(len(HOSTILE))
    sync_api.expect(stage.find(".at-headline")).to_contain_text(f"of {len(HOSTILE)}")
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
        "↵",
        "`",
        "\\",
        "&amp;",
    ]


def test_the_selected_token_stays_whole_in_its_strip_when_the_lines_break_elsewhere(stage: Stage) -> None:
    stage.show(inspector=inspector([*WORDS, *[" on"] * 120]))
    stage.find('.at-box[data-index="100"]').click()
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 99 of 125")
    stage.page.set_viewport_size({"width": 1024, "height": 900})
    stage.page.wait_for_function("""() => {
      const strip = document.querySelector('.at-strip');
      const { offsetTop, offsetHeight } = strip.querySelector('[aria-selected="true"]');
      return strip.scrollTop <= offsetTop && offsetTop + offsetHeight <= strip.scrollTop + strip.clientHeight;
    }""")
    stage.page.set_viewport_size({"width": 1440, "height": 900})


@pytest.mark.parametrize("words", [WORDS, ["<s>", "Hi", *HOSTILE, "long" * 60], ["<s>", *[" word"] * 300]])
def test_nothing_is_wider_than_a_phone(phone: Stage, words: list[str]) -> None:
    text = "".join(words[2:])
    turns = [turn("user", text), turn("assistant", text, words[2:])]
    phone.show(conversation=conversation(*turns), inspector=inspector(words))
    sync_api.expect(phone.find(".at-headline")).to_contain_text(f"of {len(words) - 2}")
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    for selector in (".at-bubble", ".at-strip", ".at-table", ".at-map", ".at-attended", ".at-cumulative"):
        box = phone.find(selector).first.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, selector


def test_on_a_phone_the_candidates_fit_their_column_and_have_room_for_tokens(phone: Stage) -> None:
    """There the inspector is 343 pixels wide; it was 8 too few, and a token had 64."""
    value = inspector(["<s>", "Hi", " understandably"], mode="write")
    phone.show(inspector=value)
    sync_api.expect(phone.find(".at-table .at-by")).to_have_count(1)
    phone.find(".attend-inspector").evaluate("one => { one.style.width = '343px'; }")
    widths = "selectors => selectors.map((one) => document.querySelector(one).getBoundingClientRect().width)"
    table, column, token = phone.page.evaluate(widths, [".at-table", ".at-table-pane", ".at-table tbody th"])
    phone.find(".attend-inspector").evaluate("one => { one.style.width = ''; }")
    assert table <= column
    assert token > 100
