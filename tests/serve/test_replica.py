"""One replica, without Ray: what it keeps of visitors."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from decoding.call import DecodeCall
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from serve.replica import Replica
from serve.settings import ModelDeployment


def test_what_was_read_for_a_visitor_is_kept_until_they_leave(tiny: LoadedModel) -> None:
    replica = Replica(ModelDeployment(tiny.address))

    async def read(visitor: str) -> None:
        prompt = tiny.prompt("The quick brown fox jumps over the dog")
        settings = DecodingSettings(strategy="greedy", max_new_tokens=4)
        async for _ in replica.decode(DecodeCall(tiny.name, prompt, (settings,), visitor=visitor)):
            pass

    async def visits() -> list[float]:
        kept = []
        for visitor in ("stays", "leaves"):
            await read(visitor)
            kept.append(replica.record_autoscaling_stats()["prefix_bytes"])
        await replica.forget("leaves")
        return [*kept, replica.record_autoscaling_stats()["prefix_bytes"]]

    with ThreadPoolExecutor(1) as thread:  # Playwright's loop may be running in this one
        one, both, after = thread.submit(asyncio.run, visits()).result()
    assert 0 < one == after < both
