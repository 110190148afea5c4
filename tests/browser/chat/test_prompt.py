"""The prompt and the system prompt on the page, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from model import catalog
from model.loaded import LoadedModel
from tests.helpers.browsing import Opener, serving
from tests.helpers.folders import CHATML, gpt2
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import say, take
from ui.chat.conversation_value import EXAMPLES

pytestmark = BROWSER
FOX = "You are a small fox."


def test_opened_it_leaves_the_newest_answer_in_view(visit: Opener) -> None:
    page = visit("?max_new_tokens=20&min_new_tokens=20", viewport={"width": 1280, "height": 640})
    for text in ("Hello", "How are you?", "And the fox?", "And the dog?"):
        say(page, text)
    fold, text, log = (
        page.locator(".attend-prompt summary"),
        page.locator(".attend-prompt-text"),
        page.locator(".at-log"),
    )
    expect(text).to_be_hidden()
    assert log.evaluate("log => log.scrollHeight > log.clientHeight")  # else it has no need to scroll
    room = log.evaluate("log => log.clientHeight")
    fold.focus()
    page.keyboard.press("Enter")
    expect(text).to_contain_text("<s><user>Hello<end><assistant>")
    expect(text.locator("b").first).to_have_text("<s>")
    page.wait_for_function("room => document.querySelector('.at-log').clientHeight < room", arg=room)
    page.wait_for_function(f"() => {{ {_BELOW}; return below < 2 }}")
    expect(page.locator(".at-tools").last).to_be_in_viewport()
    log.evaluate("log => { log.scrollTop = 0 }")  # whoever reads further up stays there
    page.wait_for_function(f"() => {{ {_BELOW}; return below > 48 }}")
    page.locator(".attend-prompt summary").click()
    page.wait_for_function("room => document.querySelector('.at-log').clientHeight === room", arg=room)
    assert log.evaluate("log => log.scrollTop") == 0


_BELOW = (
    "const log = document.querySelector('.at-log'); const below = log.scrollHeight - log.scrollTop - log.clientHeight"
)


@pytest.fixture(scope="module")
def chatml(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return catalog.load(str(gpt2(tmp_path_factory.mktemp("system") / "tiny-fox", CHATML, n_positions=512)))


@pytest.fixture(scope="module")
def two_models(tiny: LoadedModel, chatml: LoadedModel) -> Iterator[str]:
    """A page whose first model takes no system prompt and whose second does."""
    with serving(tiny, chatml) as address:
        yield address


def test_the_page_asks_for_it_where_the_model_takes_one(
    two_models: str, visit: Opener, chatml: LoadedModel, tiny: LoadedModel
) -> None:
    page = visit(at=two_models)
    field, text = page.locator("#attend-system"), page.locator(".attend-prompt-text")
    box = field.locator("textarea")
    page.locator(".attend-prompt summary").click()
    expect(field).to_contain_text("This model doesn't support system prompts: it was trained without them.")
    expect(box).to_be_hidden()
    take(page, chatml.name)
    expect(box).to_be_editable()
    hostile = "<img src=x> ${x} <|im_end|>"
    box.fill(hostile)
    examples = page.locator(".at-system-examples")
    examples.get_by_role("button", name="Pirate").click()
    expect(box).to_have_value(re.compile("You are a pirate"))
    expect(text).to_contain_text("system\nYou are a pirate")
    examples.get_by_role("button", name="Undo").click()
    expect(box).to_have_value(hostile)
    expect(examples.get_by_role("button", name="Undo")).to_be_hidden()
    expect(text).to_contain_text(f"<|im_start|>system\n{hostile}<|im_end|>\n<|im_start|>user\n{EXAMPLES[0]}")
    assert text.locator("img").count() == 0
    box.fill(FOX)
    say(page, "Hello")  # at once, whether or not the server already has the new system prompt
    expect(text).to_contain_text(f"<|im_start|>system\n{FOX}<|im_end|>\n<|im_start|>user\nHello")
    page.locator("#attend-code").click()
    expect(page.locator("#attend-code-dialog")).to_contain_text(f"--system '{FOX}'")
    page.keyboard.press("Escape")
    page.locator("#attend-clear").click()
    expect(page.locator(".at-assistant")).to_have_count(0)
    take(page, tiny.name)
    expect(box).to_be_hidden()
    expect(examples).to_be_hidden()
    say(page, "Hello")
    expect(text).to_have_text("<s><user>Hello<end><assistant>")
    page.locator("#attend-tabs label", has_text="Write").click()
    expect(field).to_be_hidden()
    take(page, chatml.name)
    page.locator("#attend-tabs label", has_text="Compare").click()
    expect(box).to_have_value(FOX)
