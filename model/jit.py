"""Plain loops over arrays, compiled to machine code by numba; where it is not installed, callers keep to PyTorch.

What is compiled is kept on the disk, so that only the first start on a machine waits for it: in `__pycache__` beside
the source or, where that cannot be written, in the user's cache directory. numba sees when a function's own file
changes, but not when a function of another file does that was compiled into it, so each state of a folder has a
directory of its own.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from typing import Any, TypeVar

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

AVAILABLE = find_spec("numba") is not None

# Sums may be taken in any order, so that sixteen numbers are added at once; NaN and infinity stay what they are.
_REORDERED = frozenset({"reassoc", "contract", "nsz", "arcp"})

_OUTDATED = 7 * 86_400.0  # seconds; a server that still runs may add to a directory of its own state


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
    """Say on stderr that something is being compiled, as soon as something is: what the disk has is only read."""
    if not AVAILABLE:
        yield
        return
    from numba.core import event

    class Announcement(event.Listener):
        said = False

        def on_start(self, event: object) -> None:
            if not self.said:
                self.said = True
                print("Compiling for this processor, which takes about 20 seconds, once …", file=sys.stderr, flush=True)

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener("numba:compile", Announcement()):
        yield


@cache
def _cache_directory(folder: Path) -> Path:
    """Where the compiled functions of a folder are kept; those of earlier states go when no process needs them."""
    sources = b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))
    name = f"{folder.name}-{sha256(sources).hexdigest()[:16]}"
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for parent in (folder / "__pycache__", user_cache / "attend"):
        try:
            (parent / name).mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(parent / name, os.W_OK):
            for other in parent.glob(f"{folder.name}-*"):
                if other.name != name and time.time() - other.stat().st_mtime > _OUTDATED:
                    rmtree(other, ignore_errors=True)
            return parent / name
    return folder / "__pycache__" / name
