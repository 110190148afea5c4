"""The main loop of a sandboxed child process, and its resource limits. Imports nothing slow.

The limits need no privileges and hold on Linux and macOS; Windows has none. Time and memory are limited from the start.
`close_off` then takes away files, connections and processes. What remains to code that has broken out of Jinja or of a
tokenizer's library is to send signals to other processes of the same user. If that user is root, it can also raise the
limits again, so a page should not run as root.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

if sys.platform != "win32":
    import resource

MOST_BYTES = 4_000_000_000  # for reading a checkpoint without its weights; the largest vocabularies take a quarter
_MOST_QUOTED = 200  # characters of an error


def serve(answer: Callable[[Any], object], most_bytes: int, *, mapped: bool = False) -> None:
    """Answer questions, one line of JSON each, until standard input ends; `null` only checks that the child is alive.

    The command line's argument is how many seconds an answer may take. The parent ends this process sooner, unless it
    has crashed itself meanwhile.

    Args:
        answer: its exceptions are sent back as errors; a library's panic, which is not an Exception, ends the process.
        most_bytes: of memory that may be reserved, where the system can limit it.
        mapped: whether libraries and files that are mapped into memory don't count.
    """
    _limit(most_bytes, mapped)
    for line in sys.stdin.buffer:
        _end_after(int(sys.argv[1]))
        question = json.loads(line)
        try:
            reply: dict[str, object] = {"answer": None if question is None else answer(question)}
        except MemoryError:
            reply = {"error": f"it needs more than {most_bytes // 10**6:,} MB", "memory": True}
        except Exception as error:
            message = (str(error) or type(error).__name__)[:_MOST_QUOTED]
            reply = {"error": message, "line": getattr(error, "lineno", None)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
        _end_after(0)


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


def _limit(most_bytes: int, mapped: bool) -> None:
    if sys.platform == "win32":  # where only the time is limited
        return
    for kind, most in (
        (resource.RLIMIT_DATA if mapped else resource.RLIMIT_AS, most_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),  # it has nothing to write
    ):
        with suppress(ValueError, OSError):  # macOS can't limit memory, and a limit that is lower already stays
            resource.setrlimit(kind, (most, most))
