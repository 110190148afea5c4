"""The mean of a run's last weights, which is better than any of them (Vaswani et al., 2017, section 6.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Average:
    """Keeps copies of a model's last weights, and lends the model their mean."""

    def __init__(self, model: nn.Module, count: int) -> None:
        """
        Args:
            count: how many copies to keep; 1 keeps none, and then the model's own weights are used.
        """
        self._model, self._count = model, count
        self.kept: list[Mapping[str, Tensor]] = []  # the oldest first

    def take(self) -> None:
        """Keep a copy of the weights as they are now."""
        if self._count == 1:
            return
        copy = {name: tensor.detach().clone() for name, tensor in self._model.state_dict().items()}
        self.kept = [*self.kept, copy][-self._count :]

    @contextmanager
    def weights(self) -> Iterator[None]:
        """Inside, the model has the mean of the kept weights, if there are any; afterwards it has its own again."""
        if not self.kept:
            yield
            return
        own = {name: tensor.detach().clone() for name, tensor in self._model.state_dict().items()}
        mean = {name: torch.stack([copy[name] for copy in self.kept]).mean(dim=0) for name in own}
        self._model.load_state_dict(mean)
        try:
            yield
        finally:
            self._model.load_state_dict(own)
