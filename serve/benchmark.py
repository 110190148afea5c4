"""Replicas of a model on Ray Serve, beside the same model in one process without Ray.

    python -m serve.benchmark [--model attend-chat] [--replicas 1 2 4] [--visitors 1 16 64] [--tokens 64]

Two Ray nodes on this machine run the replicas. Another process stands for the page: it has one thread for each visitor,
which asks for one traced answer after another. The table shows the tokens a second of all visitors together, the time
to the first token of an answer, and the processor time of a token in the asking process and in the replicas; 0 replicas
means without Ray. The last line is JSON.
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
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from benchmarks.flags import add_counts, add_model
from benchmarks.timing import machine, percentile_95, table
from model.command_line import Parser, command

if TYPE_CHECKING:
    from ui.runs.models import Models

PROMPT = "Once upon a time there was a small dog."


@contextmanager
def models_on(model: str, replicas: int) -> Iterator[Models]:
    """The model in this many replicas or, for 0, in this process."""
    from model import catalog
    from ui.runs.models import Models

    if not replicas:
        loaded = catalog.load(model)
        yield Models((loaded.name,), lambda name, progress: loaded)
        return
    from serve.local_nodes import local_nodes

    with local_nodes() as address:
        from serve.deploy import connected, deployed
        from serve.page import models_of
        from serve.settings import ClusterSettings, ModelDeployment

        settings = ClusterSettings((ModelDeployment(model, min_replicas=replicas, max_replicas=replicas),))
        with connected(address), deployed(settings) as handles:
            yield models_of(settings, handles)


def ask(
    models: Models, number: int, tokens: int, barrier: threading.Barrier, seconds: float
) -> tuple[int, list[float]]:
    """Ask for one answer after another, together with all other visitors.

    Returns:
        The number of tokens that came in time, and the seconds from each question to its first token.
    """
    from decoding.call import DecodeCall
    from decoding.settings import DecodingSettings

    settings = DecodingSettings.from_dict(
        {"temperature": 0.8, "seed": number, "min_new_tokens": tokens, "max_new_tokens": tokens}
    )
    prompt, received, first = models.first.prompt(PROMPT), 0, []
    call = DecodeCall(models.default, prompt, (settings,), visitor=f"visitor {number}")
    barrier.wait()
    end = time.perf_counter() + seconds
    while (begun := time.perf_counter()) < end:
        waiting = True
        for result in models.decode(call):
            now = time.perf_counter()
            if result is not None:
                if waiting:
                    first.append(now - begun)
                    waiting = False
                received += now < end
    return received, first


def measure(models: Models, visitors: int, tokens: int, seconds: float) -> dict[str, Any]:
    """The speed for this many visitors, and what it costs."""
    import psutil

    page = psutil.Process()
    replicas = [each for each in psutil.process_iter(["cmdline"]) if _is_replica(each)]

    def busy() -> tuple[float, float]:
        return sum(page.cpu_times()[:2]), sum(sum(each.cpu_times()[:2]) for each in replicas)

    barrier = threading.Barrier(visitors + 1)
    with ThreadPoolExecutor(visitors) as threads:
        answers = [threads.submit(ask, models, number, tokens, barrier, seconds) for number in range(visitors)]
        barrier.wait()
        before = busy()
        time.sleep(seconds)
        page_busy, replicas_busy = (after - earlier for after, earlier in zip(busy(), before, strict=True))
        results = [each.result() for each in answers]
    received, first = sum(count for count, _ in results), [each for _, times in results for each in times]
    return {
        "replicas": len(replicas),
        "visitors": visitors,
        "tokens_per_second": received / seconds,
        "first_median": statistics.median(first),
        "first_p95": percentile_95(first),
        "page_cpu_per_token": page_busy / received,
        "replica_cpu_per_token": replicas_busy / received,
        "replica_memory": max((each.memory_info().rss for each in replicas), default=None),
    }


def measure_all(
    model: str, replicas: int, visitors: Sequence[int], tokens: int, seconds: float
) -> list[dict[str, Any]]:
    """`measure` for each number of visitors."""
    results = []
    with models_on(model, replicas) as models:
        measure(models, 1, 8, 1)  # warm-up: the first answer loads modules
        for count in visitors:
            results.append(measure(models, count, tokens, seconds))
            speed = results[-1]["tokens_per_second"]
            print(f"{replicas} replicas, {count} visitors: {speed:.0f} tokens/s", file=sys.stderr)
    return results


def _is_replica(process: Any) -> bool:
    return any("ray::ServeReplica" in part for part in process.info["cmdline"] or ())


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m serve.benchmark", description="Time replicas of a model on Ray Serve.")
    add_model(parser)
    add_counts(parser, replicas=[1, 2, 4], visitors=[1, 16, 64], tokens=64, seconds=12)
    options = parser.parse_args(arguments)
    results = []
    for replicas in (0, *options.replicas):
        with get_context("spawn").Pool(1) as processes:  # a process can only start one cluster
            scenario = options.model, replicas, options.visitors, options.tokens, options.seconds
            results += processes.apply(measure_all, scenario)
    header = ("replicas", "visitors", "tokens/s", "first token, s", "p95", "page's CPU, ms a token", "replicas'")
    rows = [
        (
            str(each["replicas"]),
            str(each["visitors"]),
            f"{each['tokens_per_second']:.0f}",
            f"{each['first_median']:.2f}",
            f"{each['first_p95']:.2f}",
            f"{1000 * each['page_cpu_per_token']:.2f}",
            f"{1000 * each['replica_cpu_per_token']:.2f}",
        )
        for each in results
    ]
    print(table([header, *rows]))
    print(json.dumps({"model": options.model, "tokens": options.tokens, "results": results, "machine": machine()}))


if __name__ == "__main__":
    sys.exit(main())
