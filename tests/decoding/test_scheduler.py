"""Runs that come and go share the passes, and each gets the Steps that it would get alone."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch

from decoding.generate import generate
from decoding.scheduler import Scheduler
from decoding.settings import DecodingSettings
from decoding.step import Step
from decoding.strategies.base import Strategy
from model.errors import AttendError
from model.interface import Forward, Want
from model.loaded import FairLock
from model.transformer.decoder import Transformer
from tests.decoding.test_batch import VOCABULARY, check_same, network, request_for, transformer
from tests.helpers.waiting import eventually, steps_of

Ids = tuple[int, ...]

KINDS = (
    DecodingSettings(strategy="greedy", max_new_tokens=12),
    DecodingSettings(strategy="sample", temperature=1.3, top_k=12, seed=5, max_new_tokens=20),
    DecodingSettings(strategy="sample", num_return_sequences=3, seed=8, max_new_tokens=9),
    DecodingSettings(strategy="beam", num_beams=4, max_new_tokens=10),
    DecodingSettings(strategy="contrastive", max_new_tokens=7),
    DecodingSettings(strategy="dola", seed=3, max_new_tokens=8),
)


def run(scheduler: Scheduler, model: Any, prompt: Ids, settings: DecodingSettings, visitor: object = None):
    strategy = settings.strategy_for(request_for(prompt))
    return scheduler.run(model, prompt, [strategy], rows=settings.rows, visitor=visitor)


def alone(model: Any, prompt: Ids, settings: DecodingSettings) -> list[Step]:
    return list(generate(model, prompt, settings.strategy_for(request_for(prompt))))


def translator() -> Transformer:
    options = {"key_value_heads": 4, "positions": "sinusoidal", "norm": "layer", "activation": "relu"}
    return network(4, encoder_layers=2, **options)


class Watched:
    """A model that notes how many rows its passes have, waits where it is told to, and fails where it is told to."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.rows: list[int] = []
        self.gate = threading.Event()
        self.gate.set()
        self.poison: int | None = None  # a token that no pass survives

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def step(self, tokens: Sequence[int], cache: Any, *, want: Want = Want()) -> Forward[Any]:
        self.gate.wait(30)
        self.rows.append(len(tokens))
        if self.poison in tokens:
            raise ArithmeticError("poisoned")
        return self._model.step(tokens, cache, want=want)


@pytest.mark.parametrize("seed", range(3))
def test_whoever_comes_and_goes_each_gets_the_steps_of_running_alone(seed: int) -> None:
    drawn, model, scheduler = random.Random(seed), transformer(), Scheduler(FairLock().held_ahead)
    requests = [
        (tuple(drawn.choices(range(3, VOCABULARY), k=drawn.randint(1, 14))), drawn.choice(KINDS)) for _ in range(14)
    ]

    begun = [threading.Event() for _ in requests]

    def ask(number: int) -> list[Step]:
        prompt, settings = requests[number]
        if number >= 4:
            assert begun[number - 4].wait(30)  # so that some come while others are being written
        passes = run(scheduler, model, prompt, settings)
        first = next(passes)
        begun[number].set()
        return steps_of([first, *passes])

    with ThreadPoolExecutor(len(requests)) as threads:
        together = list(threads.map(ask, range(len(requests))))
    for (prompt, settings), steps in zip(requests, together, strict=True):
        check_same(steps, alone(model, prompt, settings))
    eventually(lambda: scheduler.rows == 0)


def test_runs_that_wait_together_share_their_passes() -> None:
    model, scheduler = Watched(transformer()), Scheduler(FairLock().held_ahead)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=10, min_new_tokens=10)
    model.gate.clear()
    with ThreadPoolExecutor(5) as threads:
        futures = [threads.submit(lambda n=n: steps_of(run(scheduler, model, (5, 6 + n), settings))) for n in range(5)]
        eventually(lambda: scheduler.rows + scheduler.waiting == 5)
        model.gate.set()
        assert [len(each.result()) for each in futures] == [10] * 5
    assert max(model.rows) == 5
    assert len(model.rows) < 5 * 9 / 2  # in turns there would be nine passes each


def test_who_leaves_frees_the_rows_while_the_others_go_on() -> None:
    model, scheduler = Watched(transformer()), Scheduler(FairLock().held_ahead, ahead=1000)
    long = DecodingSettings(strategy="sample", max_new_tokens=40, min_new_tokens=40, seed=1)
    model.gate.clear()
    leaving, staying = run(scheduler, model, (5, 6), long), run(scheduler, model, (7, 8), long)
    for each in (leaving, staying):
        next(each)
    eventually(lambda: scheduler.rows + scheduler.waiting == 2)
    leaving.close()
    model.gate.set()
    rest = steps_of(staying)
    check_same(rest, alone(model, (7, 8), long)[-len(rest) :])
    eventually(lambda: scheduler.rows == 0)
    assert model.rows[-30:] == [1] * 30  # alone again; forty passes of two rows if nothing had been freed


