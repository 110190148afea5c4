"""Beam search: brute force on tiny vocabularies, and what every step records."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from decoding.generate import generate
from decoding.request import Request, RequestOptions
from decoding.settings import DecodingSettings
from decoding.step import Hypothesis, Step
from decoding.strategies.base import StrategyOptions
from decoding.strategies.beam_search import BeamSearch
from model.interface import GenerationRules, LanguageModel
from tests.helpers.tiny import Text, TinyModel, best, decided_transformer, decode, make_request, random_model


def search(model: LanguageModel, request: Request | None = None, **settings: Any) -> list[Step]:
    defaults = {"strategy": "beam", "max_new_tokens": 5, "top_candidates": 3}
    return decode(model, DecodingSettings.from_dict({**defaults, **settings}), request)


def best_text(steps: list[Step]) -> Text:
    return steps[-1].returned[0].tokens


# --- brute force -----------------------------------------------------------------------------------------------------


def every_text(model: TinyModel, end: int, limit: int) -> dict[Text, float]:
    """Every finished continuation of (0,) with its log-probability, by enumeration."""
    finished: dict[Text, float] = {}
    for length in range(1, limit + 1):
        for tokens in itertools.product(range(model.vocabulary_size), repeat=length):
            if end in tokens[:-1] or (tokens[-1] != end and length < limit):
                continue
            rows = model.logits((0,), tokens).double().log_softmax(-1)
            finished[tokens] = float(sum(rows[i, token] for i, token in enumerate(tokens)))
    return finished


@pytest.mark.parametrize("length_penalty", [-1.0, 0.0, 0.5, 1.0, 2.0])
def test_enough_beams_equal_brute_force(length_penalty: float) -> None:
    for seed in range(6):
        model, end, limit = random_model(3, seed, scale=1.5), 2, 4
        texts = every_text(model, end, limit)
        request = make_request(end_tokens=[end])
        options = StrategyOptions(limit, top_candidates=3)
        strategy = BeamSearch(request, options, num_beams=3**limit, length_penalty=length_penalty)
        steps = list(generate(model, request.prompt, strategy))
        assert best_text(steps) == max(texts, key=lambda tokens: texts[tokens] / len(tokens) ** length_penalty)
        ended = {row.tokens: row.log_probability for step in steps for row in step.hypotheses if row.finished}
        assert ended == pytest.approx(texts, abs=1e-5)  # and on the way it has seen every single one


# --- our own transformer ----------------------------------------------------------------------------------------------


def test_the_cache_of_our_own_transformer_follows_the_beams() -> None:
    """The same search without a cache gives the same hypotheses."""
    transformer = decided_transformer(4)  # otherwise all distributions are nearly flat
    uncached = TinyModel(lambda text: transformer.logits(text, (0,))[0].tolist())
    for seed in range(4):
        request = make_request((seed, 5), [seed + 1, seed + 11])
        settings = DecodingSettings(strategy="beam", num_beams=4, max_new_tokens=12, length_penalty=0.0)
        ours, slow = (decode(model, settings, request) for model in (transformer, uncached))
        assert best_text(ours) == best_text(slow)
        for step, other in zip(ours, slow, strict=True):
            for row, expected in zip(step.hypotheses, other.hypotheses, strict=True):
                assert row.tokens == expected.tokens and row.score == pytest.approx(expected.score, abs=1e-3)


# --- what every step says --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filters", [{}, {"temperature": 0.5}, {"temperature": 0.5, "top_k": 5}], ids=str)
def test_every_step_carries_whole_consistent_hypotheses(filters: dict[str, Any]) -> None:
    """With a temperature, the score is the log-probability's quotient: nothing is renormalised."""
    model = random_model(12, seed=8)
    steps = search(model, make_request(end_tokens=[3]), num_beams=3, max_new_tokens=8, **filters)
    before: list[Hypothesis] = []
    for number, step in enumerate(steps):
        living = [row for row in step.hypotheses if not row.finished]
        assert list(step.hypotheses[: len(living)]) == living and len(living) <= 3
        assert [row.score for row in living] == sorted((row.score for row in living), reverse=True)
        for row in step.hypotheses:
            assert row.tokens[:-1] == (before[row.parent].tokens if before else ())
            assert row.choice.token == row.tokens[-1] and len(row.tokens) == number + 1
            rows = model.logits((0,), row.tokens).double().log_softmax(-1)
            total = float(sum(rows[i, token] for i, token in enumerate(row.tokens)))
            assert row.log_probability == pytest.approx(total, abs=1e-9)
            assert row.score == pytest.approx(total / filters.get("temperature", 1), abs=1e-5)
            assert row.choice.stages == ("model", *filters)
            assert row.choice.final_probability > 0
        if not step.finished:
            assert step.feed == tuple(row.tokens[-1] for row in living)
            assert step.parents == tuple(row.parent for row in living)
        before = living
    assert steps[-1].feed == () and steps[-1].returned[0].finished


