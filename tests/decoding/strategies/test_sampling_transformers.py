"""Whole runs under many settings at once, equal to `generate` of transformers on the same random models.

transformers draws with `torch.multinomial`; here the draw comes from the request's own stream, as ours does, and falls
on the cumulative distribution. Everything before it, and the order it happens in, is transformers' own.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from decoding.generate import generate
from decoding.settings import DecodingSettings
from tests.helpers.tiny import Text, make_request
from tests.helpers.transformers_generate import (
    draw_as_we_do,
    random_llama,
    through_the_interface,
    transformers_generate,
)

LIMIT = 16  # tokens

PENALTIES: dict[str, list[Any]] = {
    "repetition_penalty": [1.0, 1.2, 2.0],
    "no_repeat_ngram_size": [0, 2, 3],
    "min_new_tokens": [0, 3, 6],
    "banned_words": [(), ("3", "4 5"), ("1", "2 2 2")],
    "logit_bias": [(), ((2, 1.5), (7, -2.0))],
}
FILTERS: dict[str, list[Any]] = {
    "temperature": [0.5, 1.0, 1.4],
    "top_h": [0.0, 0.5, 0.9],
    "top_k": [0, 5, 12],
    "top_p": [1.0, 0.95, 0.7],
    "min_p": [0.0, 0.05, 0.2],
    "typical_p": [1.0, 0.9],
    "epsilon_cutoff": [0.0, 0.01],
    "eta_cutoff": [0.0, 0.01],
}


def case(chance: random.Random, *kinds: dict[str, list[Any]]) -> dict[str, Any]:
    """A random subset of these settings; the others stay neutral."""
    return {name: chance.choice(values) for kind in kinds for name, values in kind.items() if chance.random() < 0.6}


def reference(llama: Any, prompt: Text, ends: list[int], chosen: dict[str, Any], *, do_sample: bool) -> Text:
    options = {"max_new_tokens": LIMIT, "do_sample": do_sample}
    return tuple(transformers_generate(llama, prompt, ends, chosen | options).sequences[0, len(prompt) :].tolist())


def ours(llama: Any, prompt: Text, ends: list[int], chosen: dict[str, Any], **options: Any) -> Text:
    settings = DecodingSettings(**chosen, max_new_tokens=LIMIT, **options)
    request = make_request(prompt, ends)
    best = list(generate(through_the_interface(llama), prompt, settings.strategy_for(request)))[-1].best
    assert best is not None
    return best.tokens


def situation(seed: int) -> tuple[random.Random, Any, Text, list[int]]:
    chance = random.Random(seed)
    llama = random_llama(seed, vocabulary=chance.randint(14, 40))
    prompt = tuple(chance.randint(1, 13) for _ in range(chance.randint(1, 6)))
    return chance, llama, prompt, [10, 12]


def test_greedy_runs_are_transformers() -> None:
    for seed in range(12):
        chance, llama, prompt, ends = situation(seed)
        chosen = case(chance, PENALTIES)
        mine = ours(llama, prompt, ends, chosen, strategy="greedy")
        assert mine == reference(llama, prompt, ends, chosen, do_sample=False), seed


def test_sampled_runs_are_transformers_under_the_same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = set()
    for seed in range(15):
        chance, llama, prompt, ends = situation(seed)
        chosen = case(chance, PENALTIES, FILTERS)
        draw_as_we_do(monkeypatch, seed)
        mine = ours(llama, prompt, ends, chosen, seed=seed)
        assert mine == reference(llama, prompt, ends, chosen, do_sample=True)
        texts.add(mine)
    assert len(texts) > 10