def test_an_error_in_one_run_ends_that_run_alone() -> None:
    class Broken:
        want = Want()

        def advance(self, forward: Forward[Any]) -> Step:
            raise AttendError("nothing works")

    model, scheduler = transformer(), Scheduler(FairLock().held_ahead)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=12, min_new_tokens=12)
    with ThreadPoolExecutor(2) as threads:
        well = threads.submit(lambda: steps_of(run(scheduler, model, (5, 6), settings)))
        with pytest.raises(AttendError, match="nothing works"):
            list(scheduler.run(model, (5, 6), [Broken()]))
        check_same(well.result(), alone(model, (5, 6), settings))


def test_a_pass_that_fails_ends_only_the_run_whose_row_it_was() -> None:
    model, scheduler = Watched(transformer()), Scheduler(FairLock().held_ahead)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=12, min_new_tokens=12)
    prompts = [(5, 6), (7, 8), (9, 10, 11)]
    texts = [[step.hypotheses[0].tokens[-1] for step in alone(model, prompt, settings)] for prompt in prompts]
    model.poison = next(token for token in texts[0][:-1] if token not in texts[1] and token not in texts[2])
    model.gate.clear()
    with ThreadPoolExecutor(3) as threads:
        futures = [threads.submit(lambda p=p: steps_of(run(scheduler, model, p, settings))) for p in prompts]
        eventually(lambda: scheduler.rows + scheduler.waiting == 3)
        model.gate.set()
        with pytest.raises(ArithmeticError):
            futures[0].result()
        model_alone = transformer()
        for each, prompt in zip(futures[1:], prompts[1:], strict=True):
            check_same(each.result(), alone(model_alone, prompt, settings))


def test_a_nan_in_one_row_touches_no_other() -> None:
    class Spoiled(Watched):
        def step(self, tokens: Sequence[int], cache: Any, *, want: Want = Want()) -> Forward[Any]:
            forward = super().step(tokens, cache, want=want)
            spoiled = torch.tensor([[token == 7] for token in tokens])  # (R, 1)
            return replace(forward, logits=forward.logits.masked_fill(spoiled, torch.nan))

    model, scheduler = Spoiled(transformer()), Scheduler(FairLock().held_ahead)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=12, min_new_tokens=12)
    forced = DecodingSettings(strategy="greedy", max_new_tokens=12, logit_bias=((7, 100.0),))
    with ThreadPoolExecutor(2) as threads:
        spoiled = threads.submit(lambda: steps_of(run(scheduler, model, (5, 6), forced)))
        well = threads.submit(lambda: steps_of(run(scheduler, model, (9, 8, 3), settings)))
        with pytest.raises(AttendError, match="no usable probabilities"):
            spoiled.result()
        check_same(well.result(), alone(transformer(), (9, 8, 3), settings))


def test_readers_that_sleep_hold_back_their_own_runs_and_no_other() -> None:
    """Three stop reading, wait beside the batch, and come back into it."""
    model, scheduler = Watched(transformer()), Scheduler(FairLock().held_ahead, ahead=4, max_rows=4)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=30, min_new_tokens=30)
    prompts = [(5, 6), (9, 8, 7), (11,)]
    asleep = [run(scheduler, model, prompt, settings) for prompt in prompts]
    first = [next(each for each in passes if each is not None) for passes in asleep]
    eventually(lambda: [each.paused for each in scheduler._running] == [True] * len(asleep))
    assert sum(model.rows) <= (1 + 4) * len(asleep)  # each run has one pass for the reader and four ahead
    assert len(steps_of(run(scheduler, model, (7, 8), settings))) == 30  # the rows of those who sleep are free
    with ThreadPoolExecutor(3) as threads:
        rests = list(threads.map(steps_of, asleep))
    for prompt, begun, rest in zip(prompts, first, rests, strict=True):
        check_same([begun.steps[0], *rest], alone(transformer(), prompt, settings))


def test_a_run_of_many_rows_lets_others_pass_for_a_while_and_then_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    model, scheduler = Watched(transformer()), Scheduler(FairLock().held_ahead, max_rows=8)
    wide = DecodingSettings(strategy="beam", num_beams=8, max_new_tokens=4)
    long = DecodingSettings(strategy="greedy", max_new_tokens=40, min_new_tokens=40)
    model.gate.clear()
    with ThreadPoolExecutor(3) as threads:
        running = threads.submit(lambda: steps_of(run(scheduler, model, (5, 6), long)))
        eventually(lambda: scheduler.rows == 1)
        waiting = threads.submit(lambda: steps_of(run(scheduler, model, (5, 6, 7), wide)))
        eventually(lambda: scheduler.waiting == 1)
        model.gate.set()
        passing = steps_of(run(scheduler, model, (8, 9), KINDS[0]))
        assert not running.done() and not waiting.done()
        check_same(passing, alone(transformer(), (8, 9), KINDS[0]))
        check_same(waiting.result(), alone(transformer(), (5, 6, 7), wide))


