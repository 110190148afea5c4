"""Plain loops over arrays, compiled to machine code by numba.

Compiled functions are cached on disk, so that only the first start on a machine has to compile: in `__pycache__` beside
the source or, if that is not writable, in the user's cache directory. numba notices changes to a function's own file,
but not to another file whose functions were inlined, so each version of a folder has its own directory. Without numba
the functions run uncompiled: correctly, but slowly.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any, NoReturn, TypeVar

try:
    import numba as _numba  # noqa: F401
except ImportError:  # not installed, or made for another NumPy
    AVAILABLE = False
else:
    AVAILABLE = True

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

# Sums may be taken in any order, so that sixteen numbers are added at once; NaN and infinity stay what they are.
_REORDERED = frozenset({"reassoc", "contract", "nsz", "arcp"})

_OUTDATED = 7 * 86_400.0  # seconds; a running server may still add to the directory of its own version


def compiled(function: FunctionT) -> FunctionT:
    """Compile a function at its first call with these types; it runs without the GIL."""
    if not AVAILABLE:
        return function
    from numba import njit
    from numba.core import config

    directory = _cache_directory(Path(function.__code__.co_filename).parent)
    settings, before = config.__dict__, config.__dict__["CACHE_DIR"]
    settings["CACHE_DIR"] = str(directory or before)
    try:
        dispatcher: Any = njit(cache=directory is not None, nogil=True, error_model="numpy", fastmath=set(_REORDERED))(
            function
        )
    finally:
        settings["CACHE_DIR"] = before  # other packages' functions are not ours to keep
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
            if self.bar is None:  # how many there will be is known at the end: each calls others, and numba's own
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


@cache
def _cache_directory(folder: Path) -> Path | None:
    """Where the compiled functions of a folder are kept, None where nothing can be written; those of earlier states go
    when no process needs them."""
    state = sha256(Path(__file__).read_bytes())
    for path in sorted(folder.glob("*.py")):
        state.update(str(path).encode() + path.read_bytes())
    name = f"{folder.name}-{state.hexdigest()[:16]}"
    for find_parent in (lambda: folder / "__pycache__", _user_cache):
        try:
            parent = find_parent()
            (parent / name).mkdir(parents=True, exist_ok=True)
        except (OSError, RuntimeError):  # the latter for a user without a home directory
            continue
        if os.access(parent / name, os.W_OK):
            for other in parent.glob(f"{folder.name}-*"):
                if other.name != name and time.time() - other.stat().st_mtime > _OUTDATED:
                    rmtree(other, ignore_errors=True)
            return parent / name
    return None


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attend"
