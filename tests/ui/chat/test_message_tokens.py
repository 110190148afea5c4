"""Which tokens of a prompt a message is made of, in every way of writing conversations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from decoding.settings import DecodingSettings
from model import catalog
from model.loaded import LoadedModel
from tests.helpers.folders import CHATML, gpt2, llama
from ui.chat import chat_actions as chat
from ui.chat.message_tokens import find_message_tokens, message_tokens
from ui.inspector.opening import explained_prompt
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session

SHORT = DecodingSettings(seed=1, max_new_tokens=4)
MESSAGES = ("user", "  assistant Hi é😀 \n", "User: <end> [INST]")  # two are the words of a template, too


def answered(loaded: LoadedModel, *messages: str, system: str = "") -> tuple[Session, RunRecord]:
    session, models = Session(), Models((loaded.name,), lambda *_: loaded)
    for message in messages:
        list(chat.send(session, models, loaded.name, message, SHORT, system=system))
    run = session.newest_answer
    assert run is not None
    return session, run


def test_the_prompt_is_as_surprising_as_the_model_itself_says(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, run = answered(tiny, "Hi")
    models = Models((tiny.name,), lambda *_: tiny)
    before = run.first
    with monkeypatch.context() as without:  # the attention of a long prompt, which isn't needed, may take gigabytes
        without.setattr(type(tiny.model), "inspect", None)
        value = explained_prompt(session, models, run.id)
    assert value is not None and run.first == before  # what is the prompt stays the prompt
    prompt = run.ids[:before]
    logits = tiny.model.inspect(prompt[:-1]).logits.double()
    expected = logits.log_softmax(-1)[range(before - 1), list(prompt[1:])].exp()
    probabilities = [
        next(each["probabilities"][0] for each in step["candidates"] if each["id"] == step["id"])
        for step in value.get("prompt_steps", [])
    ]
    assert probabilities == pytest.approx(expected.tolist(), rel=1e-4)
    assert {step["origin"] for step in value.get("prompt_steps", [])} == {"given"}
    session.inspected_run = None  # another run, or none
    assert explained_prompt(session, models, run.id) is None


@pytest.mark.parametrize(
    ("make", "system"),
    [
        (lambda folder: gpt2(folder, CHATML, n_positions=512), "user"),
        (lambda folder: gpt2(folder, None, n_positions=512), "user"),  # a plain transcript
        (lambda folder: llama(folder), ""),
    ],
    ids=["chatml", "transcript", "inst"],
)
def test_the_parts_are_those_of_the_tokens(make: Callable[[Path], Path], system: str, tmp_path: Path) -> None:
    loaded = catalog.load(str(make(tmp_path / "model")))
    session, run = answered(loaded, *MESSAGES, system=system)
    messages = message_tokens(run, loaded)
    assert ["".join(part["text"] for part in parts) for parts in messages] == [turn.text for turn in session.turns[:-1]]
    numbers = [number for parts in messages for part in parts if (number := part["token"]) is not None]
    assert numbers == sorted(set(numbers)) and numbers[-1] < run.first
    for parts in messages:
        for text, number in ((part["text"], part["token"]) for part in parts):
            if number is None:
                assert text.isspace()
            elif text.isascii():  # what lies on a boundary is shared with the text around it
                assert text in loaded.tokenizer.decode([run.ids[number]])


def test_in_our_own_format_they_are_the_tokens_between_the_special_ones(tiny: LoadedModel) -> None:
    _, run = answered(tiny, *MESSAGES)
    messages = message_tokens(run, tiny)
    special = [number for number, piece in enumerate(run.ids[: run.first]) if tiny.tokenizer.is_special(piece)]
    # <s> <user> … <end> <assistant> … <end> …: every second space between special tokens holds a message
    between = [range(one + 1, other) for one, other in zip(special[1::2], special[2::2], strict=False)]
    texts = [tiny.tokenizer.decode(run.ids[number] for number in numbers) for numbers in between]
    assert ["".join(part["text"] for part in parts) for parts in messages] == texts
    for parts, numbers in zip(messages, between, strict=True):
        assert {part["token"] for part in parts} <= set(numbers)
    for parts, numbers in zip(messages[::2], between[::2], strict=True):  # an answer may begin within a character
        assert parts[0]["token"] == numbers[0] and parts[-1]["token"] == numbers[-1]


def test_messages_that_no_longer_fit_have_none(tiny: LoadedModel) -> None:
    session, run = answered(tiny, *(f"This is message {number}." for number in range(30)))
    assert run.dropped
    messages = message_tokens(run, tiny)
    assert ["".join(part["text"] for part in parts) for parts in messages] == [
        turn.text for turn in session.turns[run.dropped : -1]
    ]


def test_there_are_none_if_they_cannot_be_found(tiny: LoadedModel, tiny_writer: LoadedModel) -> None:
    session, run = answered(tiny, "Hello")
    models = Models((tiny.name,), lambda *_: tiny)
    assert find_message_tokens(session, models, run.id) == message_tokens(run, tiny) != []
    elsewhere = Models((tiny_writer.name,), lambda *_: tiny_writer)
    assert find_message_tokens(session, elsewhere, run.id) == []
    assert find_message_tokens(session, models, "another") == []
    run.forget_explanations()
    assert message_tokens(run, tiny) == []
