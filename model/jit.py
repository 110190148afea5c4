"""Plain loops over arrays, compiled to machine code by numba.

What is compiled is kept on the disk beside the source or, where that cannot be written, in the user's cache directory,
so that only the first start on a machine waits for it. Where numba is not installed, callers keep to PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

AVAILABLE = find_spec("numba") is not None

# Sums may be taken in any order, so that eight or sixteen numbers are added at once; NaN and infinity stay what they are.
_REORDERED = frozenset({"reassoc", "contract", "nsz", "arcp"})


def compiled(function: FunctionT) -> FunctionT:
    """Compile a function when it is first called; it runs without holding Python's lock."""
    if not AVAILABLE:
        return function
    import numba

    return numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=set(_REORDERED))(function)
