"""How far a download has come: a plain callback, a bar on a terminal that follows it, and bytes as people read them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from tqdm import tqdm

Progress = Callable[[int, int], None]  # bytes that are here and bytes in all, over all files


def silent(done: int, total: int) -> None:
    """Nobody watches."""


@contextmanager
def terminal_bar() -> Iterator[Progress]:
    """A bar on stderr, drawn from the first byte that comes."""
    bar: tqdm[NoReturn] | None = None

    def show(done: int, total: int) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(initial=done, total=total, desc="Downloading", unit="B", unit_scale=True, file=sys.stderr)
        bar.update(done - bar.n)
        if done == total:
            bar.close()  # what comes now is loading, which is no part of the download's time

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()


def in_words(size: int) -> str:
    """A number of bytes as people read it: 270 MB, 1.1 GB."""
    if size < 999_500:
        return f"{size / 1e3:,.0f} kB"
    return f"{size / 1e6:,.0f} MB" if size < 999_500_000 else f"{size / 1e9:,.1f} GB"
