"""Whole runs under many settings at once, equal to `generate` of transformers on random small models of two families.

transformers draws with `torch.multinomial`; here the draws come from the request's own stream, as ours do, and fall on
the cumulative distribution. Everything before them, and the order it happens in, is transformers' own.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from decoding.settings import DecodingSettings
from decoding.step import Hypothesis
from tests.helpers.tiny import Text, decode, make_request, random_model
from tests.helpers.transformers_generate import (
    draw_as_we_do,
    random_gpt2,
    random_llama,
    through_the_interface,
    transformers_generate,
)

MODES: dict[str, Any] = {"false": False, "true": True, "never": "never"}
LIMIT = 16  # tokens of a text that no search chooses

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


def situation(seed: int) -> tuple[random.Random, Any, Text, list[int]]:
    """A model of either family, a prompt, and one to three end tokens, none of them banned: transformers never does."""
    chance = random.Random(seed)
    model = chance.choice((random_llama, random_gpt2))(seed, chance.randint(24, 40))
    prompt = tuple(chance.randint(1, 13) for _ in range(chance.randint(1, 5)))
    return chance, model, prompt, chance.sample(range(8, 20), chance.randint(1, 3))


def ours(model: Any, prompt: Text, ends: list[int], settings: DecodingSettings) -> tuple[Hypothesis, ...]:
    return decode(through_the_interface(model), settings, make_request(prompt, ends))[-1].returned


# --- one token after the other ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["greedy", "sample"])
def test_greedy_and_sampled_texts_are_transformers(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = set()
    for seed in range(10):
        chance, model, prompt, ends = situation(seed)
        chosen = case(chance, PENALTIES, *([FILTERS] if strategy == "sample" else []))
        chosen |= {"strategy": strategy, "max_new_tokens": LIMIT}
        draw_as_we_do(monkeypatch, seed)
        expected = transformers_generate(model, prompt, ends, chosen).sequences[0, len(prompt) :].tolist()
        (mine,) = ours(model, prompt, ends, DecodingSettings.from_dict({**chosen, "seed": seed}))
        assert list(mine.tokens) == expected, seed
        texts.add(mine.tokens)
    assert len(texts) > 6


# --- beams -----------------------------------------------------------------------------------------------------------


def reference(
    model: Any, prompt: Text, ends: list[int], settings: DecodingSettings, **options: Any
) -> list[tuple[Text, float]]:
    """Every text that transformers returns with its score, the length penalty included."""
    same = ("strategy", "num_beams", "num_return_sequences", "max_new_tokens")
    options |= {name: getattr(settings, name) for name in same}
    mode = {"early_stopping": MODES[settings.early_stopping], "length_penalty": settings.length_penalty}
    result = transformers_generate(model, prompt, ends, options | mode)
    lengths = (result.beam_indices >= 0).sum(dim=-1).tolist()
    texts = result.sequences[:, len(prompt) :].tolist()
    scores = result.sequences_scores.tolist()
    return [(tuple(text[:length]), score) for text, length, score in zip(texts, lengths, scores, strict=True)]


def check_equal(mine: tuple[Hypothesis, ...], others: list[tuple[Text, float]]) -> None:
    assert [hypothesis.tokens for hypothesis in mine] == [tokens for tokens, _ in others]
    assert [hypothesis.final_score for hypothesis in mine] == pytest.approx([score for _, score in others], rel=1e-5)


def any_beams(chance: random.Random, **chosen: Any) -> DecodingSettings:
    beams = chance.randint(2, 5)
    return DecodingSettings.from_dict(
        {
            "strategy": "beam",
            "num_beams": beams,
            "num_return_sequences": chance.randint(1, beams),
            "length_penalty": chance.choice((-1.5, -0.5, 0.0, 0.5, 1.0, 2.0)),
            "max_new_tokens": chance.randint(2, 16),
            **chosen,
        }
    )


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_of_early_stopping_returns_what_transformers_returns(mode: str) -> None:
    for seed in range(12):
        chance, model, prompt, ends = situation(seed)
        words = {} if seed < 7 else case(chance, PENALTIES)
        settings = any_beams(chance, early_stopping=mode, **words, **({"max_new_tokens": 12} if words else {}))
        check_equal(ours(model, prompt, ends, settings), reference(model, prompt, ends, settings, **words))


def test_the_modes_are_three() -> None:
    """The modes differ: "true" ends first, "never" last, and each returns different texts for some seed."""
    texts, steps = {mode: [] for mode in MODES}, {mode: [] for mode in MODES}
    for seed in range(15):
        model, request = random_model(12, seed, scale=2), make_request((3, 1), [2, 5])
        for mode in MODES:
            more = {"num_beams": 3, "max_new_tokens": 14, "length_penalty": 1.5}
            settings = DecodingSettings.from_dict({"strategy": "beam", "early_stopping": mode, **more})
            run = decode(model, settings, request)
            texts[mode].append(run[-1].returned[0].tokens)
            steps[mode].append(len(run))
    assert len(set(map(tuple, texts.values()))) == 3
    assert all(map(int.__le__, steps["true"], steps["false"])) and all(map(int.__le__, steps["false"], steps["never"]))
    assert sum(steps["true"]) < sum(steps["false"]) < sum(steps["never"])


@pytest.mark.parametrize("mode", MODES)
def test_beams_that_sample_are_transformers_under_the_same_draws(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = set()
    for seed in range(200, 207):
        chance, model, prompt, ends = situation(seed)
        filters = {
            "temperature": chance.choice((0.7, 1.0, 1.5)),
            "top_k": chance.choice((0, 0, 8, 15)),
            "top_p": chance.choice((1.0, 0.9)),
            "min_p": chance.choice((0.0, 0.02)),
            "typical_p": chance.choice((1.0, 0.95)),
            "epsilon_cutoff": chance.choice((0.0, 0.005)),
            "eta_cutoff": chance.choice((0.0, 0.005)),
            "repetition_penalty": chance.choice((1.0, 1.2)),
        }
        # Only the best is compared: of the last, transformers may return texts that it knows to be impossible.
        settings = any_beams(
            chance, strategy="beam_sample", early_stopping=mode, seed=seed, num_return_sequences=1, **filters
        )
        draw_as_we_do(monkeypatch, seed, ends, model.config.vocab_size)
        mine = ours(model, prompt, ends, settings)
        check_equal(mine, reference(model, prompt, ends, settings, **filters))
        texts.add(mine[0].tokens)
    assert len(texts) > 4
