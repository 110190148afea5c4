"""Logits of each row's last token alone, in families that have no switch for it as well.

Shapes: R rows, T tokens of the longest row, W model width, V vocabulary.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from model.inspection.inspector import Texts
from model.transformer.inspection import last_of


@contextmanager
def last_tokens(head: nn.Module, rows: Texts) -> Iterator[None]:
    """While the context is open, a model's output layer is given only the last token of each row by this thread."""
    owner = threading.get_ident()

    def keep(_: nn.Module, inputs: tuple[Any, ...]) -> Any:
        return (last_of(inputs[0], rows), *inputs[1:]) if threading.get_ident() == owner else None

    handle = head.register_forward_pre_hook(keep)
    try:
        yield
    finally:
        handle.remove()


def last_logits(logits: Tensor, rows: Texts) -> Tensor:
    """(R, 1, V), also from a family whose output layer was passed over, (R, T, V)."""
    return logits if logits.shape[1] == 1 else last_of(logits, rows)
