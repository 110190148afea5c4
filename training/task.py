"""What a training run needs from its task: batches in order, their loss, and a metric on unseen text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

from model.transformer.decoder import Transformer

RowT = TypeVar("RowT")


class TrainingTask(Protocol, Generic[RowT]):
    """Everything that differs between tasks."""

    @property
    def metric(self) -> str:
        """The name of what `measure` returns."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Sentences about the data for the person who trains."""
        ...

    @property
    def batches(self) -> Sequence[Sequence[RowT]]:
        """The rows of every step, in order, for all processes together."""
        ...

    def target_tokens(self, rows: Sequence[RowT]) -> int:
        """How many tokens of these rows count in the loss."""
        ...

    def loss(self, model: nn.Module, rows: Sequence[RowT], device: torch.device) -> Tensor:
        """The summed cross-entropy of the rows' target tokens, in nats."""
        ...

    def measure(self, model: Transformer, *, whole: bool) -> float:
        """The metric on a sample of the validation data or, with `whole`, on all of it."""
        ...

    def fingerprint(self) -> str:
        """A hash of what is learned, which changes with the mixture, the data and the vocabulary."""
        ...
