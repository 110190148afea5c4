"""A child process that answers questions, and is ended when one takes too long.

What a checkpoint brings with it, such as a chat template, is a program in all but name: it may never end, or fill the
memory. In a process of its own it can take nothing from the others.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_STARTED_WITHIN = 60.0  # seconds, on a very busy machine
_MOST_BYTES = 64_000_000  # of an answer


class OutOfBounds(Exception):
    """The child was ended, or ended itself: it took too long or too much memory, or crashed."""


class Refused(Exception):
    """What the child raised."""

    def __init__(self, message: str, line: int | None) -> None:
        """
        Args:
            line: of the program that it was given, where that has a syntax error.
        """
        super().__init__(message)
        self.line = line


class Sandbox:
    """A module of this folder, run by an interpreter of its own; it is started with the first question."""

    def __init__(self, module: str, *, seconds: float) -> None:
        """
        Args:
            module: the name of one that calls `model.sandbox.child.serve`.
            seconds: that an answer may take.
        """
        self._module = module
        self._seconds = seconds
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def answer(self, question: object) -> Any:
        """The answer to a question, both plain values.

        Raises `Refused` for what answering raised, and `OutOfBounds` where there is no answer within the limits; the
        next question then starts another child.
        """
        with self._lock:
            if self._child is None:
                self._child = self._started()
            line = _exchange(self._child, json.dumps(question), self._seconds)
            if line is None:
                _end(self._child)
                self._child = None
                raise OutOfBounds
        reply = json.loads(line)
        if "error" in reply:
            raise Refused(reply["error"], reply.get("line"))
        return reply["answer"]

    def _started(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [sys.executable, "-m", f"model.sandbox.{self._module}"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the page alone
        )
        weakref.finalize(self, _end, child)
        if _exchange(child, "null", _STARTED_WITHIN) is None:
            raise OutOfBounds
        return child


def _exchange(child: subprocess.Popen[bytes], question: str, seconds: float) -> bytes | None:
    """The line with which a child answers; None if it doesn't, and then it is over."""
    assert child.stdin is not None and child.stdout is not None
    timer = threading.Timer(seconds, child.kill)
    timer.daemon = True
    timer.start()
    line = b""
    try:
        child.stdin.write(question.encode() + b"\n")
        child.stdin.flush()
        line = child.stdout.readline(_MOST_BYTES)
    except OSError:  # it is over
        pass
    finally:
        timer.cancel()
    return line if line.endswith(b"\n") else None


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):  # what was not written yet
                pipe.close()
    child.wait()
