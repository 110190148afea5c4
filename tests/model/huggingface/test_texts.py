"""Whole texts of every causal family equal to `generate` of transformers, by the adapter and as our own transformer.

Greedy, sampled under the same draws and beam texts, token for token, on random tiny models; conversations as their
chat templates write them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from decoding.request import Request, RequestOptions
from decoding.settings import DecodingSettings
from model import catalog
from model.huggingface.causal import HuggingFaceModel
from model.interface import LanguageModel
from model.text.conversation import Message
from tests.helpers.folders import CHATML, INST, gpt2, llama
from tests.helpers.tiny import best, decode
from tests.helpers.transformers_generate import draw_as_we_do, transformers_generate
from tests.model.huggingface.test_causal import FAMILIES, random_model, text
from tests.model.huggingface.test_conversion import native, saved

NATIVE = ("gpt2", "llama", "mistral", "qwen2", "qwen3")
LIMIT, ENDS = 8, [17, 30]
METHODS: dict[str, dict[str, Any]] = {
    "greedy": {"strategy": "greedy"},
    "sampled": {"strategy": "sample"},
    "filtered": {"strategy": "sample", "temperature": 1.3, "top_k": 30, "top_p": 0.9, "repetition_penalty": 1.2},
    "beams": {"strategy": "beam", "num_beams": 3},
    "short beams": {"strategy": "beam", "num_beams": 4, "length_penalty": -1.0, "no_repeat_ngram_size": 2},
}


def ours(model: LanguageModel[Any], prompt: Sequence[int], ends: Sequence[int], method: str, seed: int) -> list[int]:
    settings = DecodingSettings.from_dict({"max_new_tokens": LIMIT, "seed": seed, **METHODS[method]})
    request = Request.of_model(model, prompt, RequestOptions(attention=True), end_tokens=ends)
    return list(best(decode(model, settings, request)).tokens)


def reference(model: Any, prompt: Sequence[int], ends: list[int], method: str) -> list[int]:
    settings = {"max_new_tokens": LIMIT, **METHODS[method]}
    return transformers_generate(model, prompt, ends, settings).sequences[0, len(prompt) :].tolist()


def lively(name: str) -> Any:
    """A random model with matrices so large that different prompts have different texts."""
    model = random_model(name)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3 if parameter.dim() > 1 else 1)
    return model


@pytest.mark.parametrize("name", FAMILIES)
def test_texts_are_those_of_transformers(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the adapter, and by our own transformer where it knows the family: of three prompts, whose texts differ."""
    known = lively(name)
    readers: list[LanguageModel[Any]] = [native(*saved(known, tmp_path))] if name in NATIVE else []
    readers.append(HuggingFaceModel(deepcopy(known)))
    for method in METHODS:
        texts = set()
        for seed in range(3):
            prompt = text(4 + 3 * seed, seed)
            draw_as_we_do(monkeypatch, seed)
            expected = reference(known, prompt, ENDS, method)
            assert [ours(model, prompt, ENDS, method, seed) for model in readers] == [expected] * len(readers), method
            texts.add(tuple(expected))
        assert len(texts) > 1


TALK = ("Hi! How are you?", "the cat sat on the mat", "Once upon a time")
FOLDERS: dict[str, tuple[Callable[..., Path], str]] = {"chatml": (gpt2, CHATML), "inst": (llama, INST)}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: make(tmp_path_factory.mktemp(name) / name, form) for name, (make, form) in FOLDERS.items()}


@pytest.mark.parametrize("name", FOLDERS)
def test_conversations_are_answered_as_by_transformers(
    name: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = [catalog.load(str(folders[name]), engine) for engine in ("native", "adapter")]
    tokenizer: Any = AutoTokenizer.from_pretrained(folders[name])
    known: Any = AutoModelForCausalLM.from_pretrained(folders[name], attn_implementation="eager")
    messages = [Message("assistant" if index % 2 else "user", content) for index, content in enumerate(TALK)]
    turns = [{"role": message.role, "content": message.text} for message in messages]
    prompt = tokenizer.apply_chat_template(turns, add_generation_prompt=True, return_dict=True)["input_ids"]
    ends = sorted(both[0].end_tokens)
    for loaded in both:
        assert loaded.chat is not None and sorted(loaded.end_tokens) == ends
        assert list(loaded.chat.prompt(messages, context_length=128, reserve=LIMIT).ids) == prompt
    for method in METHODS:
        draw_as_we_do(monkeypatch, 1)
        expected = reference(known, prompt, ends, method)
        assert [ours(loaded.model, prompt, ends, method, 1) for loaded in both] == [expected] * 2, method
