"""One replica, without Ray: what it keeps of visitors, and runs with a part of the model switched off."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import torch

from decoding.call import DecodeCall
from decoding.request import RequestOptions
from decoding.settings import DecodingSettings
from model.inspection.inspector import under
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from serve import wire
from serve.replica import Replica
from serve.settings import ModelDeployment
from tests.decoding.test_batch import check_same
from tests.helpers.waiting import eventually, steps_of
from ui.runs.models import Models

T = TypeVar("T")


def test_what_was_read_for_a_visitor_is_kept_until_they_leave(tiny: LoadedModel) -> None:
    replica = Replica(ModelDeployment(tiny.address))

    async def read(visitor: str) -> None:
        prompt = tiny.prompt("The quick brown fox jumps over the dog")
        settings = DecodingSettings(strategy="greedy", max_new_tokens=4)
        async for _ in replica.decode(DecodeCall(tiny.name, prompt, (settings,), visitor=visitor)):
            pass

    def kept() -> float:
        return replica.record_autoscaling_stats()["prefix_bytes"]

    async def visits() -> list[float]:
        seen = [0.0]
        for visitor in ("stays", "leaves"):
            await read(visitor)
            eventually(lambda: kept() > seen[-1])  # the scheduler keeps it once the reader has its last token
            seen.append(kept())
        await replica.forget("leaves")
        return [*seen[1:], kept()]

    one, both, after = in_a_thread(visits())
    assert 0 < one == after < both


def test_interventions_travel_and_change_every_pass_of_a_run(tiny: LoadedModel) -> None:
    replica, off = Replica(ModelDeployment(tiny.address)), (Intervention(1, "head", 2), Intervention(0, "attention"))
    prompt, settings = tiny.prompt("The quick brown fox"), DecodingSettings(seed=3, temperature=1.5, max_new_tokens=9)
    call = DecodeCall(tiny.name, prompt, (settings,), RequestOptions(interventions=off))

    async def decoded() -> list[Any]:
        return [wire.loads(message) async for message in replica.decode(pickle.loads(pickle.dumps(call)))]

    there = [each for passes in in_a_thread(decoded()) for each in passes]
    check_same(steps_of(there), steps_of(Models((tiny.name,), lambda name, progress: tiny).decode(call)))

    inspected = replica.evaluate(tiny.name, tuple(tiny.model.decoder_start), off, "inspect", (prompt,), {})
    changed = wire.loads(in_a_thread(inspected)).logits
    torch.testing.assert_close(changed, under(tiny.model, off).inspect(prompt).logits)
    assert not torch.allclose(changed, tiny.model.inspect(prompt).logits, atol=1e-3)


def in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    with ThreadPoolExecutor(1) as thread:  # Playwright's loop may be running in this one
        return thread.submit(asyncio.run, work).result()
