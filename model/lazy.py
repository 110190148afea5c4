"""Modules that are imported on first use.

Importing torch takes seconds. Without it, the terminal can show its help and refuse wrong settings or names at once.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any


class LazyModule(ModuleType):
    """A module that is imported on first use."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)  # from now on it is found without this method
        return value


if TYPE_CHECKING:
    import torch as torch
else:
    torch = LazyModule("torch")
