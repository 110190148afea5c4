"""The page's side: decoding that happens in a replica, read as if it happened in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ray.exceptions import RayError, RayTaskError  # type: ignore[import-not-found]
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError  # type: ignore[import-not-found]

from decoding.settings import DecodingSettings
from decoding.step import Hypothesis
from model.errors import AttendError
from model.names import without_precision
from model.text.languages import unmarked
from serve import wire
from ui.runs.models import Passes
from ui.runs.models.decoder import Decoder

Handle = Any  # ray.serve.handle.DeploymentHandle


class ReplicaDecoder(Decoder):
    """Runs strategies in the replicas of each model's deployment."""

    def __init__(self, handles: Mapping[str, Handle]) -> None:
        """
        Args:
            handles: the deployments, by the names of the models.
        """
        self._handles = dict(handles)

    def decode(
        self,
        name: str,
        prompt: tuple[int, ...],
        settings: DecodingSettings,
        drawn: int = 0,
        resumed: Hypothesis | None = None,
        visitor: str = "",
    ) -> Passes:
        yield from self._passes("decode", name, prompt, settings, drawn, resumed, visitor)

    def decode_together(
        self,
        name: str,
        prompt: tuple[int, ...],
        cards: Mapping[int, DecodingSettings],
        attention: bool,
        visitor: str = "",
    ) -> Passes:
        yield from self._passes("decode_together", name, prompt, cards, attention, visitor)

    def forget(self, visitor: str) -> None:
        """Tell the replicas to which the visitor's calls go, without waiting for them. Another replica that has read
        for the visitor, since that one was full, keeps it until it needs the memory."""
        for handle in self._handles.values():
            handle.options(method_name="forget", session_id=visitor).remote(visitor)

    def _passes(self, method: str, name: str, *arguments: Any) -> Passes:
        """Those of one call; closing the generator frees the rows in the replica.

        Raises:
            AttendError: what the replica refused, and where the replica is lost or none is free.
        """
        visitor = arguments[-1]
        # A session's calls go to one replica, which has read the conversation so far.
        handle = self._handle(name).options(stream=True, method_name=method, session_id=visitor)
        messages = handle.remote(name, *arguments)
        try:
            with _for_people():
                for message in messages:
                    made = _read(message)
                    if not made:
                        yield None
                    yield from made
        finally:
            messages.cancel()

    def _handle(self, name: str) -> Handle:
        """The deployment of a model under any name of it, such as one with languages or a precision."""
        return self._handles[name if name in self._handles else without_precision(unmarked(name)[0])[0]]


def result_of(method: Handle, *arguments: Any) -> Any:
    """What a method of a replica returns. Raises as `ReplicaDecoder`."""
    with _for_people():
        return _read(method.remote(*arguments).result())


def _read(message: bytes) -> Any:
    """What a message holds; a refusal is raised."""
    value = wire.loads(message)
    if isinstance(value, AttendError):
        raise value
    return value


@contextmanager
def _for_people() -> Iterator[None]:
    """Turns what a cluster lacks into one sentence; a defect in a replica stays one."""
    try:
        yield
    except RayTaskError:
        raise
    except (BackPressureError, DeploymentUnavailableError) as error:
        raise AttendError("All replicas of this model are busy: try again in a minute.") from error
    except RayError as error:
        raise AttendError(
            "The process that was working on this has ended: try again, and another one takes over."
        ) from error
