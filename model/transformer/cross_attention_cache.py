"""The keys and values of cross-attention, computed once from the encoder's output and the same in every pass.

Rows that decode the same source, such as beams, share it. Sources of different lengths are padded on the right, and the
padding is masked:

    source 0    a  b  c  d  e     rows 0, 1, 2, 3
    source 1    x  y  z  .  .     rows 4, 5

Shapes: L layers, R rows, U sources, G key/value heads, S tokens of the longest source, D head width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import functional


class KeysValues(NamedTuple):
    """The keys and values of one layer, (heads, rows, columns, head width) each."""

    keys: Tensor
    values: Tensor


class CrossAttentionCache:
    """The keys and values of the sources for every decoder layer; never changed."""

    __slots__ = ("_row_columns", "attention_mask", "columns", "lengths", "source_of_row")

    def __init__(self, columns: Tensor, lengths: Sequence[int], source_of_row: Sequence[int]) -> None:
        """
        Args:
            columns: keys, then values, (L, 2, G, U, S, D).
            lengths: the lengths of the sources, without padding.
            source_of_row: which source each row decodes.
        """
        self.columns, self.lengths, self.source_of_row = columns, tuple(lengths), tuple(source_of_row)
        self._row_columns: Tensor | None = None  # (L, 2, G, R, S, D)
        self.attention_mask = self._mask()  # boolean, (R, 1, 1, S); None: nothing is padded

    @property
    def rows(self) -> int:
        return len(self.source_of_row)

    def keys_values(self, layer: int) -> KeysValues:
        """Keys and values for each row, (G, R, S, D); if there is only one source, (G, 1, S, D) for all rows."""
        if len(self.lengths) == 1:
            return KeysValues(*self.columns[layer])
        if self._row_columns is None:  # each source once per row; copied once instead of in every pass
            self._row_columns = self.columns.index_select(3, self._index(self.source_of_row))
        return KeysValues(*self._row_columns[layer])

    def select(self, rows: Sequence[int]) -> Self:
        """See `Cache.select`; sources that no row decodes any more are dropped."""
        source_of_row = tuple(self.source_of_row[row] for row in rows)
        if source_of_row == self.source_of_row:
            return self
        kept = sorted(set(source_of_row))
        number = {source: new for new, source in enumerate(kept)}
        columns, lengths = self.columns, tuple(self.lengths[source] for source in kept)
        if len(kept) < len(self.lengths):
            columns = columns[..., : max(lengths), :].index_select(3, self._index(kept))
        return type(self)(columns, lengths, tuple(number[source] for source in source_of_row))

    def join(self, other: Self) -> Self:
        """The rows of both caches, those of `other` last."""
        length = max(self.columns.shape[4], other.columns.shape[4])
        columns = torch.cat([_padded(each.columns, length) for each in (self, other)], dim=3)
        after = (source + len(self.lengths) for source in other.source_of_row)
        return type(self)(columns, self.lengths + other.lengths, (*self.source_of_row, *after))

    def _index(self, sources: Sequence[int]) -> Tensor:
        return torch.tensor(sources, device=self.columns.device)

    def _mask(self) -> Tensor | None:
        longest = self.columns.shape[4]
        if min(self.lengths) == longest:
            return None
        lengths = self._index([self.lengths[source] for source in self.source_of_row])  # (R,)
        return (torch.arange(longest, device=lengths.device) < lengths[:, None])[:, None, None]  # (R, 1, 1, S)


def _padded(columns: Tensor, length: int) -> Tensor:
    """(L, 2, G, U, S, D) to (L, 2, G, U, length, D), zeros on the right."""
    return functional.pad(columns, (0, 0, 0, length - columns.shape[4]))
