"""torch, imported when it is first used: that takes seconds, and settings and names can be checked without it.

So the terminal shows its help, and refuses what cannot be, at once.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
else:

    class _Lazy(ModuleType):
        """A module that is imported on first use."""

        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module(self.__name__), name)
            setattr(self, name, value)  # from here on it is found without this method
            return value

    torch = _Lazy("torch")
