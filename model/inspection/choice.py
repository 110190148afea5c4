"""The choice that is explained: one token, alone or against a rival.

Shapes: R rows, V vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from model.errors import AttendError


class Choice(NamedTuple):
    """The token after a text, and the one that it is compared with, if any."""

    chosen: int
    rival: int | None = None

    def check(self, vocabulary_size: int) -> None:
        """`AttendError` for tokens that the model doesn't have."""
        for token in (self.chosen, self.rival):
            if token is not None and not 0 <= token < vocabulary_size:
                raise AttendError(f"There is no token {token}: the model has tokens 0 to {vocabulary_size - 1}.")

    def of(self, values: Tensor) -> Tensor:
        """The chosen token's values, minus the rival's if there is one: (..., V) to (...)."""
        self.check(values.shape[-1])
        return values[..., self.chosen] - (0.0 if self.rival is None else values[..., self.rival])

    def log_probability(self, logits: Tensor) -> Tensor:
        """The log-probability of the chosen token, minus the rival's if there is one: (R, V) to (R,) on the CPU."""
        return self.of(logits.log_softmax(dim=-1)).cpu()
