"""Plain loops over arrays, compiled to machine code by numba; where it is not installed, callers keep to PyTorch.

What is compiled is kept on the disk, so that only the first start on a machine waits for it: in `__pycache__` beside
the source or, where that cannot be written, in the user's cache directory. numba sees when a function's own file
changes, but not when a function of another file does that was compiled into it, so each state of a folder has a
directory of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from typing import Any, NoReturn, TypeVar

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

AVAILABLE = find_spec("numba") is not None

# Sums may be taken in any order, so that sixteen numbers are added at once; NaN and infinity stay what they are.
_REORDERED = frozenset({"reassoc", "contract", "nsz", "arcp"})


def compiled(function: FunctionT) -> FunctionT:
    """Compile a function when it is first called with such types; it runs without holding Python's lock."""
    if not AVAILABLE:
        return function
    from numba import njit
    from numba.core import config

    config.__dict__["CACHE_DIR"] = str(_cache_directory(Path(function.__code__.co_filename).parent))
    dispatcher: Any = njit(cache=True, nogil=True, error_model="numpy", fastmath=set(_REORDERED))(function)
    return dispatcher


@contextmanager
def announced() -> Iterator[None]:
    """Show on stderr how many functions have been compiled, as soon as one is: what the disk has is only read."""
    if not AVAILABLE:
        yield
        return
    from numba.core import event
    from tqdm import tqdm

    class Announcement(event.Listener):
        bar: tqdm[NoReturn] | None = None

        def on_start(self, event: object) -> None:
            if self.bar is None:  # how many there will be is known at the end: each calls others, and numba's own
                description = "Compiling for this processor, which takes about 20 seconds, once"
                form = "{desc}: {n} functions, {elapsed}"
                self.bar = tqdm(desc=description, bar_format=form, file=sys.stderr)

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
def _cache_directory(folder: Path) -> Path:
    """Where the compiled functions of a folder are kept; what was compiled of its earlier states is removed."""
    sources = b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))
    name = f"{folder.name}-{sha256(sources).hexdigest()[:16]}"
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for parent in (folder / "__pycache__", user_cache / "attend"):
        try:
            (parent / name).mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(parent / name, os.W_OK):
            for outdated in parent.glob(f"{folder.name}-*"):
                if outdated.name != name:
                    rmtree(outdated, ignore_errors=True)
            return parent / name
    return folder / "__pycache__" / name
