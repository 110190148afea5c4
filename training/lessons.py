"""What a training run learns from, whatever its task: batches in order, their loss, and a figure on unseen text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

from model.transformer.decoder import Transformer

RowT = TypeVar("RowT")


class Lessons(Protocol, Generic[RowT]):
    """Everything that differs between tasks."""

    figure: str  # what `measure` measures, in words
    notes: Sequence[str]  # what a person should know about the data

    @property
    def batches(self) -> Sequence[Sequence[RowT]]:
        """Every step's rows, in order, over all processes."""
        ...

    def learned(self, rows: Sequence[RowT]) -> int:
        """How many tokens of these rows are predicted and learned."""
        ...

    def loss(self, model: nn.Module, rows: Sequence[RowT], device: torch.device) -> Tensor:
        """Their cost in nats, summed."""
        ...

    def measure(self, model: Transformer, *, whole: bool) -> float:
        """The figure on unseen text: on a little of it, or on the whole part that was set aside for validation."""
        ...

    def fingerprint(self) -> str:
        """Tells a run's lessons from any others: another recipe, other data or another vocabulary give another one."""
        ...
