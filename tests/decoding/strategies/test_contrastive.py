"""Contrastive search equals its definition and hand-computed scores."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from decoding.settings import DecodingSettings
from decoding.step import Step
from model.errors import AttendError
from model.interface import LanguageModel, Want
from tests.helpers.tiny import TinyModel, best, decided_transformer, decode, make_request, random_model, trace_of

Ids = tuple[int, ...]
HiddenOf = Callable[[Ids], Sequence[Sequence[float]]]


def contrastive(**settings: object) -> DecodingSettings:
    return DecodingSettings.from_dict({"strategy": "contrastive", "max_new_tokens": 12, **settings})


def text_of(steps: list[Step]) -> Ids:
    return best(steps).tokens


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


def slow(model: LanguageModel, hidden_of: HiddenOf, prompt: Ids, *, k: int, alpha: float, length: int) -> Ids:
    """The definition: reread each candidate's whole text and compare every pair of hidden states."""
    text = prompt
    for _ in range(length):
        probabilities = model.logits(text, (0,))[0].double().softmax(-1)  # (V,)
        scores = {}
        for token in sorted(range(len(probabilities)), key=lambda id: -float(probabilities[id]))[:k]:
            *before, newest = hidden_of((*text, token))
            degeneration = max(cosine(newest, other) for other in before)
            scores[token] = (1 - alpha) * float(probabilities[token]) - alpha * degeneration
        text = (*text, max(scores, key=lambda token: scores[token]))
    return text[len(prompt) :]


def test_texts_are_those_of_the_definition() -> None:
    greedy = DecodingSettings("greedy", max_new_tokens=12)
    for seed in range(20):
        model = random_model(15, seed, scale=1.5)
        k, alpha, prompt = 2 + seed % 5, (0.4, 0.6, 0.9)[seed % 3], (3, 1, 4)[: 1 + seed % 3]

        def hidden_of(text: Ids, model: TinyModel = model) -> Sequence[Sequence[float]]:
            assert model._hidden_of is not None
            return [model._hidden_of(text[: end + 1]) for end in range(len(text))]

        text = text_of(decode(model, contrastive(top_k=k, penalty_alpha=alpha), make_request(prompt)))
        assert text == slow(model, hidden_of, prompt, k=k, alpha=alpha, length=12), seed
        assert text != text_of(decode(model, greedy, make_request(prompt))), seed


def test_cached_steps_equal_recomputing_from_scratch() -> None:
    model = decided_transformer(8)

    def hidden_of(text: Ids) -> Sequence[Sequence[float]]:
        hidden = model.prefill(text, want=Want(hidden=True)).hidden
        assert isinstance(hidden, Tensor)
        return hidden[0].tolist()

    request = make_request((3, 1, 4, 1, 5), context_length=32)
    steps = decode(model, contrastive(top_k=5, penalty_alpha=0.6), request)
    assert text_of(steps) == slow(model, hidden_of, request.prompt, k=5, alpha=0.6, length=12)


def by_hand() -> TinyModel:
    """After any text .6, .3 and .1; token 0 always points where the prompt's token 9 does, 1 elsewhere, 2 between."""
    direction = {9: (1.0, 0.0), 0: (2.0, 0.0), 1: (0.0, 1.0), 2: (3.0, 4.0)}
    return TinyModel(lambda text: [math.log(p) for p in (0.6, 0.3, 0.1)], hidden_of=lambda text: direction[text[-1]])


def test_confidence_against_degeneration_by_hand() -> None:
    """Cosines with (1, 0): 1, 0 and 3/5. At alpha .6 token 0 scores .4 * .6 - .6, token 1 .4 * .3, token 2 .04 - .36;
    once 1 stands in the text, all three look like something in it: 1, 1 and 4/5."""
    first, second = decode(by_hand(), contrastive(top_k=3, max_new_tokens=2), make_request((9,)))
    weighed = [
        (candidate.id, candidate.confidence, candidate.degeneration, candidate.score)
        for candidate in first.hypotheses[0].choice.contrastive_candidates
    ]
    assert weighed == [
        (0, pytest.approx(0.6), pytest.approx(1.0), pytest.approx(-0.36)),
        (1, pytest.approx(0.3), pytest.approx(0.0), pytest.approx(0.12)),
        (2, pytest.approx(0.1), pytest.approx(0.6), pytest.approx(-0.32)),
    ]
    assert [candidate.score for candidate in second.hypotheses[0].choice.contrastive_candidates] == [
        pytest.approx(0.24 - 0.6),
        pytest.approx(0.12 - 0.6),
        pytest.approx(0.04 - 0.48),
    ]
    assert text_of([second]) == (1, 0)
    assert best([second]).log_probability == pytest.approx(math.log(0.3) + math.log(0.6))


