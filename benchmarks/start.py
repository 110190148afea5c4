"""Times the start: from `python app.py` to a page that takes a message, and what that time consists of.

    python -m benchmarks.start [--model attend-chat] [--starts 5] [--port 7862]

A first start, which is not measured, compiles what is not yet cached. The browser is already running. The fastest start
counts, since other work on the machine can only add time.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO
from urllib.request import urlopen

from benchmarks.flags import add_counts, add_model, add_port
from benchmarks.page import ROOT, check_free, chromium, open_page
from benchmarks.timing import machine, table
from model.command_line import Parser, command
from model.errors import AttendError
from model.names import locate

AIM = 4.0  # seconds until a message can be typed
ANSWERS, USABLE, PROCESSOR = "the page answers", "a message can be typed", "processor time, all of it"
# Each counts with everything that it imports; what two of them need counts for the first.
LIBRARIES: tuple[str, ...] = ("torch", "numba", "gradio")
_IMPORT = re.compile(r"import time: +(\d+) \| +\d+ \|( +)(\S+)")


@contextmanager
def started(model: str, port: int, *flags: str) -> Iterator[IO[str]]:
    """Run `python app.py` with these flags of Python and wait until its page answers; yields its stderr."""
    check_free(port)
    command = [sys.executable, *flags, "app.py", "--model", model, "--port", str(port)]
    with (
        TemporaryFile("w+") as errors,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=errors) as process,
    ):
        try:
            while not _answers(port) and process.poll() is None:
                time.sleep(0.02)
            errors.seek(0)
            if process.poll() is not None:
                raise AttendError(f"python app.py ended: {errors.read().strip()}")
            yield errors
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/") as answer:
            return bool(answer.read())
    except OSError:  # also where the connection breaks off
        return False


def import_seconds(report: str) -> dict[str, float]:
    """Import seconds of each of `LIBRARIES` and of everything else, from the output of `python -X importtime`.

    A module follows those that it imports, which are indented further.
    """
    seconds = dict.fromkeys((*LIBRARIES, "other imports"), 0.0)
    importers: list[tuple[int, str]] = []  # indentation and part, the outermost first
    for microseconds, indentation, module in reversed(_IMPORT.findall(report)):
        while importers and importers[-1][0] >= len(indentation):
            importers.pop()
        part = importers[-1][1] if importers else "other imports"
        library = module.partition(".")[0]
        if part not in LIBRARIES and library in LIBRARIES:
            part = library
        importers.append((len(indentation), part))
        seconds[part] += int(microseconds) / 1e6
    return seconds


def measure(model: str, port: int, starts: int) -> tuple[dict[str, float], dict[str, float]]:
    """The fastest of several starts, and the parts of the fastest of as many more, which report their imports."""
    rounds: list[dict[str, float]] = []
    reported: list[dict[str, float]] = []
    with chromium() as browser:
        with started(model, port):
            pass
        for _ in range(starts):
            used, begun = _processor_seconds(), time.perf_counter()
            with started(model, port):
                answers = time.perf_counter() - begun
                open_page(browser, port).close()
                usable = time.perf_counter() - begun
            rounds.append({ANSWERS: answers, USABLE: usable, PROCESSOR: _processor_seconds() - used})
            begun = time.perf_counter()
            with started(model, port, "-X", "importtime") as errors:
                answers = time.perf_counter() - begun
                imports = import_seconds(errors.read())
            reported.append({**imports, "model, page, server": answers - sum(imports.values())})
    least = {name: min(each[name] for each in rounds) for name in rounds[0]}
    return least, min(reported, key=lambda parts: sum(parts.values()))


def _processor_seconds() -> float:
    """The processor seconds of all programs that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.start", description="Time Attend's start, up to a usable page.")
    add_model(parser)
    add_port(parser, 7862)
    add_counts(parser, starts=5)
    options = parser.parse_args(arguments)
    locate(options.model)  # refuse a mistyped name here, since the page would never start

    least, parts = measure(options.model, options.port, options.starts)
    rows = [["", "seconds", "aim"]]
    rows += [[name, f"{seconds:.2f}", f"< {AIM:g}" if name == USABLE else ""] for name, seconds in least.items()]
    rows += [["of a start that reports its imports:", "", ""]]
    rows += [[f"  {name}", f"{seconds:.2f}", ""] for name, seconds in parts.items()]
    print(f"{options.model} in Chromium, the least of {options.starts} starts")
    print(table(rows))
    seconds, parts = ({name: round(value, 2) for name, value in each.items()} for each in (least, parts))
    figures = {"benchmark": "start", "model": options.model, "starts": options.starts}
    print(json.dumps({**figures, "seconds": seconds, "parts": parts, **machine()}))


if __name__ == "__main__":
    sys.exit(main())
