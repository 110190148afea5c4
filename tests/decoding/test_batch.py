"""Several strategies in one batch make the same Steps as each would alone."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import get_args

import pytest
import torch
from torch import Tensor

from decoding.batch import generate_batch
from decoding.generate import generate
from decoding.request import Request
from decoding.settings import DecodingSettings, StrategyName
from decoding.step import CandidateRecord, Choice, Hypothesis, Step
from model.errors import AttendError
from model.interface import Forward, LanguageModel, Want
from model.transformer.decoder import Transformer
from tests.helpers.tiny import TinyModel, check_same_pass, decided_transformer, make_request, random_model

VOCABULARY, CONTEXT = 40, 48
Ids = tuple[int, ...]


def network(times: float, **options: object) -> Transformer:
    """In double precision: in company and alone sums are taken in another order, which can break a tie."""
    return decided_transformer(times, **options).double()


def transformer(positions: str = "rotary") -> Transformer:
    return network(16, key_value_heads=2, positions=positions, tied_embeddings=False)


def request_for(prompt: Ids, *, attention: bool = True, end_tokens: Sequence[int] = (1, 2)) -> Request:
    return make_request(prompt, end_tokens, context_length=CONTEXT, attention=attention, layer_count=2)


def alone(model: LanguageModel, request: Request, settings: DecodingSettings) -> list[Step]:
    return list(generate(model, request.prompt, settings.strategy_for(request)))


def together(
    model: LanguageModel, requests: Sequence[Request], settings: Sequence[DecodingSettings]
) -> list[list[Step]]:
    """The Steps of each request; None may come only before the first (contrastive search) and after the last."""
    strategies = [each.strategy_for(request) for each, request in zip(settings, requests, strict=True)]
    collected: list[list[Step]] = [[] for _ in requests]
    for steps in generate_batch(model, [request.prompt for request in requests], strategies):
        assert len(steps) == len(requests)
        for so_far, step in zip(collected, steps, strict=True):
            finished = bool(so_far) and so_far[-1].finished
            assert (step is None) is finished or not so_far
            if step is not None:
                so_far.append(step)
    return collected


def check_as_alone(
    model: LanguageModel, requests: Sequence[Request], settings: Sequence[DecodingSettings]
) -> list[list[Step]]:
    batched = together(model, requests, settings)
    for steps, request, options in zip(batched, requests, settings, strict=True):
        check_same(steps, alone(model, request, options))
    return batched


def check_same(actual: object, expected: object) -> None:
    """Steps, or parts of them, with equal decisions and draws, numbers within 1e-5, and attention within float16's
    rounding of it."""
    assert type(actual) is type(expected)
    if is_dataclass(expected):
        for name in (field.name for field in fields(expected)):
            ours, reference = getattr(actual, name), getattr(expected, name)
            assert name != "draw" or ours == reference
            check_same(ours, reference)
    elif isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
        for ours, reference in zip(actual, expected, strict=True):
            check_same(ours, reference)
    elif isinstance(actual, Tensor) and isinstance(expected, Tensor):
        assert actual.shape == expected.shape and torch.allclose(actual.float(), expected.float(), atol=1e-3)
    elif isinstance(actual, float) and isinstance(expected, float):
        assert math.isclose(actual, expected, rel_tol=0, abs_tol=1e-5)
    else:
        assert actual == expected


def any_settings(chance: random.Random) -> DecodingSettings:
    return DecodingSettings(
        strategy=chance.choice(("sample", *get_args(StrategyName))),
        temperature=chance.choice((0.0, 0.5, 0.9, 1.0, 1.4)),
        top_k=chance.choice((0, 5, 20)),
        top_p=chance.choice((0.6, 0.9, 1.0)),
        num_beams=(beams := chance.choice((2, 4))),
        num_beam_groups=chance.choice((1, 2)),
        early_stopping=chance.choice(("false", "true", "never")),
        num_return_sequences=chance.randint(1, beams),
        length_penalty=chance.choice((-1.0, 0.0, 1.0, 2.0)),
        seed=chance.randrange(1000),
        max_new_tokens=chance.randint(1, 25),
        top_candidates=chance.choice((0, 3, 10)),
        dola_layers=chance.choice(("low", (0, 1))),
        stop_texts=chance.choice(((), ("17", "3 2"))),
    )


def any_prompt(chance: random.Random) -> Ids:
    return tuple(chance.randrange(3, VOCABULARY) for _ in range(chance.randint(1, 30)))


@pytest.mark.parametrize("positions", ["rotary", "sinusoidal", "learned"])
def test_mixtures_of_strategies_and_prompts_are_as_alone(positions: str) -> None:
    """All strategies, one output or several, prompts of 1 to 30 tokens (some equal), with and without attention."""
    model = transformer(positions)
    for seed in range(2):
        chance = random.Random(seed)
        prompts = [any_prompt(chance) for _ in range(3)]
        requests = [request_for(chance.choice(prompts), attention=chance.random() < 0.7) for _ in range(5)]
        check_as_alone(model, requests, [any_settings(chance) for _ in requests])


def test_texts_end_at_the_context_each_at_its_own() -> None:
    """Room for 2, 9 and 44 tokens; when the long prompts have left, the short one may still use all of the context."""
    model = transformer()
    chance = random.Random(2)
    prompts = [tuple(chance.choices(range(3, VOCABULARY), k=length)) for length in (47, 40, 5)]
    requests = [request_for(prompt, end_tokens=()) for prompt in prompts]
    settings = [DecodingSettings(seed=1, max_new_tokens=400)] * 3
    batched = check_as_alone(model, requests, settings)
    assert [len(steps) for steps in batched] == [2, 9, 44]


class Counted(TinyModel):
    """Counts prefills; `passes` and `rows_fed` are TinyModel's own."""

    prefills = 0

    def prefill(self, prompt: Sequence[int], *, want: Want = Want()):
        self.prefills += 1
        return super().prefill(prompt, want=want)


