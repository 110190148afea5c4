"""The progress of a download: a plain callback, a terminal bar that implements it, and human-readable sizes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from tqdm import tqdm

Progress = Callable[[int, int], None]  # bytes downloaded so far and in total, for all files


def silent(done: int, total: int) -> None:
    """Ignores the progress."""


@contextmanager
def terminal_bar() -> Iterator[Progress]:
    """A bar on stderr, which appears with the first bytes."""
    bar: tqdm[NoReturn] | None = None

    def show(done: int, total: int) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(initial=done, total=total, desc="Downloading", unit="B", unit_scale=True, file=sys.stderr)
        bar.update(done - bar.n)
        if done == total:
            bar.close()  # the loading that comes next is not part of the download's time

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()


def in_words(size: int) -> str:
    """A human-readable size: 270 MB, 1.1 GB."""
    if size < 999_500:
        return f"{size / 1e3:,.0f} kB"
    return f"{size / 1e6:,.0f} MB" if size < 999_500_000 else f"{size / 1e9:,.1f} GB"
