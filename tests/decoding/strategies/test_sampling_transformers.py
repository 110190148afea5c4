"""Whole runs under many settings at once, equal to `generate` of transformers on the same random models.

transformers draws with `torch.multinomial`; here the draw comes from the request's own stream, as ours does, and falls
on the cumulative distribution. Everything before it, and the order it happens in, is transformers' own.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from decoding.generate import generate
from decoding.settings import DecodingSettings
from tests.decoding.strategies.test_beam import random_llama, through_the_interface
from tests.helpers.draws import draw_as_we_do
from tests.helpers.tiny import Text, make_request

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
    """Some of these settings, the others neutral."""
    return {name: chance.choice(values) for kind in kinds for name, values in kind.items() if chance.random() < 0.6}


def reference(llama: Any, prompt: Text, ends: list[int], chosen: dict[str, Any], limit: int, **options: Any) -> Text:
    """The same settings in transformers' words; what is neutral with us is left out, as its checks want it."""
    words = {name: value for name, value in chosen.items() if value}
    banned, biases = words.pop("banned_words", ()), words.pop("logit_bias", ())
    if words.get("typical_p") == 1.0:
        del words["typical_p"]
    if banned:
        words["bad_words_ids"] = [list(map(int, text.split())) for text in banned]
    if biases:
        words["sequence_bias"] = {(token,): bias for token, bias in biases}
    ids = torch.tensor([prompt])
    result = llama.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=limit,
        eos_token_id=ends,
        pad_token_id=0,
        **{"top_k": 0, **words, **options},
    )
    return tuple(result[0, len(prompt) :].tolist())


def ours(llama: Any, prompt: Text, ends: list[int], chosen: dict[str, Any], limit: int, **options: Any) -> Text:
    settings = DecodingSettings(**chosen, max_new_tokens=limit, **options)
    request = make_request(prompt, ends)
    best = list(generate(through_the_interface(llama), prompt, settings.strategy_for(request)))[-1].best
    assert best is not None
    return best.tokens


def situation(seed: int) -> tuple[random.Random, Any, Text, list[int]]:
    chance = random.Random(seed)
    llama = random_llama(seed, vocabulary=chance.randint(14, 40))
    prompt = tuple(chance.randint(1, 13) for _ in range(chance.randint(1, 6)))
    return chance, llama, prompt, [10, 12]


@pytest.mark.parametrize("seed", range(12))
def test_greedy_runs_are_transformers(seed: int) -> None:
    chance, llama, prompt, ends = situation(seed)
    chosen = case(chance, PENALTIES)
    mine = ours(llama, prompt, ends, chosen, 16, strategy="greedy")
    assert mine == reference(llama, prompt, ends, chosen, 16, do_sample=False)


@pytest.mark.parametrize("seed", range(10))
def test_beam_searches_with_penalties_are_transformers(seed: int) -> None:
    chance, llama, prompt, ends = situation(seed)
    chosen, beams, penalty = case(chance, PENALTIES), chance.randint(2, 5), chance.choice([-1.0, 0.0, 1.0])
    mine = ours(llama, prompt, ends, chosen, 12, strategy="beam", num_beams=beams, length_penalty=penalty)
    assert mine == reference(llama, prompt, ends, chosen, 12, do_sample=False, num_beams=beams, length_penalty=penalty)


def test_sampled_runs_are_transformers_under_the_same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = set()
    for seed in range(15):
        chance, llama, prompt, ends = situation(seed)
        chosen = case(chance, PENALTIES, FILTERS)
        draw_as_we_do(monkeypatch, seed)
        mine = ours(llama, prompt, ends, chosen, 16, seed=seed)
        assert mine == reference(llama, prompt, ends, chosen, 16, do_sample=True)
        texts.add(mine)
    assert len(texts) > 10