def counted(joinable: bool = True) -> Counted:
    base = random_model(12, seed=4)
    model = Counted(base._logits_of)
    model.joinable = joinable
    return model


def test_equal_prompts_are_read_once_and_the_finished_leave_the_batch() -> None:
    model = counted()
    lengths = (2, 5, 5, 9)
    settings = [DecodingSettings(seed=index, max_new_tokens=length) for index, length in enumerate(lengths)]
    batched = together(model, [make_request((3, 1))] * 4, settings)
    assert [len(steps) for steps in batched] == list(lengths)
    assert model.prefills == 1
    assert model.passes == 9  # as many as the longest has tokens
    # 1 row read; then a token a text and pass, but for each text's last, which nobody feeds: 1 + 4 + 4 + 8
    assert model.rows_fed == 1 + sum(length - 1 for length in lengths)


def test_attention_is_computed_only_while_somebody_wants_it() -> None:
    wants: list[bool] = []

    class Watched(TinyModel):
        def step(self, tokens, cache, *, want=Want()):
            wants.append(want.attention)
            return super().step(tokens, cache, want=want)

    model = Watched(random_model(12, seed=4)._logits_of)
    requests = [make_request((3, 1), attention=True), make_request((3, 1))]
    settings = [DecodingSettings(seed=1, max_new_tokens=length) for length in (3, 6)]
    looking, plain = together(model, requests, settings)
    assert wants == [True, True, False, False, False]
    assert all(step.hypotheses[0].choice.attention is not None for step in looking)
    assert all(step.hypotheses[0].choice.attention is None for step in plain)


def test_a_model_that_cannot_join_takes_equal_lengths_and_refuses_others() -> None:
    settings = [
        DecodingSettings(strategy="beam", num_beams=3, max_new_tokens=4),
        DecodingSettings(seed=3, max_new_tokens=6),
    ]
    for prompts in (((3, 1), (3, 1)), ((3, 1), (4, 5))):
        requests = [make_request(prompt) for prompt in prompts]
        for steps, options, request in zip(
            together(counted(False), requests, settings), settings, requests, strict=True
        ):
            check_same(steps, alone(counted(False), request, options))
    with pytest.raises(AttendError, match=r"have 1 to 2 tokens.*same length"):
        together(counted(False), [make_request((3,)), make_request((4, 5))], settings)


def test_as_many_prompts_as_strategies_and_closing_it_stops_the_work() -> None:
    model = counted()
    strategies = [DecodingSettings(strategy="greedy", max_new_tokens=50).strategy_for(make_request()) for _ in range(2)]
    with pytest.raises(ValueError):
        next(generate_batch(counted(), [(0,), (0,)], strategies[:1]))
    running = generate_batch(model, [(0,), (0,)], strategies)
    assert len(list(itertools.islice(running, 3))) == 3
    running.close()  # type: ignore[attr-defined]
    assert model.passes == 3


def test_all_that_a_strategy_may_want_is_shared_out() -> None:
    """A new field of Want has to be handled by `_union` and `slice_forward` in batch.py, and added here."""
    assert [field.name for field in fields(Want)] == ["attention", "hidden", "layers"]
    wants = (Want(layers=(2, 0)), Want(attention=True, hidden=True), Want(), Want(hidden=True, layers=(1, 2)))
    prompts = ((5, 6, 7, 8), (9, 3), (4,), (7, 7, 7))
    model = transformer()
    received: list[list[Forward]] = [[] for _ in wants]
    strategies = [RecordingStrategy(want, forwards) for want, forwards in zip(wants, received, strict=True)]
    assert len(list(generate_batch(model, prompts, strategies))) == 3
    for want, prompt, forwards in zip(wants, prompts, received, strict=True):
        expected: list[Forward] = []
        list(generate(model, prompt, RecordingStrategy(want, expected)))
        for batched, single in zip(forwards, expected, strict=True):
            check_same_pass(batched, single, atol=1e-4, attention=1e-4)  # shapes, too: no padding is left
        first = expected[0]
        assert [each is not None for each in (first.hidden, first.layer_logits)] == [want.hidden, bool(want.layers)]


CHOICE = Choice(0, 1, None, ("model",), (1,), (CandidateRecord(0, (1.0,)),), (0.0,), (1.0,), (0.0,))  # what it decides


class RecordingStrategy:
    """Feeds three tokens in two rows, whatever the logits, and keeps the result of every pass."""

    def __init__(self, want: Want, forwards: list[Forward]) -> None:
        self.want = want
        self._forwards = forwards

    def advance(self, forward: Forward) -> Step:
        self._forwards.append(forward)
        count = len(self._forwards)
        end = Hypothesis((0,), 0.0, 0.0, 0.0, 0, CHOICE, finish_reason="length")
        return Step((end,), end, feed=(10 + count, 20), parents=(0, count - 1), returned=(end,) if count == 3 else ())
