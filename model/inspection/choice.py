"""The choice that is explained: one token, alone or against a rival; and how much it weighs after many texts.

Shapes: R rows, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from model.errors import AttendError
from model.inspection.inspector import Inspector, Texts
from model.inspection.intervention import Intervention


class Choice(NamedTuple):
    """The token after a text, and the one that it is compared with, if any."""

    chosen: int
    rival: int | None = None

    def check(self, vocabulary_size: int) -> None:
        """Raise `AttendError` for tokens that the model doesn't have."""
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

    def weigh(
        self,
        inspector: Inspector,
        rows: Texts,
        *,
        sources: Texts = (),
        interventions: Sequence[Sequence[Intervention]] = ((),),
    ) -> Iterator[tuple[int, Tensor]]:
        """Yield, after each pass over some of the rows, how many are done, and the choice's log-probability after each
        row, (R,), nan for those to come. Arguments as in `Inspector.batches`."""
        values, done = torch.full((len(rows),), torch.nan), 0
        for logits in inspector.batches(rows, sources=sources, interventions=interventions):
            values[done : done + len(logits)] = self.log_probability(logits)
            done += len(logits)
            yield done, values.clone()