@pytest.mark.parametrize("joinable", [True, False])
def test_an_encoder_decoder_and_one_whose_rows_cannot_be_joined(joinable: bool) -> None:
    model: Any = Watched(translator())
    model.joinable = joinable
    scheduler = Scheduler(FairLock().held_ahead)
    settings = DecodingSettings(strategy="beam", num_beams=3, max_new_tokens=10)
    prompts = [(5, 6, 7, 2), (9, 2), (8, 7, 6, 5, 4, 2)]

    def strategy(prompt: Ids) -> Strategy:
        return settings.strategy_for(replace(request_for(model.decoder_start), source=prompt))

    model.gate.clear()
    with ThreadPoolExecutor(3) as threads:
        futures = [
            threads.submit(lambda p=p: steps_of(scheduler.run(model, p, [strategy(p)], rows=3))) for p in prompts
        ]
        eventually(lambda: scheduler.waiting + scheduler.rows // 3 == 3)
        model.gate.set()
        for each, prompt in zip(futures, prompts, strict=True):
            check_same(each.result(), list(generate(translator(), prompt, strategy(prompt))))
    assert (max(model.rows) > 3) is joinable


def test_nobody_waits_for_a_thread_that_has_died() -> None:
    class Panicking(Watched):
        def step(self, tokens: Sequence[int], cache: Any, *, want: Want = Want()) -> Forward[Any]:
            raise SystemExit("as a panic of a compiled library, which is no Exception")

    scheduler = Scheduler(FairLock().held_ahead)
    with pytest.raises(RuntimeError, match="panic"):
        list(run(scheduler, Panicking(transformer()), (5, 6), KINDS[0]))
    check_same(steps_of(run(scheduler, transformer(), (5, 6), KINDS[0])), alone(transformer(), (5, 6), KINDS[0]))


def test_the_visitor_with_the_fewest_rows_comes_first() -> None:
    """Eight beams fill a pass; of the two runs that wait, the later one is of a visitor who has no rows yet."""
    model, scheduler = Watched(transformer()), Scheduler(FairLock().held_ahead, max_rows=12)
    wide = DecodingSettings(strategy="beam", num_beams=8, max_new_tokens=12, min_new_tokens=12)
    order: list[str] = []

    def ask(name: str, visitor: str, settings: DecodingSettings) -> None:
        for each in run(scheduler, model, (5, 6, 7), settings, visitor):
            if each is not None and name not in order:
                order.append(name)

    model.gate.clear()
    with ThreadPoolExecutor(3) as threads:
        futures = [threads.submit(ask, "first", "visitor", wide)]
        eventually(lambda: scheduler.rows == 8)
        futures.append(threads.submit(ask, "more", "visitor", wide))
        eventually(lambda: scheduler.waiting == 1)
        futures.append(threads.submit(ask, "other", "other visitor", KINDS[0]))
        eventually(lambda: scheduler.waiting == 2)
        model.gate.set()
        for each in futures:
            each.result()
    assert order == ["first", "other", "more"]


def test_however_many_wait_for_the_model_one_of_them_comes_between_two_turns() -> None:
    lock = FairLock()
    model, scheduler = Watched(transformer()), Scheduler(lock.held_ahead)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=40, min_new_tokens=40)
    model.gate.clear()
    passes = run(scheduler, model, (5, 6), settings)
    next(passes)
    seen: list[int] = []  # by each of the others, how many passes there have been

    def other() -> None:
        with lock:
            seen.append(len(model.rows))

    with ThreadPoolExecutor(8) as threads:
        for _ in range(8):
            threads.submit(other)
        eventually(lambda: lock.waiting == 8)
        model.gate.set()
    list(passes)
    assert [after - before for before, after in pairwise(seen)] == [1] * 7


def test_the_thread_ends_with_the_last_run_and_begins_again() -> None:
    model, scheduler = transformer(), Scheduler(FairLock().held_ahead)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=3)
    for _ in range(2):
        assert steps_of(run(scheduler, model, (5, 6), settings))
        eventually(lambda: not any(thread.name == "attend-scheduler" for thread in threading.enumerate()))


def test_more_rows_than_a_pass_has_run_alone() -> None:
    model, scheduler = transformer(), Scheduler(FairLock().held_ahead, max_rows=2)
    settings = DecodingSettings(strategy="beam", num_beams=4, max_new_tokens=6)
    check_same(steps_of(run(scheduler, model, (5, 6), settings)), alone(model, (5, 6), settings))
