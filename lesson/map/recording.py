"""What single modules read and write during a pass, recorded by hooks on the thread that set them alone."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from torch import Tensor, nn


class Call(NamedTuple):
    """One call of a module: its first input, and its first output."""

    read: Tensor | None
    written: Tensor


@contextmanager
def recorded(modules: Iterable[nn.Module]) -> Iterator[Mapping[nn.Module, list[Call]]]:
    """The calls of these modules while the context is open."""
    calls: dict[nn.Module, list[Call]] = {module: [] for module in modules}
    owner = threading.get_ident()

    def hook(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if threading.get_ident() == owner:
            read = next((one for one in inputs if isinstance(one, Tensor)), None)
            calls[module].append(Call(read, output if isinstance(output, Tensor) else output[0]))

    handles = [module.register_forward_hook(hook) for module in calls]
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()