def test_without_a_penalty_it_is_greedy() -> None:
    model = random_model(15, seed=3)
    request = make_request((3, 1), attention=True)
    steps = decode(model, contrastive(penalty_alpha=0), request)
    greedy = decode(model, DecodingSettings("greedy", max_new_tokens=12), request)
    assert len(steps) == len(greedy) == 12
    for step, other in zip(steps, greedy, strict=True):
        mine, its = step.hypotheses[0], other.hypotheses[0]
        assert (mine.tokens, mine.score, mine.log_probability) == (its.tokens, its.score, its.log_probability)
        assert (mine.choice.candidates, mine.choice.rank) == (its.choice.candidates, its.choice.rank)
        assert mine.choice.draw is None
        assert mine.choice.attention is not None and its.choice.attention is not None
        assert torch.equal(mine.choice.attention, its.choice.attention)  # the query is the token before, here too


def test_one_pass_a_token_and_one_to_look_ahead() -> None:
    model = random_model(15, seed=3)
    steps = decode(model, contrastive(top_k=6, max_new_tokens=7), make_request((3, 1)))
    assert [len(step.hypotheses[0].tokens) for step in steps] == [1, 2, 3, 4, 5, 6, 7]
    assert (model.passes, model.rows_fed) == (1 + 7, 1 + 7 * 6)


def test_top_k_counts_candidates_and_removes_nothing() -> None:
    model = random_model(15, seed=3)
    for top_k, weighed in ((0, 4), (1, 1), (7, 7), (64, 15)):
        choice = decode(model, contrastive(top_k=top_k, temperature=0.3))[0].hypotheses[0].choice
        assert len(choice.contrastive_candidates) == weighed
        assert (choice.stages, choice.kept) == (("model",), (15,))
    with pytest.raises(AttendError, match=r"top_k is 65, but contrastive.*64 or fewer"):
        contrastive(top_k=65)


def test_processors_come_first() -> None:
    """Banned tokens are not candidates, and confidence is measured after the penalties."""
    model = random_model(15, seed=3)
    steps = decode(model, contrastive(top_k=8, no_repeat_ngram_size=1, max_new_tokens=12), make_request((3, 1)))
    tokens = text_of(steps)
    assert len({3, 1, *tokens}) == 14
    counts = [len(step.hypotheses[0].choice.contrastive_candidates) for step in steps]
    assert counts == [8] * 6 + [7, 6, 5, 4, 3, 2]
    for step in steps:
        choice = step.hypotheses[0].choice
        mine = next(candidate for candidate in choice.contrastive_candidates if candidate.id == choice.token)
        assert mine.confidence == pytest.approx(choice.final_probability)


def test_it_ends_at_an_end_token_and_at_the_context_and_a_model_that_hides_its_states_is_refused() -> None:
    """Four tokens fit, and the last still takes part in the comparison: the text fills the context exactly."""
    assert decode(by_hand(), contrastive(), make_request((9,), [1]))[-1].finish_reason == "stop"
    model = random_model(15, seed=3, context_length=6)
    steps = decode(model, contrastive(), make_request((3, 1), context_length=6))
    assert (len(text_of(steps)), steps[-1].finish_reason) == (4, "length")
    with pytest.raises(AttendError, match="hidden states, which this model does not provide"):
        decode(TinyModel(lambda text: [0.0, 1.0]), contrastive())


def test_the_document_has_the_contrastive_candidates() -> None:
    trace = trace_of(by_hand(), contrastive(top_k=2, max_new_tokens=3), make_request((9,)))
    document = json.loads(json.dumps(trace.document(), allow_nan=False))
    assert document["ids"] == [1, 0, 0] and len(document["steps"]) == 3
    first = document["steps"][0]["contrastive"]
    assert len(first) == 2 and document["labels"]["1"] == "<1>"
    assert first[1] == {
        "id": 1,
        "confidence": pytest.approx(0.3),
        "degeneration": pytest.approx(0.0),
        "score": pytest.approx(0.12),
    }
