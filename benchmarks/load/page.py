"""The page in a process of its own, which reports on demand what it holds, or what its models' passes took.

The process runs `python app.py` with the same arguments, and writes a line of JSON for each line that it reads.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, Self

import psutil

from decoding.prefixes import KeptPrefixes
from decoding.scheduler import Scheduler
from model.errors import AttendError

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Holdings:
    """The resources that a page holds."""

    threads: int  # those that decode; others wait in a pool for the next event
    files: int  # open files, connections included
    rows: int  # in all batches
    waiting: int  # runs that have not begun
    prefixes: int  # bytes kept of texts that were read for visitors
    memory: int  # resident bytes

    @classmethod
    def here(cls) -> Self:
        """The resources of this process."""
        process, objects = psutil.Process(), gc.get_objects()
        # `isinstance` would make modules import themselves that are only imported when they are used.
        schedulers = [each for each in objects if type(each) is Scheduler]
        return cls(
            threads=sum(thread.name.startswith("attend-decoding") for thread in threading.enumerate()),
            files=process.num_fds(),
            rows=sum(each.rows for each in schedulers),
            waiting=sum(each.waiting for each in schedulers),
            prefixes=sum(each.bytes for each in objects if type(each) is KeptPrefixes),
            memory=process.memory_info().rss,
        )


class ServedPage:
    """A running page, seen from outside."""

    def __init__(self, child: Popen[str], address: str) -> None:
        self._child = child
        self.process = psutil.Process(child.pid)
        self.address = address

    def holdings(self) -> Holdings:
        """Ask only while the page is idle: listing all objects can disturb a tuple under construction."""
        return Holdings(**self._reply_to("holdings"))

    def passes(self) -> float:
        """Seconds of processor time that went into running the models and choosing the tokens."""
        return self._reply_to("passes")

    def _reply_to(self, question: str) -> Any:
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(f"{question}\n")
        self._child.stdin.flush()
        return json.loads(self._child.stdout.readline())


@contextmanager
def serving(model: str, port: int, *flags: str, calls: int = 32) -> Iterator[ServedPage]:
    """Serve the page for as long as the context lasts.

    Args:
        calls: how many program calls may run at the same time, since all are from one address.
    """
    program = "from benchmarks.load.page import run; run()"
    command = [sys.executable, "-c", program, "--port", str(port), "--model", model, *flags]
    environment = {**os.environ, "ATTEND_CALLS": str(calls), "ATTEND_UNREAD_SECONDS": "10"}
    with Popen(command, cwd=_ROOT, stdin=PIPE, stdout=PIPE, text=True, env=environment) as child:
        try:
            assert child.stdout is not None
            line = child.stdout.readline()
            if "ready" not in line:
                raise AttendError(f"The page did not start: {line.strip() or 'see above'}.")
            yield ServedPage(child, f"http://127.0.0.1:{port}")
        finally:
            child.kill()


_ended: list[float] = []  # seconds of the schedulers' threads that have ended, as each does with its last run


def _passes() -> float:
    clocks = [
        time.pthread_getcpuclockid(thread.ident)
        for thread in threading.enumerate()
        if thread.name == "attend-scheduler" and thread.ident is not None
    ]
    return sum(_ended) + sum(map(time.clock_gettime, clocks))


def _report() -> None:
    for question in sys.stdin:
        report = _passes() if question == "passes\n" else asdict(Holdings.here())
        print(json.dumps(report), flush=True)


def run() -> None:
    """What the page's own process runs."""
    work = Scheduler._work

    def timed(self: Scheduler) -> None:
        work(self)
        _ended.append(time.thread_time())

    Scheduler._work = timed
    threading.Thread(target=_report, daemon=True).start()
    sys.argv[0] = "app.py"
    runpy.run_path(str(_ROOT / "app.py"), run_name="__main__")
