"""How a page serves many visitors at once, and what they leave behind.

    python -m benchmarks.load [--model attend-chat] [--visitors 1 4 8 16 32] [--tokens 64] [--seconds 15] [--restless]
        [--protocols gradio openai] [--picture load.svg]

Every visitor asks for one answer of that many tokens after another, so that most questions arrive while all others are
being answered. Restless visitors also stop, vanish in the middle of an answer, close the page and come back. Server and
clients share the machine. The table shows, for each number of visitors, the tokens a second of all together, the times
to the first and between later tokens, and the processor time of a token in the server: all of it, and what is left
without the thread that runs the model and chooses the tokens, which is the same whatever the visitors speak. Below it
is what the page still holds after everyone has left, compared with before they came. The last line is JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.flags import add_counts, add_model, add_port
from benchmarks.load.page import Holdings, ServedPage, serving
from benchmarks.load.picture import draw
from benchmarks.load.visitors import PROTOCOLS
from benchmarks.timing import machine, percentile_95, table
from model.command_line import Parser, command
from model.errors import AttendError

_MEMORY_MARGIN = 1.1  # times the memory before
_CALM_WITHIN = 60.0  # seconds; what the page holds after that counts as left behind


def measure(
    page: ServedPage,
    model: str,
    visitors: int,
    tokens: int,
    seconds: float,
    *,
    restless: bool = False,
    protocol: str,
) -> dict[str, Any]:
    """The measurements for this many visitors."""
    with ThreadPoolExecutor(visitors) as threads:
        visitor = PROTOCOLS[protocol]
        visiting = list(threads.map(lambda number: visitor(page.address, model, tokens, number), range(visitors)))
        barrier = threading.Barrier(visitors + 1)
        staying = [threads.submit(visitor.stay, barrier, seconds, restless=restless) for visitor in visiting]
        barrier.wait()
        passes, before = page.passes(), sum(page.process.cpu_times()[:2])
        time.sleep(seconds)
        busy = sum(page.process.cpu_times()[:2]) - before
        besides = busy - (page.passes() - passes)
        results = [each.result() for each in staying]
    received = sum(each.tokens for each in results)
    first, gaps = ([value for each in results for value in getattr(each, name)] for name in ("first", "gaps"))
    return {
        "protocol": protocol,
        "visitors": visitors,
        "tokens_per_second": received / seconds,
        "first_median": statistics.median(first) if first else None,
        "first_p95": percentile_95(first),
        "gap_p95": percentile_95(gaps),
        "done": {name: sum(each.done.get(name, 0) for each in results) for name in sorted({*results[0].done})},
        "failed": sum(len(each.failed) for each in results),
        "errors": sorted({error for each in results for error in each.failed}),
        "cpu_per_token": busy / received if received else None,
        "cpu_besides_passes": besides / received if received else None,
        "memory": page.process.memory_info().rss,
    }


def left_behind(page: ServedPage, before: Holdings) -> dict[str, int]:
    """How much more a page holds than before its visitors came, once it has come to rest."""
    end = time.monotonic() + _CALM_WITHIN
    while True:
        now = page.holdings()
        calm = now.rows == now.waiting == 0 and now.threads <= before.threads and now.files <= before.files
        calm = calm and now.memory <= _MEMORY_MARGIN * before.memory  # freed memory is given back every few seconds
        if calm or time.monotonic() > end:
            return {name: value - getattr(before, name) for name, value in asdict(now).items()}
        time.sleep(1.0)


def _in_digits(value: float | None, digits: int, times: float = 1.0) -> str:
    return "-" if value is None else f"{value * times:.{digits}f}"


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.load", description="Let many visitors chat at once.")
    add_model(parser)
    add_counts(parser, visitors=[1, 4, 8, 16, 32], tokens=64, seconds=15)
    add_port(parser, 7863)
    parser.add_argument("--restless", action="store_true", help="visitors also stop, vanish and come back")
    parser.add_argument(
        "--protocols",
        nargs="+",
        choices=PROTOCOLS,
        default=["gradio"],
        help="what the visitors speak, one after the other",
    )
    parser.add_argument("--public", action="store_true", help="a page with the limits of a public one")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="also draw the figures, as SVG")
    options = parser.parse_args(arguments)
    if options.restless and "openai" in options.protocols:
        raise AttendError("Restless visitors speak gradio's protocol: leave out --restless or --protocols.")
    if options.picture and len(options.protocols) > 1:
        raise AttendError("--picture draws one protocol: choose one.")
    flags, results = ("--public",) if options.public else (), []
    with serving(options.model, options.port, *flags, calls=4 * max(options.visitors)) as page:
        for protocol in options.protocols:
            measure(page, options.model, 1, 8, 1, protocol=protocol)  # what is loaded with the first answer
        before = page.holdings()
        for visitors, protocol in product(options.visitors, options.protocols):
            kind = {"restless": options.restless, "protocol": protocol}
            results.append(measure(page, options.model, visitors, options.tokens, options.seconds, **kind))
            print(f"{visitors} visitors measured, {protocol}", file=sys.stderr)
        left = left_behind(page, before)
    header = ("visitors", "protocol", "tokens/s", "first token, s", "p95", "gap p95, s", "failed")
    header = (*header, "CPU, ms a token", "besides passes", "memory, MB")
    rows = [
        (
            str(each["visitors"]),
            each["protocol"],
            _in_digits(each["tokens_per_second"], 0),
            *(_in_digits(each[name], 2) for name in ("first_median", "first_p95", "gap_p95")),
            str(each["failed"]),
            *(_in_digits(each[name], 2, 1000) for name in ("cpu_per_token", "cpu_besides_passes")),
            _in_digits(each["memory"], 0, 1e-6),
        )
        for each in results
    ]
    print(table([header, *rows]))
    print(
        f"Left behind: {left['threads']} threads, {left['files']} files, {left['rows']} rows, {left['waiting']} runs, "
        f"{left['memory'] / 1e6:+.0f} MB of {before.memory / 1e6:.0f}"
    )
    if options.picture:
        draw(results, options.picture)
    everything = {"model": options.model, "tokens": options.tokens, "restless": options.restless, "results": results}
    print(json.dumps({**everything, "before": asdict(before), "left": left, "machine": machine()}))


if __name__ == "__main__":
    sys.exit(main())
