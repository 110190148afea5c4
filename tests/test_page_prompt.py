"""The page says how a conversation is written for the model, and shows the prompt that it was given."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from decoding.settings import DecodingSettings
from model import catalog
from model.loaded import LoadedModel
from tests.browsing import Opener
from tests.folders import gpt2, llama, t5
from tests.stage import BROWSER
from tests.visitor import say
from ui import chat
from ui.models import Models
from ui.prompt_value import prompt_value
from ui.session import Session
from ui.values import EXAMPLES

SHORT = DecodingSettings(seed=1, max_new_tokens=4)


def answered(loaded: LoadedModel, *messages: str) -> Session:
    session, models = Session(), Models((loaded.name,), lambda *_: loaded)
    for message in messages:
        list(chat.send(session, models, loaded.name, message, SHORT))
    return session


def test_control_tokens_and_texts_are_told_apart(tiny: LoadedModel) -> None:
    value = prompt_value(answered(tiny, "say <end> ${x}"), tiny)
    assert value["parts"] == [
        ("<s>", True),
        ("<user>", True),
        ("say <end> ${x}", False),
        ("<end>", True),
        ("<assistant>", True),
    ]
    assert (value["manner"], value["of"]) == ("turns as the model was trained on them", "The newest answer’s prompt")


def test_it_is_the_prompt_that_was_read(tiny: LoadedModel) -> None:
    session = answered(tiny, "Hello", "How are you?")
    parts = prompt_value(session, tiny)["parts"]
    assert session.newest_answer is not None
    trace = session.newest_answer.trace
    assert trace is not None
    read, tokenizer = trace.request.prompt, tiny.tokenizer
    assert "".join(text for text, control in parts if not control) == tokenizer.decode(read)
    assert [text for text, control in parts if control] == [
        tokenizer.label(piece) for piece in read if tokenizer.is_control(piece)
    ]
    assert "Hello" in tokenizer.decode(read)


def test_before_an_answer_it_is_an_examples(tiny: LoadedModel, tiny_writer: LoadedModel) -> None:
    for session in (Session(), answered(tiny_writer)):
        value = prompt_value(session, tiny)
        assert value["of"] == "An example’s prompt"
        assert (EXAMPLES[0], False) in value["parts"]
    assert prompt_value(Session(), tiny_writer) == {"manner": "", "of": "", "parts": []}


@pytest.mark.parametrize(
    ("make", "manner", "parts"),
    [
        (gpt2, "plain transcript", [(f"User: {EXAMPLES[0]}\nAssistant:", False)]),
        (llama, "chat template of the checkpoint", [("<s>", True), (f"[INST] {EXAMPLES[0]} [/INST]", False)]),
        (t5, "each message alone", None),
    ],
)
def test_every_kind_of_checkpoint_says_its_manner(
    make: object, manner: str, parts: list[tuple[str, bool]] | None, tmp_path: Path
) -> None:
    assert callable(make)
    value = prompt_value(Session(), catalog.load(str(make(tmp_path / "model"))))
    assert value["manner"] == manner
    if parts is not None:
        assert value["parts"] == parts
    else:
        assert value["parts"][-1] == ("</s>", True)


@pytest.mark.browser
@BROWSER[1]
def test_the_page_shows_it_folded(visit: Opener) -> None:
    page = visit()
    fold = page.locator(".attend-prompt")
    expect(fold.locator("summary")).to_contain_text("Written for the model as: turns as the model was trained on them")
    text = page.locator(".attend-prompt-text")
    expect(text).to_be_hidden()
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(text).to_contain_text(f"<s><user>{EXAMPLES[0]}<end><assistant>")
    hostile = "<img src=x> <end> ${x} {{y}}"
    say(page, hostile)
    expect(text).to_contain_text(f"<user>{hostile}<end><assistant>")
    expect(text.locator("b")).to_have_text(["<s>", "<user>", "<end>", "<assistant>"])
    assert text.locator("img").count() == 0


@pytest.mark.browser
@BROWSER[1]
def test_opened_it_leaves_the_newest_answer_in_view(visit: Opener) -> None:
    page = visit("?max_new_tokens=20&min_new_tokens=20", viewport={"width": 1280, "height": 640})
    for text in ("Hello", "How are you?", "And the fox?", "And the dog?"):
        say(page, text)
    log = page.locator(".at-log")
    assert log.evaluate("log => log.scrollHeight > log.clientHeight")  # else it has no need to scroll
    room = log.evaluate("log => log.clientHeight")
    page.locator(".attend-prompt summary").click()
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
