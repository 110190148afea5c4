"""Models without a chat template chat in a plain transcript: its ids, dropped messages, and the end of an answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import generate
from decoding.settings import DecodingSettings
from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message, Transcript
from tests.helpers.folders import gpt2
from tests.model.huggingface.generation.test_chat_template import TEMPLATES, talk
from ui.chat import chat_actions as chat
from ui.chat.chat_endpoint import chat_endpoint
from ui.chat.chat_reproduction import chat_reproduction
from ui.compare import compare_actions as comparing
from ui.runs.models import Models
from ui.runs.session import Session

GREEDY = DecodingSettings(strategy="greedy", max_new_tokens=24, min_new_tokens=24)
TALK = talk("Hi! How are you?", " Well, thank you.", "the cat\nsat ")
BEGUN = {"": "", "You are a fox.": "You are a fox.\n\n"}  # by the system prompt
with_and_without = pytest.mark.parametrize("system", BEGUN)
WRITTEN = "User: Hi! How are you?\nAssistant: Well, thank you.\nUser: the cat\nsat\nAssistant:"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return gpt2(tmp_path_factory.mktemp("transcript") / "plain")


@pytest.fixture(scope="module")
def loaded(folder: Path) -> LoadedModel:
    return catalog.load(str(folder))


def transcript(loaded: LoadedModel) -> Transcript:
    assert isinstance(loaded.chat, Transcript)
    return loaded.chat


@with_and_without
def test_a_conversation_is_written_in_words(system: str) -> None:
    assert Transcript.text(TALK, system and f" {system}\n") == BEGUN[system] + WRITTEN


@with_and_without
@pytest.mark.parametrize("template", ["ChatML", "alternating turns"])
def test_its_ids_are_those_that_transformers_has_for_the_text(template: str, system: str) -> None:
    tokenizer = TEMPLATES[template].tokenizer
    chat = Transcript(lambda text: (*tokenizer.prefix_tokens, *tokenizer.encode(text, begins=True)))
    prompt = chat.prompt(TALK, system=system, context_length=400, reserve=8)
    assert prompt.ids == tuple(tokenizer.hf_tokenizer(BEGUN[system] + WRITTEN)["input_ids"])


@with_and_without
def test_the_oldest_messages_drop_first_and_the_last_must_fit(loaded: LoadedModel, system: str) -> None:
    messages, chat = talk("the cat", "a mat", "the dog", "a log", "the fox"), transcript(loaded)
    sizes = {first: len(loaded.prompt(Transcript.text(messages[first:], system))) for first in (0, 2, 4)}
    for first, size in sizes.items():
        prompt = chat.prompt(messages, system=system, context_length=size + 5, reserve=6)
        assert (prompt.dropped, len(prompt.ids)) == (first, size)
    assert chat.prompt(messages, system=system, context_length=sizes[0] + 5, reserve=7).dropped == 2  # of 7, 6 are read
    assert len(chat.prompt(messages[-1:], system=system, context_length=sizes[4], reserve=6).ids) == sizes[4]
    words = sizes[4] - len(loaded.prompt("User: \nAssistant:"))
    what = "The system prompt and the message have" if system else "The message has"
    with pytest.raises(AttendError, match=f"{what} {words} tokens.*shorten"):
        chat.prompt(messages[-1:], system=system, context_length=sizes[4] - 1, reserve=6)


def test_a_checkpoint_without_a_template_chats_so_and_typed_control_tokens_stay_text(loaded: LoadedModel) -> None:
    prompt = transcript(loaded).prompt(TALK[:1], context_length=128, reserve=8)
    assert prompt.ids == loaded.prompt("User: Hi! How are you?\nAssistant:")
    typed = "<|endoftext|>"
    ids = transcript(loaded).prompt([Message("user", typed)], system=typed, context_length=128, reserve=6).ids
    assert not any(loaded.tokenizer.is_special(piece) for piece in ids)
    assert loaded.tokenizer.decode(ids) == f"{typed}\n\nUser: {typed}\nAssistant:"


@pytest.fixture(scope="module")
def stopping(loaded: LoadedModel) -> tuple[LoadedModel, str]:
    """The model with a stop text that occurs in its greedy answer, and that answer up to the stop text."""
    session, models = Session(), Models((loaded.name,), lambda *_: loaded)
    list(chat.send(session, models, loaded.name, "the cat", GREEDY))
    answer = session.turns[1].text
    cut = len(answer) // 2
    ends = Transcript(loaded.prompt)
    ends.stop_texts = (answer[cut : cut + 3],)
    expected = answer[: answer.index(ends.stop_texts[0])]
    assert expected != answer
    return replace(loaded, chat=ends), expected


def test_an_answer_ends_at_the_next_turn_on_every_path(stopping: tuple[LoadedModel, str]) -> None:
    loaded, expected = stopping
    session, models = Session(), Models((loaded.name,), lambda *_: loaded)
    list(chat.send(session, models, loaded.name, "the cat", GREEDY))
    assert session.turns[1].text == expected
    assert session.turns[1].note == f"stopped at “{transcript(loaded).stop_texts[0]}”".replace("\n", "↵")
    *_, last = chat_endpoint(models)("the cat", [], loaded.name, {"strategy": "greedy", "min_new_tokens": 24})
    assert (last["text"], last["finish_reason"]) == (expected, "stop_text")
    cards = [GREEDY.to_dict(), {**GREEDY.to_dict(), "strategy": "beam", "num_beams": 1}]
    options = {"answer": True, "history": False, "common": True, "shared": GREEDY}
    list(comparing.compare(session, models, loaded.name, "the cat", cards, **options))
    assert session.comparison is not None
    assert [card.trace.text for card in session.comparison.cards] == [expected] * 2
    assert chat_reproduction(session, loaded, "", GREEDY).settings.stop_texts == transcript(loaded).stop_texts


def test_the_run_says_at_what_it_would_have_ended(loaded: LoadedModel, folder: Path, tmp_path: Path) -> None:
    flags = ("--model", str(folder), "--chat", "--strategy", "greedy", "--max-new-tokens", "4", "--stop-texts", "###")
    assert generate.main(["Hi", *flags, "--json", str(tmp_path / "run.json")]) == 0
    assert '"stop_texts": ["###", "\\nUser:"]' in (tmp_path / "run.json").read_text()
    assert GREEDY.ending_at(transcript(loaded).stop_texts).ending_at(["\nUser:"]).stop_texts == ("\nUser:",)
