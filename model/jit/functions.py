"""Plain loops over arrays, compiled to machine code by numba.

`model.jit.cache` keeps them on the disk. Without numba the functions run uncompiled: correctly, but slowly.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

try:
    import numba as _numba  # noqa: F401
except ImportError:  # it is not installed, or was built for another NumPy
    AVAILABLE = False
else:
    AVAILABLE = True

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

# Sums may be computed in any order, so that sixteen numbers are added at once; NaN and infinity stay as they are.
_REORDERED = frozenset({"reassoc", "contract", "nsz", "arcp"})


def compiled(function: FunctionT) -> FunctionT:
    """Compile a function at its first call with these types; it runs without the GIL."""
    if not AVAILABLE:
        return function
    from numba import njit

    from model.jit.cache import keep

    dispatcher: Any = njit(nogil=True, error_model="numpy", fastmath=set(_REORDERED))(function)
    keep(dispatcher)
    return dispatcher


@contextmanager
def announced() -> Iterator[None]:
    """Show on stderr how many functions have been compiled, unless all are read from disk."""
    if not AVAILABLE:
        yield
        return
    from numba.core import event
    from tqdm import tqdm

    class Announcement(event.Listener):
        bar: tqdm[NoReturn] | None = None

        def on_start(self, event: object) -> None:
            if self.bar is None:
                # The total is known only at the end, since each function calls others, including numba's own.
                description = "Compiling for this processor (once; about 20 seconds on a quiet machine)"
                form = "{desc}: {n} functions, {elapsed}"
                interval = 0.1 if sys.stderr.isatty() else 10.0  # seconds; a log needs no more than a few lines
                self.bar = tqdm(desc=description, bar_format=form, file=sys.stderr, mininterval=interval)

        def on_end(self, event: object) -> None:
            if self.bar is not None:
                self.bar.update()

    announcement = Announcement()
    try:
        with event.install_listener("numba:compile", announcement):
            yield
    finally:
        if announcement.bar is not None:
            announcement.bar.close()
