"""What all benchmarks share: prompts, interleaved rounds, ratios, percentiles, the table and the machine."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from model.lazy import torch


def random_tokens(vocabulary_size: int, *shape: int) -> list[Any]:
    """The same random prompt every time, without control tokens; nested lists for several dimensions."""
    return torch.randint(5, vocabulary_size, shape, generator=torch.Generator().manual_seed(0)).tolist()


def interleave(contenders: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every contender in every round, after one warm-up round.

    Every round runs all of them, in rotating order, so a machine that is slow for a while is slow for all of them.
    """
    names = list(contenders)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds + 1):
        start = number % len(names)
        for name in names[start:] + names[:start]:
            begun = time.perf_counter()
            contenders[name]()
            if number:
                seconds[name].append(time.perf_counter() - begun)
    return seconds


def ratio(slow: Sequence[float], fast: Sequence[float]) -> float:
    """How many times as long `slow` took as `fast`: the median of the ratios of all rounds."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))


def percentile_95(values: Sequence[float]) -> float | None:
    """The value that 95 % of the values don't exceed; None without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] if ordered else None


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of equal length as aligned text: the first column to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def machine() -> dict[str, object]:
    """A description of this machine, for the JSON line."""
    return {
        "processor": _processor(),
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def print_times(results: Mapping[str, Sequence[float]], aims: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Print the median and the longest of each measurement's times (ms), beside its aim; returns them as `median_ms`
    and `worst_ms`, for the last line."""
    rows = [["", "median ms", "worst ms", "aim"]]
    for measurement, times in results.items():
        aim = f"< {aims[measurement]:,.0f}" if measurement in aims else ""
        rows.append([measurement, f"{statistics.median(times):,.0f}", f"{max(times):,.0f}", aim])
    print(table(rows))
    medians = {measurement: round(statistics.median(times), 1) for measurement, times in results.items()}
    worst = {measurement: round(max(times), 1) for measurement, times in results.items()}
    return {"median_ms": medians, "worst_ms": worst}