def test_as_many_live_on_as_there_are_beams_even_where_every_end_token_is_better() -> None:
    # First 4 and 5 lead; then three end tokens do, so of the best six continuations of two rows not one goes on.
    first, then = [0.0, -9.0, -9.0, -9.0, 2.0, 1.0], [0.0, 9.0, 9.0, 9.0, 2.0, 1.5]
    model = TinyModel(lambda text: first if len(text) == 1 else then)
    second = search(model, make_request(end_tokens=[1, 2, 3]), num_beams=2)[1]
    assert [row.tokens for row in second.hypotheses if not row.finished] == [(4, 4), (4, 5)]


def test_only_the_best_finished_texts_are_kept_and_the_search_ends_when_none_can_be_beaten() -> None:
    # (2,) is sure from the start; (0, 2) and (1, 2) follow, and of the three only two are kept. Every living text has
    # -18 / 2 by then, less than the -9 / 2 of the worse of the two, so the second step is the last.
    steps = search(TinyModel(lambda text: [0.0, 0.0, 9.0]), make_request(end_tokens=[2]), num_beams=2)
    assert (len(steps), best_text(steps)) == (2, (2,))


def test_the_finish_reason_is_that_of_the_returned_text_however_few_tokens_there_are() -> None:
    ends = TinyModel(lambda text: [0.0, 0.0, 9.0])
    assert search(ends, make_request(end_tokens=[2]), num_beams=2)[-1].finish_reason == "stop"
    assert search(ends, make_request(end_tokens=[1]), num_beams=2, max_new_tokens=3)[-1].finish_reason == "length"
    few = search(random_model(2, seed=1), make_request(end_tokens=[1]), num_beams=8, max_new_tokens=3)
    assert [len(step.hypotheses) for step in few] == [2, 2, 2]  # one lives on, one ends, every time
    assert few[-1].finish_reason in ("stop", "length")


def test_one_beam_is_greedy() -> None:
    for seed in range(8):
        model, request = random_model(9, seed), make_request(end_tokens=[4])
        beam, greedy = (search(model, request, strategy=name, num_beams=1) for name in ("beam", "greedy"))
        assert best(beam).tokens == best(greedy).tokens


def test_a_search_that_explains_nothing_finds_the_same() -> None:
    model = random_model(7, 3)
    for never in (frozenset[int](), frozenset({1})):
        request = replace(
            make_request(end_tokens=(0,), vocabulary_size=7), rules=GenerationRules(suppress_tokens=never)
        )
        options = (RequestOptions(explained=each) for each in (True, False))
        full, plain = (search(model, replace(request, options=each), num_beams=3) for each in options)
        for first, second in zip(full[-1].returned, plain[-1].returned, strict=True):
            assert (first.tokens, first.score) == (second.tokens, second.score)
            assert first.log_probability == pytest.approx(second.log_probability, abs=1e-5)
        assert full[0].hypotheses[0].choice.candidates and not plain[0].hypotheses[0].choice.candidates
