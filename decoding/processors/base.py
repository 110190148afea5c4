"""What a processor is, what it may look at, and how a chain of them runs. Knows none of them by name.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Context:
    """What a processor may look at besides the logits."""

    prompt: tuple[int, ...]
    tokens: tuple[tuple[int, ...], ...]  # generated so far, one tuple a row

    def texts(self) -> list[tuple[int, ...]]:
        """Each row's whole text, prompt and all."""
        return [self.prompt + tokens for tokens in self.tokens]


class Processor(Protocol):
    """One stage of the chain. It never changes its input."""

    name: ClassVar[str]  # what tables, files and the `order` setting call this stage

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        """(rows, V) float32 on the CPU -> the same shape."""
        ...


def run_chain(processors: Sequence[Processor], logits: Tensor, context: Context) -> tuple[Tensor, ...]:
    """The logits after every stage, the untouched ones first; each is (rows, V)."""
    stages = [logits]
    for processor in processors:
        stages.append(processor(stages[-1], context))
    return tuple(stages)


def without(logits: Tensor, unwanted: Iterable[Iterable[int]]) -> Tensor:
    """Ban tokens, one group of ids a row; a row that would lose its last token keeps them all."""
    banned = torch.zeros_like(logits, dtype=torch.bool)  # (rows, V)
    for row, ids in enumerate(unwanted):
        banned[row, [token for token in ids if token < logits.shape[-1]]] = True
    left = logits.masked_fill(banned, -math.inf)
    return torch.where(left.amax(dim=-1, keepdim=True) > -math.inf, left, logits)
