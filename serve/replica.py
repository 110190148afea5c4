"""A replica: one process of a deployment, with one copy of the model and one scheduler, which decodes for all pages.

It decodes as a page does in its own process (`ui.runs.models.decoder.Decoder`) and sends the passes as messages. It
knows nothing of Ray, which turns it into an actor (`serve/deploy.py`).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from decoding.call import DecodeCall
from model import catalog
from model.device import limit_heaps
from model.errors import AttendError
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from model.progress import Progress
from model.threads import fastest_threads
from serve import evaluation, wire
from serve.settings import ModelDeployment
from ui.runs.models import Models
from ui.runs.stream import stream

_TIME_LIMIT = 3600.0  # seconds; the page's own limit is shorter
_PER_SECOND = 20.0  # messages of a stream; a page shows no more, and each costs both sides about a millisecond


class Replica:
    """Decodes with one model for all callers."""

    def __init__(self, deployment: ModelDeployment) -> None:
        limit_heaps()
        self._arguments = deployment.arguments
        first = catalog.load_arguments(self._arguments)
        fastest_threads(first.model)
        self._loaded = {first.name: first}  # and the same model in other precisions that visitors chose
        self._models = Models((first.name,), self._load)
        self._threads = ThreadPoolExecutor(deployment.max_requests, thread_name_prefix="attend-replica")
        self._rows = 0

    def _load(self, name: str, progress: Progress) -> LoadedModel:
        if name not in self._loaded:
            other = catalog.load_another(self._arguments, name, progress)
            assert isinstance(other, LoadedModel)
            self._loaded[name] = other
        return self._loaded[name]

    async def decode(self, call: DecodeCall) -> AsyncIterator[bytes]:
        """See `Decoder.decode`; closing the generator frees the rows.

        Each message has the passes since the one before, or none as a heartbeat; the last may be an `AttendError`.
        """
        stop, loop = threading.Event(), asyncio.get_running_loop()
        batches = stream(self._models.decode(call), stop=stop, time_limit=_TIME_LIMIT, per_second=_PER_SECOND)
        self._rows += call.rows
        try:
            while (batch := await loop.run_in_executor(self._threads, next, batches, None)) is not None:
                yield wire.dumps(batch.steps)
        except AttendError as error:
            yield wire.dumps(error)
        finally:
            self._rows -= call.rows
            stop.set()

    async def forget(self, visitor: str) -> None:
        """See `Decoder.forget`."""
        self._models.forget(visitor)

    async def describe(self, name: str) -> bytes:
        """See `serve.evaluation.describe`."""
        return await self._answer(lambda: evaluation.describe(self._models.get(name)))

    async def evaluate(
        self,
        name: str,
        decoder_start: tuple[int, ...],
        interventions: tuple[Intervention, ...],
        method: str,
        arguments: Sequence[Any],
        options: Mapping[str, Any],
    ) -> bytes:
        """See `serve.evaluation.evaluate`."""
        return await self._answer(
            lambda: evaluation.evaluate(
                self._models.get(name), decoder_start, interventions, method, arguments, options
            )
        )

    async def _answer(self, work: Callable[[], Any]) -> bytes:
        """The result, or an `AttendError`, as a message."""
        try:
            result = await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except AttendError as error:
            result = error
        return wire.dumps(result)

    def record_autoscaling_stats(self) -> dict[str, float]:
        """What Serve collects: the running and waiting rows, for `serve/autoscaling.py`, and the bytes of prefixes."""
        return {"rows": self._rows, "prefix_bytes": self._models.schedulers.prefix_bytes}
