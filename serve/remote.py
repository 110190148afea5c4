"""The page's side of decoding in replicas. To the rest of the page, it looks like decoding in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ray.exceptions import RayError, RayTaskError  # type: ignore[import-not-found]
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError  # type: ignore[import-not-found]

from decoding.call import DecodeCall, Passes
from model.errors import AttendError
from model.names import without_precision
from model.text.languages import unmarked
from serve import wire
from ui.runs.models.decoder import Decoder

Handle = Any  # ray.serve.handle.DeploymentHandle


class ReplicaDecoder(Decoder):
    """Decodes in the replicas of each model's deployment."""

    def __init__(self, handles: Mapping[str, Handle]) -> None:
        """
        Args:
            handles: the deployments, by the names of the models.
        """
        self._handles = {name: handle.options(stream=True) for name, handle in handles.items()}

    def decode(self, call: DecodeCall) -> Passes:
        """See `Decoder.decode`; closing the generator frees the rows in the replica.

        Raises:
            AttendError: if the replica refuses the call or is lost, or if no replica is free.
        """
        # All calls of a visitor go to one replica, which keeps the cache of the conversation.
        handle = self._handle(call.model).options(method_name="decode", session_id=call.visitor)
        messages = handle.remote(call)
        try:
            with _plain_errors():
                for message in messages:
                    passes = _read(message)
                    if not passes:
                        yield None  # a heartbeat
                    yield from passes
        finally:
            messages.cancel()

    def forget(self, visitor: str) -> None:
        """See `Decoder.forget`. Notifies the replicas to which the visitor's calls go, without waiting for them.

        If one of them was full and another replica took a call, that one keeps the prefix until it needs the memory.
        """
        for handle in self._handles.values():
            handle.options(stream=False, method_name="forget", session_id=visitor).remote(visitor)

    def _handle(self, name: str) -> Handle:
        """The deployment of a model, whose name may include languages or a precision."""
        return self._handles[name if name in self._handles else without_precision(unmarked(name)[0])[0]]


def result_of(method: Handle, *arguments: Any) -> Any:
    """The result of a method of a replica; errors are those of `ReplicaDecoder`."""
    with _plain_errors():
        return _read(method.remote(*arguments).result())


def _read(message: bytes) -> Any:
    """The content of a message; an `AttendError` is raised."""
    value = wire.loads(message)
    if isinstance(value, AttendError):
        raise value
    return value


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turns failures of the cluster into `AttendError`; bugs in a replica are raised as they are."""
    try:
        yield
    except RayTaskError:
        raise
    except (BackPressureError, DeploymentUnavailableError) as error:
        raise AttendError("All replicas of this model are busy: try again in a minute.") from error
    except RayError as error:
        raise AttendError(
            "The process that was working on this has stopped: try again, and another one will take over."
        ) from error
