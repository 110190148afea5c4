""" "What if?" equals generating again with the other settings, up to the first token that differs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from decoding.counterfactual import Counterfactual, choose_again
from decoding.generate import generate
from decoding.request import Request, RequestOptions
from decoding.run import scoring
from decoding.settings import DecodingSettings
from decoding.step import Choice
from decoding.uniform import UniformStream
from model.errors import AttendError
from model.interface import LanguageModel
from model.loaded import LoadedModel
from tests.decoding.test_batch import check_same, request_for, transformer
from tests.helpers.tiny import TinyModel, make_request, random_model, table_model

PROMPT = (5, 6, 7)


def decoded(model: LanguageModel, settings: DecodingSettings) -> list[Choice]:
    """A run of one continuation; no end token, so that every run is as long as it may be."""
    request = request_for(PROMPT, attention=False, end_tokens=())
    return [step.hypotheses[0].choice for step in generate(model, PROMPT, settings.strategy_for(request))]


def tokens(choices: Counterfactual | list[Choice]) -> tuple[int, ...]:
    return tuple(choice.token for choice in (choices.choices if isinstance(choices, Counterfactual) else choices))


def any_settings(chance: random.Random, seed: int) -> DecodingSettings:
    return DecodingSettings(
        strategy=chance.choice(("sample", "sample", "sample", "greedy")),
        temperature=chance.choice((0.0, 0.5, 0.8, 0.95, 1.0, 1.05, 1.5)),
        top_k=chance.choice((0, 0, 5, 30)),
        top_p=chance.choice((0.6, 0.9, 0.99, 1.0)),
        seed=seed,
        max_new_tokens=12,
        top_candidates=3,
    )


def test_it_equals_generating_anew_up_to_and_with_the_first_difference() -> None:
    """28 pairs of settings with one seed, half of them similar: they differ at once, late or never."""
    model, chance = transformer(), random.Random(1)
    first_differences: list[int | None] = []
    for seed in range(28):
        old = any_settings(chance, seed)
        nudged = replace(old, temperature=old.temperature * 1.1, top_p=min(1.0, old.top_p + 0.01))
        new = nudged if seed % 2 else any_settings(chance, seed)
        choices, anew = decoded(model, old), decoded(model, new)
        counterfactual = choose_again(model, make_request(PROMPT), choices, new)
        pairs = enumerate(zip(tokens(choices), tokens(anew), strict=True))
        first = next((index for index, (token, other) in pairs if token != other), None)
        assert counterfactual.first_difference == first
        shared = len(choices) if first is None else first + 1
        assert tokens(counterfactual)[:shared] == tokens(anew)[:shared]
        for choice, expected in zip(counterfactual.choices[:shared], anew[:shared], strict=True):
            check_same(choice, expected)
        first_differences.append(first)
    late = sum(first is not None and first > 1 for first in first_differences)
    assert min(first_differences.count(None), first_differences.count(0), late) > 3  # every kind of case was there


def test_behind_a_difference_it_goes_on_from_the_text_as_it_is() -> None:
    """Every token is what a run of one token would take after the text before it."""
    model = transformer()
    old = DecodingSettings(seed=4, max_new_tokens=15)
    new = replace(old, temperature=0.4)
    choices = decoded(model, old)
    counterfactual = choose_again(model, make_request(PROMPT), choices, new)
    assert counterfactual.first_difference is not None
    for index in range(15):
        prompt = (*PROMPT, *tokens(choices)[:index])
        request = replace(request_for(prompt, attention=False), options=RequestOptions(draws_used=index))
        strategy = replace(new, max_new_tokens=1).strategy_for(request)
        check_same(counterfactual.choices[index], next(generate(model, prompt, strategy)).hypotheses[0].choice)


@pytest.mark.usefixtures("counted_seeds")
def test_by_hand() -> None:
    """After 0 the model says 1, 2, 3 with .5, .3, .2. The draw .6 falls on 2, since .5 <= .6 < .8.

    At T = 0.5 the weights are .25, .09, .04, of .38 together: 1 has .658, so the same draw falls on 1.
    With top-k 2, 1 has .5 / .8 = .625: again 1. With top-p .75 likewise. At T = 2 the weights are the roots, .707,
    .548, .447, of 1.702: 1 has .415 and 2 up to .737: still 2.
    """
    model = table_model({(0,): {1: 0.5, 2: 0.3, 3: 0.2}}, vocabulary=5)
    (expected,) = choose_again(model, make_request((0,)), [drawn(2, 0.6)], DecodingSettings()).choices
    assert (expected.token, expected.draw, expected.rank) == (2, 0.6, 2)
    for settings, token in (
        (DecodingSettings(temperature=0.5), 1),
        (DecodingSettings(top_k=2), 1),
        (DecodingSettings(top_p=0.75), 1),
        (DecodingSettings(temperature=2), 2),
        (DecodingSettings(strategy="greedy"), 1),
        (DecodingSettings(temperature=0), 1),
    ):
        counterfactual = choose_again(model, make_request((0,)), [drawn(2, 0.6)], settings)
        assert tokens(counterfactual) == (token,)
        assert counterfactual.first_difference == (None if token == 2 else 0)


def drawn(token: int, draw: float | None) -> Choice:
    """A choice with only the fields that matter here."""
    return Choice(token, 1, draw, ("model",), kept=(5,), candidates=(), rest=(0.0,), mass=(1.0,), stage_entropy=(0.0,))


def test_it_takes_no_step_and_no_more_memory_than_scoring(monkeypatch: pytest.MonkeyPatch) -> None:
    """4,096 tokens of 256,000 possible ones each would take 4 GB in one tensor."""

    class Scoring(TinyModel):
        def logits(self, prompt, tokens):
            scored.append(len(tokens))
            return super().logits(prompt, tokens)

    model, request = Scoring(random_model(12, seed=1)._logits_of), make_request((3, 1))
    choices, settings = [drawn(token, 0.5) for token in (4, 5, 6, 7)], DecodingSettings(seed=1, temperature=0.7)
    scored: list[int] = []
    counterfactual = choose_again(model, request, choices, settings)
    assert len(counterfactual.choices) == 4
    assert (scored, model.passes) == ([4], 0)
    monkeypatch.setattr(scoring, "_MAX_LOGITS", 3 * 12)
    scored.clear()
    assert choose_again(model, request, choices, settings) == counterfactual
    assert scored == [3, 1]


def test_a_translation_is_chosen_again_behind_its_source(tiny_translator: LoadedModel) -> None:
    request = Request.of(tiny_translator, tiny_translator.prompt("Le chat 1 est petit."))
    settings = DecodingSettings(seed=3, max_new_tokens=8)
    steps = generate(tiny_translator.model, request.source, settings.strategy_for(request))
    choices = [step.hypotheses[0].choice for step in steps]
    again = choose_again(tiny_translator.model, request, choices, settings)
    assert again.first_difference is None and len(again.choices) == len(choices) > 0


def test_a_text_without_draws_gets_those_of_the_seed() -> None:
    """A greedy run has no draws; a token taken by hand leaves the later draws unchanged."""
    model = transformer()
    greedy = decoded(model, DecodingSettings(strategy="greedy", max_new_tokens=10))
    stream = UniformStream(9)
    expected = [stream.next() for _ in range(10)]
    counterfactual = choose_again(model, make_request(PROMPT), greedy, DecodingSettings(seed=9))
    assert [choice.draw for choice in counterfactual.choices] == expected
    mixed = [replace(choice, draw=0.25) if index == 3 else choice for index, choice in enumerate(greedy)]
    counterfactual = choose_again(model, make_request(PROMPT), mixed, DecodingSettings(seed=9))
    assert [choice.draw for choice in counterfactual.choices] == [*expected[:3], 0.25, *expected[4:]]
    # those of a continued text follow what its beginning has used
    continued = choose_again(model, make_request(PROMPT, draws_used=3), greedy[3:], DecodingSettings(seed=9))
    assert [choice.draw for choice in continued.choices] == expected[3:]


@pytest.mark.usefixtures("counted_seeds")
def test_an_empty_text_changes_nothing_and_a_random_seed_is_recorded() -> None:
    for model in (transformer(), random_model(12, seed=1)):
        counterfactual = choose_again(model, make_request((3, 1)), [], DecodingSettings())
        assert counterfactual.choices == () and counterfactual.first_difference is None
        assert counterfactual.settings.seed >= 0


def test_a_search_over_whole_texts_is_refused() -> None:
    with pytest.raises(AttendError, match=r"beam.*needs greedy or sample"):
        choose_again(random_model(12, seed=1), make_request((3, 1)), [drawn(4, 0.5)], DecodingSettings(strategy="beam"))
