"""Modules that are imported when they are first used, torch among them: that takes seconds, and settings and names can
be checked without it.

So the terminal shows its help, and refuses what cannot be, at once.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any


class LazyModule(ModuleType):
    """A module that is imported on first use."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)  # from here on it is found without this method
        return value


if TYPE_CHECKING:
    import torch as torch
else:
    torch = LazyModule("torch")
