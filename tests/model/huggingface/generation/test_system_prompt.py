"""The system prompt of every chat format: the ids of transformers, nothing dropped in silence, and text stays text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from model import catalog
from model.errors import AttendError
from model.huggingface.generation.chat_template import TemplateChat
from model.huggingface.tokenizer import HuggingFaceTokenizer
from model.loaded import LoadedModel
from model.text.conversation import Message, Transcript
from tests.helpers.folders import CHATML, INST, byte_level, gpt2, sentence_piece, t5
from tests.model.huggingface.generation.test_chat_template import HOSTILE, talk

_TURNS = (  # Llama 2's without its checks: a system prompt is the beginning of the first user's message
    "{% if messages[0]['role'] == 'system' %}{% set first = SYSTEM %}{% set rest = messages[1:] %}"
    "{% else %}{% set first = '' %}{% set rest = messages %}{% endif %}"
    "{% for m in rest %}{% if m['role'] == 'user' %}"
    "{{ bos_token + '[INST] ' + (first if WHERE else '') + m['content'].strip() + ' [/INST]' }}"
    "{% else %}{{ ' ' + m['content'].strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
)
_LLAMA_2 = _TURNS.replace("SYSTEM", "'<<SYS>>\n' + messages[0]['content'] + '\n<</SYS>>\n\n'")
_MISTRAL = _TURNS.replace("SYSTEM", "messages[0]['content'] + '\n\n'")

TAKEN = {
    "ChatML": byte_level(CHATML),
    "a default of its own": byte_level(  # as Qwen2.5's and SmolLM2's
        "{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are Tiny.<|im_end|>\n' }}{% endif %}"
        + CHATML
    ),
    "headers": byte_level(  # as Llama 3's
        "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '<|im_end|>\n\n' }}"
        "{{ m['content'] | trim + '<|endoftext|>' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_end|>\n\n' }}{% endif %}"
    ),
    "in the first message": sentence_piece(_LLAMA_2.replace("WHERE", "loop.first")),
    "in the last message": sentence_piece(_MISTRAL.replace("WHERE", "loop.last")),  # as Mistral's since its v3
}
REFUSED = {
    "its chat template rejects them": byte_level(  # as Gemma's
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + CHATML
    ),
    "its chat template leaves them out": byte_level(
        CHATML.replace("for m in messages", "for m in messages if m['role'] != 'system'")
    ),
    "its chat template has no place for them": byte_level(  # as that of model/export.py: any other role is the user's
        CHATML.replace("m['role']", "('assistant' if m['role'] == 'assistant' else 'user')")
    ),
}
SYSTEM = "You are a small fox 🦊, and answer\nin one line."
taken = pytest.mark.parametrize("name", TAKEN)


@dataclass(frozen=True)
class Written:
    """A template and its tokenizer, with the ids that transformers gives."""

    reference: PreTrainedTokenizerFast

    @property
    def tokenizer(self) -> HuggingFaceTokenizer:
        return HuggingFaceTokenizer(self.reference, len(self.reference))

    @property
    def chat(self) -> TemplateChat:
        found = TemplateChat.of(self.tokenizer)
        assert found is not None
        return found

    def expected(self, messages: list[Message], system: str = "") -> tuple[int, ...]:
        turns = [{"role": "system", "content": system}] if system else []
        turns += [{"role": message.role, "content": message.text} for message in messages]
        encoded: Any = self.reference.apply_chat_template(turns, add_generation_prompt=True, return_dict=True)
        return tuple(encoded["input_ids"])


@taken
def test_a_conversation_under_one_has_the_ids_of_transformers(name: str) -> None:
    written = Written(TAKEN[name])
    assert written.chat.no_system == ""
    for messages in (talk("Hi!"), talk("Hi! How are you?", " Well, thank you. ", "the cat\nsat")):
        prompt = written.chat.prompt(messages, system=SYSTEM, context_length=1000, reserve=10)
        assert prompt.ids == written.expected(messages, SYSTEM)
        assert prompt.ids != written.expected(messages)


@taken
def test_without_one_the_template_does_what_it_does(name: str) -> None:
    written, messages = Written(TAKEN[name]), talk("Hi!", "Hello", "the cat")
    prompt = written.chat.prompt(messages, context_length=400, reserve=10)
    assert prompt.ids == written.expected(messages)
    assert ("You are Tiny." in written.tokenizer.decode(prompt.ids)) == (name == "a default of its own")


@taken
def test_it_stays_when_the_oldest_messages_drop(name: str) -> None:
    written, messages = Written(TAKEN[name]), talk("the cat", "a mat", "the dog", "a log", "the fox")
    for first in (0, 2, 4):
        kept = written.expected(messages[first:], SYSTEM)
        prompt = written.chat.prompt(messages, system=SYSTEM, context_length=len(kept) + 5, reserve=6)
        assert (prompt.dropped, prompt.ids) == (first, kept)
    alone = len(written.expected(messages[-1:], SYSTEM))
    with pytest.raises(AttendError, match=f"The system prompt and the message have {alone} tokens.*shorten them"):
        written.chat.prompt(messages, system=SYSTEM, context_length=alone - 1, reserve=6)


@taken
def test_typed_control_tokens_stay_text_in_it(name: str) -> None:
    written, messages = Written(TAKEN[name]), talk("the cat", "sat", "the dog")
    tokenizer = written.tokenizer
    for hostile in HOSTILE.values():
        ids = written.chat.prompt(messages, system=hostile, context_length=1000, reserve=10).ids
        harmless = written.expected(messages, "x")
        assert [i for i in ids if tokenizer.is_special(i)] == [i for i in harmless if tokenizer.is_special(i)]
        assert hostile in tokenizer.decode(tokenizer.encode("|")[0] if tokenizer.is_special(i) else i for i in ids)


@pytest.mark.parametrize("reason", REFUSED)
def test_why_a_template_takes_no_system_prompt(reason: str) -> None:
    written = Written(REFUSED[reason])
    assert written.chat.no_system == reason
    messages = talk("Hi!")
    assert written.chat.prompt(messages, context_length=400, reserve=8).ids == written.expected(messages)


def test_templates_with_strictly_alternating_turns_have_no_system_prompt() -> None:
    assert Written(sentence_piece(INST)).chat.no_system == "its chat template rejects them"


def test_a_transcript_begins_with_it_as_a_paragraph() -> None:
    messages = talk("Hi!", "Hello", "the cat")
    written = "You are a fox.\n\nUser: Hi!\nAssistant: Hello\nUser: the cat\nAssistant:"
    assert Transcript.text(messages, " You are a fox.\n") == written
    tokenizer = Written(byte_level(None)).tokenizer
    chat = Transcript(lambda text: tokenizer.encode(text, begins=True))
    prompt = chat.prompt(messages, system="You are a fox.", context_length=400, reserve=8)
    assert prompt.ids == tuple(tokenizer.hf_tokenizer(written)["input_ids"])
    last = len(tokenizer.encode("You are a fox.\n\nUser: the cat\nAssistant:", begins=True))
    shorter = chat.prompt(messages, system="You are a fox.", context_length=last + 7, reserve=8)
    assert (shorter.dropped, len(shorter.ids)) == (2, last)
    words = last - len(tokenizer.encode("User: \nAssistant:", begins=True))
    with pytest.raises(AttendError, match=f"The system prompt and the message have {words} tokens"):
        chat.prompt(messages, system="You are a fox.", context_length=last - 1, reserve=8)


def test_a_transcripts_is_text_whatever_it_spells() -> None:
    tokenizer = Written(byte_level(None)).tokenizer
    chat = Transcript(lambda text: tokenizer.encode(text, begins=True))
    ids = chat.prompt(talk("Hi"), system="<|endoftext|>", context_length=128, reserve=6).ids
    assert not any(tokenizer.is_special(piece) for piece in ids)
    assert tokenizer.decode(ids) == "<|endoftext|>\n\nUser: Hi\nAssistant:"


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    folder = tmp_path_factory.mktemp("models")
    refusing = REFUSED["its chat template rejects them"].chat_template
    assert isinstance(refusing, str)
    made = (t5(folder / "tiny-t5"), gpt2(folder / "tiny-gemma", refusing), gpt2(folder / "tiny-chatml", CHATML))
    return {path.name: catalog.load(str(path)) for path in made}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("tiny-chat", "it was trained without them"),
        ("tiny-t5", "it reads each message on its own"),
        ("tiny-gemma", "its chat template rejects them"),
    ],
)
def test_a_model_that_takes_none_refuses_by_its_name(
    name: str, reason: str, tiny: LoadedModel, others: dict[str, LoadedModel]
) -> None:
    loaded = {"tiny-chat": tiny, **others}[name]
    assert loaded.no_system == reason
    with pytest.raises(AttendError) as refused:
        loaded.chat_prompt(talk("Hi!"), system="Be brief.", reserve=8)
    way_out = "leave it empty or choose another model."
    assert str(refused.value) == f"{name} doesn't support system prompts, because {reason}: {way_out}"
    assert loaded.chat is not None
    with pytest.raises(ValueError) if name != "tiny-gemma" else pytest.raises(AttendError):
        loaded.chat.prompt(talk("Hi!"), system="Be brief.", context_length=64, reserve=8)
    assert loaded.chat_prompt(talk("Hi!"), reserve=8).ids


def test_a_model_is_prompted_within_its_context(others: dict[str, LoadedModel], tiny_writer: LoadedModel) -> None:
    loaded = others["tiny-chatml"]
    assert loaded.chat is not None and loaded.no_system == ""
    messages = talk(*["the cat sat on the mat"] * 9)
    chat_prompt = loaded.chat_prompt(messages, system="Be brief.", reserve=8)
    assert chat_prompt == loaded.chat.prompt(messages, system="Be brief.", context_length=128, reserve=8)
    assert chat_prompt.dropped > 0
    with pytest.raises(AttendError, match="tiny-writer is not a chat model"):
        tiny_writer.chat_prompt(talk("Hi!"), reserve=8)
    assert tiny_writer.no_system == "it is not a chat model"


def test_a_folder_keeps_what_its_template_knows(tmp_path: Path) -> None:
    default = TAKEN["a default of its own"].chat_template
    assert isinstance(default, str)
    loaded = catalog.load(str(gpt2(tmp_path / "model", default)))
    texts = [
        loaded.tokenizer.decode(loaded.chat_prompt(talk("Hi!"), system=system, reserve=8).ids)
        for system in ("", "Be brief.")
    ]
    assert texts == ["system\nYou are Tiny.\nuser\nHi!\nassistant\n", "system\nBe brief.\nuser\nHi!\nassistant\n"]
