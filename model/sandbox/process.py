"""A child process that answers questions, and is killed when an answer takes too long.

What comes with a checkpoint, such as a chat template, is a program in all but name: it may never end, or fill the
memory. In a process of its own it can't slow down or crash the page.
"""

from __future__ import annotations

import json
import math
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from model.sandbox.fork_server import Child, start

_STARTED_WITHIN = 60.0  # seconds, on a very busy machine
_MAX_BYTES = 64_000_000  # of an answer


class OutOfBounds(Exception):
    """The child took too long or too much memory, or crashed."""


class NotStarted(OutOfBounds):
    """The child has not started in time, so the question is not at fault."""

    def __init__(self) -> None:
        super().__init__(
            "this machine is too busy to start a process for it in time: try again in a minute, or choose another model"
        )


class Refused(Exception):
    """An exception that the child raised."""

    def __init__(self, message: str, line: int | None) -> None:
        """
        Args:
            line: of the template, if it has a syntax error.
        """
        super().__init__(message)
        self.line = line


class OutOfMemory(Refused):
    """The child may not take as much memory as it needs."""


class Sandbox:
    """A module in a process of its own, which starts with the first question."""

    def __init__(self, module: str, *, seconds: float) -> None:
        """
        Args:
            module: the name of one that calls `model.sandbox.child.serve`, in this folder if it has no dot.
            seconds: the time limit of an answer.
        """
        self._module = module if "." in module else f"{__package__}.{module}"
        self._seconds = seconds
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._end_child: Callable[[], object] = lambda: None

    def __reduce__(self) -> tuple[Callable[[], Sandbox], tuple[()]]:
        """Pickled, as for another process, it is a sandbox that has not been started."""
        return partial(Sandbox, self._module, seconds=self._seconds), ()

    def answer(self, question: object, *, ends: float = math.inf) -> Any:
        """The answer to a question; both are JSON values.

        Args:
            ends: by the monotonic clock, when the child has to have started and answered.

        Raises `Refused` if the child raised an exception, `OutOfBounds` if it exceeded its limits, and `NotStarted` if
        it could not start; after the last two, the next question starts another child.
        """
        with self._lock:
            if self._child is not None and self._child.has_ended():  # while it was idle, perhaps for lack of memory
                self._drop_child()
            child = self._child = self._child or self._started(ends)
            line = None
            try:
                line = _exchange(child, json.dumps(question), self._seconds, ends)
            finally:
                if line is None:  # also after an interrupt, since the answer would be read as that to the next question
                    self._drop_child()
        if line is None:
            raise OutOfBounds
        reply = json.loads(line)
        if "error" in reply:
            raise (OutOfMemory if "memory" in reply else Refused)(reply["error"], reply.get("line"))
        return reply["answer"]

    def close(self) -> None:
        """End the child now. Without it, the child lives as long as the sandbox, which an exception may keep alive."""
        with self._lock:
            self._drop_child()

    def _drop_child(self) -> None:
        self._end_child()
        self._child = None

    def _started(self, ends: float) -> Child:
        ends = min(ends, time.monotonic() + _STARTED_WITHIN)
        for _ in range(2):  # what starts it may end in that moment
            try:
                child = start(self._module, math.ceil(self._seconds) + 1)
            except OSError as error:  # the system has no room for another file or process
                raise NotStarted from error
            self._end_child = weakref.finalize(self, child.end)  # runs once: when called, or when the sandbox is freed
            if _exchange(child, "null", _STARTED_WITHIN, ends) is not None:
                return child
            self._end_child()
        raise NotStarted


def _exchange(child: Child, question: str, seconds: float, ends: float) -> bytes | None:
    """The line that the child answers; None if it crashed, was killed or wrote too much, or if its time is over."""
    left = min(seconds, ends - time.monotonic())
    if left <= 0:  # a timer of no seconds would still let a quick child answer
        return None
    timer = threading.Timer(left, child.kill)
    timer.daemon = True
    timer.start()
    line = b""
    try:
        child.stdin.write(question.encode() + b"\n")
        child.stdin.flush()
        line = child.stdout.readline(_MAX_BYTES)
    except OSError:  # it has ended
        pass
    finally:
        timer.cancel()
    return line if line.endswith(b"\n") else None
