"""Processes that have imported a module and fork for each sandbox, so that only the first one waits for the imports.

A fork server starts without the page's secrets, reads nothing that belongs to a visitor, and ends with the page. Each
process that it forks limits itself before it reads its first question (`model.sandbox.child`). Only Linux forks:
elsewhere the libraries of the system start threads, which a fork doesn't survive, so each sandbox starts an interpreter
of its own.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import IO

_FORKS = sys.platform == "linux"
_ROOT = Path(__file__).resolve().parents[__name__.count(".")]  # from which this module is imported
# What an interpreter needs to start; the rest may hold secrets, such as ATTEND_AUTH and the Hub's token.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "SYSTEMROOT")

# By the process, since a fork of the page needs servers of its own, and by module.
_SERVERS: dict[tuple[int, str], _ForkServer] = {}
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Child:
    """A process with pipes to its standard input and output."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    kill: Callable[[], object]  # does nothing the second time
    has_ended: Callable[[], bool]  # called only between two questions

    def end(self) -> None:
        self.kill()
        for pipe in (self.stdin, self.stdout):
            with suppress(OSError):  # unsent data
                pipe.close()


def start(module: str, seconds: int) -> Child:
    """A process that runs a module which calls `model.sandbox.child.serve`, or will as soon as its imports are done.

    Args:
        seconds: the time limit of an answer.
    """
    if not _FORKS:
        process = _popen(module, str(seconds), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None and process.stdout is not None
        return Child(process.stdin, process.stdout, partial(_kill, process), lambda: process.poll() is not None)
    key = os.getpid(), module
    with _LOCK:
        try:
            return _SERVERS[key].fork(seconds)
        except (KeyError, OSError):  # not started yet, or it has ended
            server = _SERVERS[key] = _ForkServer(module)
            return server.fork(seconds)


if hasattr(os, "register_at_fork"):  # a lock that another thread holds would stay locked in a fork
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class _ForkServer:
    """A process that forks; `model.sandbox.child.fork_for_each` is its side."""

    def __init__(self, module: str) -> None:
        self._connection, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with child_end:
            process = _popen(module, "fork", stdin=child_end.fileno(), stdout=subprocess.DEVNULL)
        self._page = os.getpid()
        self._numbers = count(1)
        # When called, when freed, or at exit.
        self._end = weakref.finalize(self, _end_group, process, self._connection, self._page)

    def fork(self, seconds: int) -> Child:
        """Raises `OSError` if the server has ended."""
        number = next(self._numbers)
        ours, child_end = socket.socketpair()
        with ours, child_end:  # files keep ours open
            kill, has_ended = partial(self._kill, number, ours), partial(_is_closed, ours)
            child = Child(ours.makefile("wb"), ours.makefile("rb"), kill, has_ended)
            try:
                socket.send_fds(self._connection, [b"%d %d" % (number, seconds)], [child_end.fileno()])
            except OSError:
                child.end()
                raise
        return child

    def _kill(self, number: int, pipe: socket.socket) -> None:
        """End a process, or whoever waits for one that has not been forked yet; a fork of the page ends none of it."""
        if os.getpid() != self._page:
            return
        with suppress(OSError):  # closed already
            pipe.shutdown(socket.SHUT_RDWR)
        try:
            self._connection.send(b"%d" % number)  # the server knows which process had this number
        except OSError:  # the server has ended
            self._end()


def _popen(module: str, argument: str, *, stdin: int, stdout: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", module, argument],
        cwd=_ROOT,
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        start_new_session=True,  # Ctrl-C is for the page alone
    )


def _is_closed(pipe: socket.socket) -> bool:
    """Whether the other end is closed and everything from it has been read."""
    try:
        return not pipe.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:  # it is open and silent
        return False
    except OSError:
        return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _end_group(server: subprocess.Popen[bytes], connection: socket.socket, page: int) -> None:
    """End a fork server and what it has forked, unless this is only a fork of the page."""
    connection.close()
    if os.getpid() != page:
        return
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()
