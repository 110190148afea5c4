"""The stages that forbid tokens outright because of the text so far. Where that would leave none, they do nothing.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from decoding.processors.base import Context, without


@dataclass(frozen=True, slots=True)
class NoRepeatNgram:
    """No n tokens stand twice in the same order, prompt included (Paulus, Xiong, Socher 2017; fairseq)."""

    size: int
    name: ClassVar[str] = "no_repeat_ngram_size"

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size is {self.size}, but must be at least 1")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return without(logits, [self._repeating(text) for text in context.texts()])

    def _repeating(self, text: Sequence[int]) -> list[int]:
        """The tokens that would complete n tokens that are there already."""
        if len(text) < self.size:
            return []
        windows = np.lib.stride_tricks.sliding_window_view(np.array(text), self.size)  # (places, size)
        newest = np.array(text[len(text) + 1 - self.size :], dtype=windows.dtype)  # (size - 1,)
        return windows[(windows[:, :-1] == newest).all(axis=-1), -1].tolist()


@dataclass(frozen=True, slots=True)
class BannedWords:
    """None of these sequences of tokens is ever completed (transformers' `bad_words_ids`)."""

    sequences: tuple[tuple[int, ...], ...]
    name: ClassVar[str] = "banned_words"

    def __post_init__(self) -> None:
        if not all(self.sequences):
            raise ValueError("an empty sequence cannot be banned")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return without(logits, [self._completing(text) for text in context.texts()])

    def _completing(self, text: tuple[int, ...]) -> list[int]:
        return [last for *begun, last in self.sequences if text[len(text) - len(begun) :] == tuple(begun)]


@dataclass(frozen=True, slots=True)
class NeverSaid:
    """Tokens that the model's makers rule out, such as Marian's padding (`bad_words_ids` of its generation config)."""

    tokens: frozenset[int]
    name: ClassVar[str] = "never_said"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        left = logits.numpy().copy()  # (rows, V); NumPy, since PyTorch takes five times as long over so little
        left[:, [token for token in self.tokens if token < logits.shape[-1]]] = -math.inf
        emptied = left.max(axis=-1) == -math.inf  # (rows,)
        left[emptied] = logits.numpy()[emptied]
        return torch.from_numpy(left)


@dataclass(frozen=True, slots=True)
class MinNewTokens:
    """No end token before this many tokens were generated (transformers' `min_new_tokens`)."""

    count: int
    end_tokens: frozenset[int]
    name: ClassVar[str] = "min_new_tokens"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return without(logits, [self.end_tokens if len(tokens) < self.count else () for tokens in context.tokens])
