"""The main loop of a sandboxed child process, and its resource limits. Imports nothing slow.

The limits need no privileges and hold on Linux and macOS; Windows has none. Time and memory are limited from the start.
`close_off` then takes away files, connections and processes. What remains to code that has broken out of Jinja or of a
tokenizer's library is to send signals to other processes of the same user. If that user is root, it can also raise the
limits again, so a page should not run as root.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

if sys.platform != "win32":
    import resource

MAX_BYTES = 4_000_000_000  # for reading a checkpoint without its weights; the largest vocabularies take a quarter
_MAX_QUOTED = 200  # characters of an error
_UNUSED_SECONDS = 600.0  # after which a fork server ends: the libraries of some take 300 MB


def serve(
    answer: Callable[[Any], object],
    max_bytes: int,
    *,
    mapped: bool = False,
    closed: bool = False,
    modules: Sequence[str] = (),
) -> None:
    """Answer questions, one line of JSON each, until standard input ends; `null` is answered by this process's number.

    The command line's argument is how many seconds an answer may take. The parent ends this process sooner, unless it
    has crashed itself meanwhile. If the argument is "fork", the processes that this one forks answer.

    Args:
        answer: its exceptions are sent back as errors; a library's panic, which is not an Exception, ends the process.
        max_bytes: of memory that may be reserved, where the system can limit it.
        mapped: whether libraries and files that are mapped into memory don't count.
        closed: whether to close the process off before the first question.
        modules: that answers import, to be imported once for all forked processes.
    """
    for name in modules:
        importlib.import_module(name)
    seconds = fork_for_each() if sys.argv[1] == "fork" else int(sys.argv[1])
    if closed:
        close_off()
    _limit(max_bytes, mapped)
    for line in sys.stdin.buffer:
        _end_after(seconds)
        question = json.loads(line)
        try:
            reply: dict[str, object] = {"answer": os.getpid() if question is None else answer(question)}
        except MemoryError:
            reply = {"error": f"it needs more than {max_bytes // 10**6:,} MB", "memory": True}
        except Exception as error:
            message = (str(error) or type(error).__name__)[:_MAX_QUOTED]
            reply = {"error": message, "line": getattr(error, "lineno", None)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
        _end_after(0)
    os._exit(0)  # freeing all objects, one by one, would first copy the memory that forked processes share


def fork_for_each() -> int:
    """Be a fork server (`model.sandbox.fork_server`): return in each process that is forked, with its seconds.

    Standard input is a socket of the page. "NUMBER SECONDS", together with another socket, asks for a process that has
    this as its standard input and output; "NUMBER" ends that process. The server ends with the page, and all that it
    has forked with it; without any process, it also ends after a while.
    """
    page = socket.socket(fileno=os.dup(0))
    processes: dict[bytes, int] = {}
    gc.freeze()  # collecting garbage would copy the memory that forked processes share
    while True:
        page.settimeout(None if processes else _UNUSED_SECONDS)
        try:
            request, pipes, *_ = socket.recv_fds(page, 64, 1)
        except TimeoutError:
            request, pipes = b"", []
        if not request:
            os.killpg(0, signal.SIGKILL)
        number, _, seconds = request.partition(b" ")
        if not seconds:
            if (pid := processes.pop(number, 0)) > 0:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            continue
        with suppress(OSError):  # the system may have no room for another process; who asked for it sees the pipe close
            if (pid := os.fork()) == 0:
                page.close()
                os.dup2(pipes[0], 0)
                os.dup2(pipes[0], 1)
                os.close(pipes[0])
                return int(seconds)
            processes[number] = pid
        os.close(pipes[0])


def close_off() -> None:
    """Let this process open no more files and connections and start no more processes; its pipes stay open.

    Afterwards it can't import modules, either.
    """
    if sys.platform != "win32":
        for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC):  # files include sockets; processes, threads
            resource.setrlimit(kind, (0, 0))


def _end_after(seconds: int) -> None:
    """Let the system end this process; 0 takes that back."""
    if hasattr(signal, "alarm"):  # not on Windows
        signal.alarm(seconds)


def _limit(max_bytes: int, mapped: bool) -> None:
    if sys.platform == "win32":  # where only the time is limited
        return
    for kind, limit in (
        (resource.RLIMIT_DATA if mapped else resource.RLIMIT_AS, max_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),  # it has nothing to write
    ):
        with suppress(ValueError, OSError):  # macOS can't limit memory, and a limit that is lower already stays
            resource.setrlimit(kind, (limit, limit))
