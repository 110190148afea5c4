"""Tokens whose text takes no room can be seen and clicked wherever tokens are shown, and the text stays as it is."""

from __future__ import annotations

from playwright import sync_api

from tests.helpers.stage import BROWSER, Stage, conversation, inspector, turn

pytestmark = BROWSER

# A combining accent, a zero-width space, a variation selector, a control character, a soft hyphen, no text at all (an
# end token, a byte of a letter), a line end, a tag character, a joiner.
WIDTHLESS = ["\u0301", "\u200b", "\ufe0f", "\u0007", "\u00ad", "", "\n", "\U000e0067", "\u200d"]
SHAPES = ["◌\u0301", "U+200B", "U+FE0F", "U+0007", "U+00AD", "◌", "↵", "U+E0067", "U+200D"]


def test_a_token_without_a_width_has_a_shape_that_can_be_clicked(stage: Stage) -> None:
    words = ["e", *WIDTHLESS, " ok"]
    answer = turn("assistant", "".join(words), words)
    stage.show(conversation=conversation(turn("user", "Hi"), answer), inspector=inspector(["<s>", "Hi", *words]))
    tokens, boxes = stage.find(".at-log .at-tok"), stage.find(".at-box")
    text = stage.find(".at-assistant .at-text")
    assert text.evaluate("one => one.textContent") == "".join(words)  # nothing is added to what is copied
    for number, shape in enumerate(SHAPES, start=1):
        token, box = tokens.nth(number), boxes.nth(2 + number)
        tokens.first.click()
        token.click()
        sync_api.expect(token).to_have_class("at-tok at-shown")
        sync_api.expect(box).to_have_attribute("aria-selected", "true")
        assert token.evaluate("one => one.getBoundingClientRect().width") >= 8, shape
        assert (token.get_attribute("title") or "").startswith(shape)
        sign = token.evaluate("one => getComputedStyle(one, '::before').content")
        assert (sign == f'"{shape}"') == (shape == "↵")  # a line end alone has its sign in the text, too
        boxes.first.click()
        box.click()
        sync_api.expect(token).to_have_class("at-tok at-shown")
        sync_api.expect(box).to_have_text(shape)
        sync_api.expect(stage.find(".at-headline .at-chip")).to_have_text(shape)


def test_tokens_that_only_together_form_a_character_stand_in_a_frame_with_it(stage: Stage) -> None:
    """A fox is the bytes F0 9F A6 8A in UTF-8."""
    fox = ["<0xF0>", "<0x9F>", "<0xA6>", "<0x8A>"]
    stage.show(inspector=inspector(["<s>", "Hi", *fox[:3]], busy=True))
    sync_api.expect(stage.find(".at-box")).to_have_count(5)
    assert stage.find(".at-group").count() == 0  # it is no character yet
    words = ["<s>", "Hi", *fox, " ok"]
    stage.show(inspector=inspector(words))
    sync_api.expect(stage.find(".at-group .at-box")).to_have_text(fox)
    sync_api.expect(stage.find(".at-group .at-character")).to_have_text("🦊")
    sync_api.expect(stage.find(".at-box")).to_have_text(words)  # in the order of the text
    headline = stage.find(".at-headline")
    stage.find(".at-group .at-box").nth(2).click()
    sync_api.expect(headline).to_contain_text("Token 3 of 5")
    stage.page.keyboard.press("ArrowRight")
    stage.page.keyboard.press("ArrowRight")
    sync_api.expect(headline).to_contain_text("Token 5 of 5")
    stage.find(".at-character").click()
    sync_api.expect(headline).to_contain_text("Token 1 of 5")
    stage.show(inspector=inspector(["<s>", "Hi", *fox[:2], " ok"]))
    sync_api.expect(stage.find(".at-group")).to_have_count(0)
    sync_api.expect(stage.find(".at-box")).to_have_text(["<s>", "Hi", *fox[:2], " ok"])


def test_a_mark_stays_on_its_letter(stage: Stage) -> None:
    """The shape stands behind the mark: one between the two would show the mark alone."""
    stage.show(conversation=conversation(turn("assistant", "e\u0301", ["e", "\u0301"])))
    shapes = "one => ['::before', '::after'].map((part) => getComputedStyle(one, part).content)"
    assert stage.find(".at-log .at-tok").nth(1).evaluate(shapes) == ["none", '""']
