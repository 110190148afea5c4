"""Makes caches of transformers immutable: selecting and joining rows gives new caches and leaves the old ones.

Shapes: R rows, K keys (all tokens so far), G key/value heads, D head width.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor
from torch.nn import functional
from transformers.cache_utils import (
    DummyLayer,
    DynamicIndexedLayer,
    DynamicLayer,
    DynamicSlidingWindowLayer,
    LinearAttentionAndFullAttentionLayer,
    LinearAttentionAndSlidingWindowAttentionLayer,
    LinearAttentionLayer,
)

# The kinds of layers that `opened` can protect from changes and whose rows `selected` can choose.
BRANCHING = {
    DummyLayer,
    DynamicIndexedLayer,
    DynamicLayer,
    DynamicSlidingWindowLayer,
    LinearAttentionAndFullAttentionLayer,
    LinearAttentionAndSlidingWindowAttentionLayer,
    LinearAttentionLayer,
}
# Only these keep every column, so that rows of different lengths can be padded.
JOINING = {DynamicLayer}


@dataclass(frozen=True, slots=True)
class HuggingFaceCache:
    """An immutable cache of transformers: each pass works on a copy of the record, not of its keys and values."""

    hf_cache: Any  # a DynamicCache of transformers
    length: int  # columns, padding included
    padding: tuple[int, ...]  # for each row, on the left
    texts: tuple[tuple[int, ...], ...] | None = None  # the tokens of each row, if the model may have to read them again

    @property
    def rows(self) -> int:
        return len(self.padding)

    def opened(self) -> Any:
        return opened(self.hf_cache)

    def select(self, rows: Sequence[int]) -> Self:
        if tuple(rows) == tuple(range(self.rows)):
            return self
        padding, unused = cropped([self.padding[row] for row in rows])
        texts = None if self.texts is None else tuple(self.texts[row] for row in rows)
        return type(self)(selected(self.hf_cache, rows, unused), self.length - unused, padding, texts)

    def join(self, other: Self) -> Self:
        length = max(self.length, other.length)
        padding = [pad + length - cache.length for cache in (self, other) for pad in cache.padding]
        texts = None if self.texts is None or other.texts is None else self.texts + other.texts
        return type(self)(joined(self.hf_cache, other.hf_cache, length), length, tuple(padding), texts)

    def attention_mask(self) -> Tensor | None:
        return unpadded(self.length, self.padding)

    def extended(self, count: int) -> Self:
        """The same rows with `count` more columns, which a pass will fill."""
        return type(self)(self.hf_cache, self.length + count, self.padding)


def opened(hf_cache: Any) -> Any:
    """A cache to hand to a pass, which only replaces keys and values, but overwrites the states of a recurrence: those
    are copied."""
    cache = copy.copy(hf_cache)
    cache.layers = [copy.copy(layer) for layer in hf_cache.layers]
    for layer in cache.layers:
        for name, value in vars(layer).items():
            if isinstance(value, dict):  # the states of each recurrence, and data about them
                setattr(layer, name, {key: _cloned(state) for key, state in value.items()})
    return cache


def _cloned(state: Any) -> Any:
    return state.clone() if isinstance(state, Tensor) else state


def cropped(padding: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The padding of each row without the columns that are padding in all rows, and the number of these columns."""
    unused = min(padding, default=0)
    return tuple(pad - unused for pad in padding), unused


def selected(hf_cache: Any, rows: Sequence[int], unused: int = 0) -> Any:
    """These rows of a cache of transformers without its first `unused` columns, in a new one."""
    cache = opened(hf_cache)
    for layer in cache.layers:
        if unused:
            layer.keys, layer.values = (part[:, :, unused:] for part in (layer.keys, layer.values))  # (R, G, K, D)
        layer.reorder_cache(torch.tensor(rows, dtype=torch.long))
    return cache


def joined(first: Any, second: Any, length: int, *, on_the_right: bool = False) -> Any:
    """The rows of two caches of transformers in a new one, all padded to so many columns, on the left by default."""
    cache = opened(second)
    for layer, before in zip(cache.layers, first.layers, strict=True):
        pairs = (before.keys, layer.keys), (before.values, layer.values)
        layer.keys, layer.values = (  # (R, G, K, D)
            torch.cat([_padded(part, length, on_the_right=on_the_right) for part in pair]) for pair in pairs
        )
    return cache


def unpadded(length: int, padding: Sequence[int]) -> Tensor | None:
    """A mask of so many columns (R, K), 0 for each row's padding; None if no row has any."""
    if not any(padding):
        return None
    return (torch.arange(length)[None, :] >= torch.tensor(padding)[:, None]).long()


def _padded(columns: Tensor, length: int, *, on_the_right: bool) -> Tensor:
    missing = length - columns.shape[2]
    return functional.pad(columns, (0, 0, 0, missing) if on_the_right else (0, 0, missing, 0))  # (R, G, length, D)
