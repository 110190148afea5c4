"""Many visitors at once: real Gradio clients that chat over HTTP with a page in a process of its own.

    python -m benchmarks.load [--model attend-chat] [--visitors 1 4 8 16 32] [--tokens 64] [--seconds 15]

Each visitor asks for one answer of that length after another, so most questions arrive while all others are being
answered. Server and clients share the machine. For each number of visitors it prints the total tokens per second, the
time to the first token and between tokens, and the server's processor time per token; then one JSON line.
"""

from __future__ import annotations

import json
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import psutil
from gradio_client import Client

from benchmarks.flags import add_counts, add_model, add_port
from benchmarks.timing import machine, table
from model.command_line import Parser, exit_code
from model.errors import AttendError

ROOT = Path(__file__).parents[1]
MESSAGES = ("Hi! How are you today?", "Tell me a story about a small dog.", "What do you like to eat?", "I am sad.")


@dataclass(slots=True)
class Experience:
    """The measurements of one visitor."""

    first: list[float] = field(default_factory=list)  # seconds from a question to the first token of its answer
    gaps: list[float] = field(default_factory=list)  # seconds between two pieces of an answer
    tokens: int = 0
    failed: list[str] = field(default_factory=list)  # the messages that came instead of an answer


@contextmanager
def serving(model: str, port: int, *flags: str) -> Iterator[psutil.Process]:
    """The page in its own process, which ends with the context."""
    command = [sys.executable, "app.py", "--port", str(port), "--model", model, *flags]
    with Popen(command, cwd=ROOT, stdout=PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            if "ready" not in line:
                raise AttendError(f"The page did not start: {line.strip() or 'see above'}.")
            yield psutil.Process(server.pid)
        finally:
            server.terminate()


def chat(client: Any, model: str, tokens: int, number: int, barrier: threading.Barrier, seconds: float) -> Experience:
    """Ask for one answer after another, once all visitors are connected."""
    settings = {"min_new_tokens": tokens, "max_new_tokens": tokens, "temperature": 0.8, "seed": number}
    seen = Experience()
    barrier.wait()
    end = time.perf_counter() + seconds
    while (asked := time.perf_counter()) < end:
        try:
            times = [asked]
            job = client.submit(MESSAGES[number % len(MESSAGES)], [], model, settings, api_name="/chat")
            for item in job:
                times.append(time.perf_counter())
                seen.tokens += len(item["tokens"]) if times[-1] < end else 0
            job.result()
            waited = [after - before for before, after in pairwise(times)]
            seen.first.append(waited[0])
            seen.gaps += waited[1:]
        except Exception as error:  # any failure is reported in the table
            seen.failed.append(str(error))
    return seen


def measure(
    server: psutil.Process, address: str, model: str, visitors: int, tokens: int, seconds: float
) -> dict[str, Any]:
    """The measurements of this many visitors."""
    with ThreadPoolExecutor(visitors) as threads:
        clients = list(threads.map(lambda _: Client(address, verbose=False), range(visitors)))
        barrier = threading.Barrier(visitors + 1)
        chatting = [
            threads.submit(chat, client, model, tokens, number, barrier, seconds)
            for number, client in enumerate(clients)
        ]
        barrier.wait()
        before = sum(server.cpu_times()[:2])
        time.sleep(seconds)
        busy = sum(server.cpu_times()[:2]) - before
        seen = [each.result() for each in chatting]
    received = sum(each.tokens for each in seen)
    first, gaps = ([value for each in seen for value in getattr(each, name)] for name in ("first", "gaps"))
    return {
        "visitors": visitors,
        "tokens_per_second": received / seconds,
        "first_median": statistics.median(first) if first else None,
        "first_p95": _p95(first),
        "gap_p95": _p95(gaps),
        "failed": sum(len(each.failed) for each in seen),
        "errors": sorted({error for each in seen for error in each.failed}),
        "cpu_per_token": busy / received if received else None,
        "memory": server.memory_info().rss,
    }


def _p95(values: Sequence[float]) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] if ordered else None


def _shown(value: float | None, digits: int, times: float = 1.0) -> str:
    return "-" if value is None else f"{value * times:.{digits}f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    return exit_code(lambda: _measure(arguments))


def _measure(arguments: Sequence[str] | None) -> None:
    parser = Parser(prog="python -m benchmarks.load", description="Let many visitors chat at once.")
    add_model(parser)
    add_counts(parser, visitors=[1, 4, 8, 16, 32], tokens=64, seconds=15)
    add_port(parser, 7863)
    options = parser.parse_args(arguments)
    results = []
    with serving(options.model, options.port) as server:
        address = f"http://127.0.0.1:{options.port}"
        measure(server, address, options.model, 1, 8, 1)  # warm-up: the first answer loads modules
        for visitors in options.visitors:
            results.append(measure(server, address, options.model, visitors, options.tokens, options.seconds))
            print(f"{visitors} visitors measured", file=sys.stderr)
    header = ("visitors", "tokens/s", "first token, s", "p95", "gap p95, s", "failed", "CPU, ms a token", "memory, MB")
    rows = [
        (
            str(each["visitors"]),
            _shown(each["tokens_per_second"], 0),
            *(_shown(each[name], 2) for name in ("first_median", "first_p95", "gap_p95")),
            str(each["failed"]),
            _shown(each["cpu_per_token"], 1, 1000),
            _shown(each["memory"], 0, 1e-6),
        )
        for each in results
    ]
    print(table([header, *rows]))
    print(json.dumps({"model": options.model, "tokens": options.tokens, "results": results, "machine": machine()}))


if __name__ == "__main__":
    sys.exit(main())
