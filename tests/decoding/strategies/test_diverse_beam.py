"""Diverse groups of beams against a slow definition written from the paper (Vijayakumar et al. 2016, algorithm 1)."""

from __future__ import annotations

import random

import pytest

from decoding.request import Request
from decoding.settings import DecodingSettings
from tests.helpers.tiny import Text, TinyModel, decode, make_request, random_model


def by_the_paper(model: TinyModel, request: Request, settings: DecodingSettings) -> list[tuple[Text, float]]:
    """Every finished text that the groups keep, with its final score, best first.

    At each time the groups take turns. A group adds to the log-probabilities of its continuations minus the penalty for
    every beam of an earlier group that takes the same token at this time (Hamming diversity; ending a text is no
    likeness), then does one step of beam search on the sums.
    """
    size = settings.num_beams // settings.num_beam_groups
    wanted = max(2, 1 + len(request.end_tokens)) * size
    living: list[list[tuple[float, Text]]] = [[(0.0, ())] for _ in range(settings.num_beam_groups)]
    kept: list[list[tuple[float, Text]]] = [[] for _ in living]
    for length in range(1, settings.max_new_tokens + 1):
        earlier_tokens: list[int] = []
        for group, beams in enumerate(living):
            augmented = []
            for score, text in beams:
                log_probabilities = model.logits((*request.prompt, *text), (0,))[0].double().log_softmax(-1).tolist()
                for token, log_probability in enumerate(log_probabilities):
                    penalty = settings.diversity_penalty * earlier_tokens.count(token)
                    augmented.append((score + log_probability - penalty, (*text, token)))
            augmented = sorted(augmented, reverse=True)[:wanted]
            ends = [text[-1] in request.end_tokens or length == settings.max_new_tokens for _, text in augmented]
            for rank, (score, text) in enumerate(augmented):
                if ends[rank] and rank < size:
                    kept[group].append((score / length**settings.length_penalty, text))
            kept[group] = sorted(kept[group], reverse=True)[:size]
            taken = [text[-1] for (_, text), ended in zip(augmented, ends, strict=True) if not ended][:size]
            taken += [text[-1] for rank, (_, text) in enumerate(augmented) if ends[rank] and rank < size]
            earlier_tokens += [token for token in taken if token not in request.end_tokens]
            living[group] = [beam for beam, ended in zip(augmented, ends, strict=True) if not ended][:size]
            if living[group] and len(kept[group]) == size:
                best = living[group][0][0] / length**settings.length_penalty
                if best <= kept[group][-1][0]:
                    living[group] = []
    return [(text, score) for score, text in sorted((text for group in kept for text in group), reverse=True)]


def test_the_groups_are_those_of_the_paper() -> None:
    for seed in range(40):
        chance = random.Random(seed)
        size, groups = chance.choice(((1, 2), (1, 4), (2, 2), (2, 3), (2, 4), (3, 2)))
        settings = DecodingSettings(
            strategy="diverse_beam",
            num_beams=size * groups,
            num_beam_groups=groups,
            num_return_sequences=size * groups,
            diversity_penalty=chance.choice((0.0, 0.3, 0.8, 3.0)),
            length_penalty=chance.choice((-1.0, 0.0, 1.0, 1.5)),
            max_new_tokens=chance.randint(1, 8),
        )
        model = random_model(chance.randint(10, 16), seed, scale=1.5)
        request = make_request((3, 1), chance.sample(range(10), chance.randint(0, 2)))
        returned = decode(model, settings, request)[-1].returned
        expected = by_the_paper(model, request, settings)
        if settings.diversity_penalty:  # without it all groups find the same texts
            assert [hypothesis.tokens for hypothesis in returned] == [text for text, _ in expected]
        assert [hypothesis.final_score for hypothesis in returned] == pytest.approx(
            [score for _, score in expected], abs=1e-4
        )


def test_one_group_is_beam_search() -> None:
    for seed in range(10):
        model, request = random_model(12, seed, scale=1.5), make_request((3, 1), [2, 5])
        beams = DecodingSettings(strategy="beam", num_beams=4, num_return_sequences=4, max_new_tokens=8)
        one_group = DecodingSettings.from_dict({**beams.to_dict(), "strategy": "diverse_beam", "num_beam_groups": 1})
        assert decode(model, one_group, request) == decode(model, beams, request)


def test_a_strong_penalty_keeps_the_groups_apart_and_the_table_shows_it() -> None:
    """Four groups of one beam: at a penalty of 5 no two choose the same token at any step, unlike at 0."""
    model, request = random_model(12, seed=3), make_request((3, 1))
    settings = DecodingSettings(
        strategy="diverse_beam", num_beams=4, num_beam_groups=4, diversity_penalty=5, max_new_tokens=6
    )
    for step in decode(model, settings, request):
        assert len({hypothesis.tokens[-1] for hypothesis in step.hypotheses}) == 4
        assert [hypothesis.group for hypothesis in step.hypotheses] == [0, 1, 2, 3]
        for hypothesis in step.hypotheses:
            assert hypothesis.choice.stages == ("model", "diversity")
        first, second = (hypothesis.choice for hypothesis in step.hypotheses[:2])
        # A token that costs 5 has exp(-5) of its odds left; in the first group nothing costs anything.
        assert first.chosen.probabilities[0] == pytest.approx(first.chosen.probabilities[1])
        spared = next((candidate for candidate in second.candidates if candidate.id == first.token), None)
        if spared is not None:
            model_odds = spared.probabilities[0] / second.probability
            assert spared.probabilities[1] / second.final_probability == pytest.approx(model_odds * 0.0067379, rel=1e-4)
    same = DecodingSettings.from_dict({**settings.to_dict(), "diversity_penalty": 0})
    assert all(len({hypothesis.tokens for hypothesis in step.hypotheses}) == 1 for step in decode(model, same, request))
