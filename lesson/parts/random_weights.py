"""Random weights that depend on a seed alone.

PyTorch's modules draw theirs from one generator of the whole process, from which other threads draw at the same time.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode


class DrawnFrom(TorchFunctionMode):
    """In this context, new modules draw their weights from `generator`; other threads are not affected."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self._generator = generator

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        options = kwargs or {}
        if getattr(func, "__module__", "") == nn.init.__name__ and "generator" in options:
            options = {**options, "generator": self._generator}
        return func(*args, **options)
