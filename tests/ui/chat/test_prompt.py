"""The page says how a conversation is written for the model, and shows the prompt that it was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from model import catalog
from model.loaded import LoadedModel
from tests.helpers.folders import gpt2, llama, t5
from tests.ui.chat.test_message_tokens import answered
from ui.chat.conversation_value import EXAMPLES
from ui.chat.prompt_value import prompt_value
from ui.runs.session import Session


def test_special_tokens_and_texts_are_distinguished(tiny: LoadedModel) -> None:
    session, _ = answered(tiny, "say <end> ${x}")
    value = prompt_value(session, tiny)
    assert value["parts"] == [
        ("<s>", True),
        ("<user>", True),
        ("say <end> ${x}", False),
        ("<end>", True),
        ("<assistant>", True),
    ]
    assert (value["manner"], value["of"]) == ("chat template", "Prompt of the latest answer")


def test_it_is_the_prompt_that_was_read(tiny: LoadedModel) -> None:
    session, run = answered(tiny, "Hello", "How are you?")
    parts = prompt_value(session, tiny)["parts"]
    assert run.trace is not None
    read, tokenizer = run.trace.request.prompt, tiny.tokenizer
    assert "".join(text for text, control in parts if not control) == tokenizer.decode(read)
    assert [text for text, control in parts if control] == [
        tokenizer.label(piece) for piece in read if tokenizer.is_special(piece)
    ]
    assert "Hello" in tokenizer.decode(read)


def test_before_an_answer_it_is_an_examples(tiny: LoadedModel, tiny_writer: LoadedModel) -> None:
    value = prompt_value(Session(), tiny)
    assert value["of"] == "Prompt of an example"
    assert (EXAMPLES[0], False) in value["parts"]
    assert prompt_value(Session(), tiny_writer) == {"manner": "", "of": "", "parts": []}


@pytest.mark.parametrize(
    ("make", "manner", "parts"),
    [
        (gpt2, "plain transcript", [(f"User: {EXAMPLES[0]}\nAssistant:", False)]),
        (llama, "chat template", [("<s>", True), (f"[INST] {EXAMPLES[0]} [/INST]", False)]),
        (t5, "each message on its own", None),
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
