"""Beams in every mode, equal to `generate` of transformers on random small models of two families.

Both see the same log-probabilities, take the same processors and, where beams sample, fall on the same draws: there
`torch.multinomial` is replaced by the definition, one draw after the other from the request's own stream.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from torch import Tensor

from decoding.generate import generate
from decoding.settings import DecodingSettings
from decoding.step import Hypothesis
from decoding.uniform import UniformStream
from tests.helpers.tiny import Text, make_request, random_model
from tests.helpers.transformers_generate import (
    random_gpt2,
    random_llama,
    through_the_interface,
    transformers_generate,
)

MODES: dict[str, Any] = {"false": False, "true": True, "never": "never"}


def reference(
    model: Any, prompt: Text, ends: list[int], settings: DecodingSettings, **options: Any
) -> list[tuple[Text, float]]:
    """Every text that transformers returns with its score, the length penalty included."""
    beams = ("num_beams", "num_return_sequences", "max_new_tokens")
    options |= {name: getattr(settings, name) for name in beams}
    mode = {"early_stopping": MODES[settings.early_stopping], "length_penalty": settings.length_penalty}
    result = transformers_generate(model, prompt, ends, options | mode)
    lengths = (result.beam_indices >= 0).sum(dim=-1).tolist()
    texts = result.sequences[:, len(prompt) :].tolist()
    scores = result.sequences_scores.tolist()
    return [(tuple(text[:length]), score) for text, length, score in zip(texts, lengths, scores, strict=True)]


def ours(model: Any, prompt: Text, ends: list[int], settings: DecodingSettings) -> tuple[Hypothesis, ...]:
    strategy = settings.strategy_for(make_request(prompt, ends))
    return list(generate(through_the_interface(model), prompt, strategy))[-1].returned


def check_equal(mine: tuple[Hypothesis, ...], others: list[tuple[Text, float]]) -> None:
    assert [hypothesis.tokens for hypothesis in mine] == [tokens for tokens, _ in others]
    assert [hypothesis.final_score for hypothesis in mine] == pytest.approx([score for _, score in others], rel=1e-5)


def situation(seed: int) -> tuple[random.Random, Any, Text, list[int]]:
    """A model of either family, a prompt, and one to three end tokens."""
    chance = random.Random(seed)
    model = chance.choice((random_llama, random_gpt2))(seed, chance.randint(24, 40))
    prompt = tuple(chance.randint(1, 13) for _ in range(chance.randint(1, 5)))
    return chance, model, prompt, chance.sample(range(1, 20), chance.randint(1, 3))


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
        settings = any_beams(chance, early_stopping=mode)
        check_equal(ours(model, prompt, ends, settings), reference(model, prompt, ends, settings))


@pytest.mark.parametrize("mode", MODES)
def test_and_so_under_penalties_bans_and_a_least_length(mode: str) -> None:
    for seed in range(100, 108):
        chance, model, prompt, ends = situation(seed)
        words = {
            "no_repeat_ngram_size": chance.choice((0, 2, 3)),
            "repetition_penalty": chance.choice((1.0, 1.3)),
            "min_new_tokens": chance.choice((0, 2, 4)),
            "banned_words": chance.choice(((), ("3", "4 5"), ("1", "2 2 2"))),
            "logit_bias": chance.choice(((), ((2, 1.5), (7, -2.0)))),
        }
        settings = any_beams(chance, early_stopping=mode, max_new_tokens=12, **words)
        check_equal(ours(model, prompt, ends, settings), reference(model, prompt, ends, settings, **words))


def test_the_modes_are_three() -> None:
    """The modes differ: "true" ends first, "never" last, and each returns different texts for some seed."""
    texts, steps = {mode: [] for mode in MODES}, {mode: [] for mode in MODES}
    for seed in range(15):
        model, request = random_model(12, seed, scale=2), make_request((3, 1), [2, 5])
        for mode in MODES:
            more = {"num_beams": 3, "max_new_tokens": 14, "length_penalty": 1.5}
            settings = DecodingSettings.from_dict({"strategy": "beam", "early_stopping": mode, **more})
            ours = list(generate(model, request.prompt, settings.strategy_for(request)))
            texts[mode].append(ours[-1].returned[0].tokens)
            steps[mode].append(len(ours))
    assert texts["true"] != texts["false"] and texts["false"] != texts["never"] and texts["never"] != texts["true"]
    assert all(map(int.__le__, steps["true"], steps["false"])) and all(map(int.__le__, steps["false"], steps["never"]))
    assert sum(steps["true"]) < sum(steps["false"]) < sum(steps["never"])


# --- beams that sample -----------------------------------------------------------------------------------------------


def by_the_definition(stream: UniformStream, ends: list[int], vocabulary: int) -> Any:
    """`torch.multinomial` without replacement as we define it: draw, take it out, make the rest sum to one, draw again.

    Where a filter left fewer continuations than are wanted, torch takes impossible ones; those that end a text would
    count as finished there, so here it is given others.
    """

    def multinomial(probabilities: Tensor, num_samples: int) -> Tensor:
        left = dict(enumerate(probabilities[0].double().tolist()))
        taken: list[int] = []
        for _ in range(num_samples):
            draw, total, sum_of_all = stream.next(), 0.0, sum(left.values())
            if sum_of_all == 0:
                taken.append(next(index for index in left if index % vocabulary not in ends))
            else:
                for index, probability in sorted(left.items(), key=lambda pair: (-pair[1], pair[0])):
                    total += probability / sum_of_all
                    if total > draw:
                        taken.append(index)
                        break
            del left[taken[-1]]
        return torch.tensor([taken])

    return multinomial


@pytest.mark.parametrize("mode", MODES)
def test_beams_that_sample_are_transformers_under_the_same_draws(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = set()
    for seed in range(200, 210):
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
        monkeypatch.setattr(torch, "multinomial", by_the_definition(UniformStream(seed), ends, model.config.vocab_size))
        mine = ours(model, prompt, ends, settings)
        check_equal(mine, reference(model, prompt, ends, settings, do_sample=True, **filters))
        texts.add(mine[0].tokens)
    assert len(texts) > 6
