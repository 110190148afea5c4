"""The page in a process of its own, which reports on demand what it holds.

The process runs `python app.py` with the same arguments, and writes a line of JSON for each line that it reads.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Self

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
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write("\n")
        self._child.stdin.flush()
        return Holdings(**json.loads(self._child.stdout.readline()))


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


def _report() -> None:
    for _ in sys.stdin:
        print(json.dumps(asdict(Holdings.here())), flush=True)


def run() -> None:
    """What the page's own process runs."""
    threading.Thread(target=_report, daemon=True).start()
    sys.argv[0] = "app.py"
    runpy.run_path(str(_ROOT / "app.py"), run_name="__main__")
