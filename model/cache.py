"""Keys and values of rows of different lengths, so that a pass need only look at the newest token.

Rows of one batch end in the same column. A shorter row is padded on the left:

    column      0  1  2  3  4
    row 0       a  b  c  d  e     padding 0, positions 0 1 2 3 4
    row 1       .  .  x  y  z     padding 2, positions     0 1 2

so one more token a row is one more column, and a row's position is its column less its padding.

A cache is never changed in place as far as anyone can see. Columns are written into spare room behind the used ones,
and only by the first cache that grows from there; a second branch from the same cache copies (`extend`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor

_SPARE = 64  # columns allocated ahead, so that most steps copy nothing


class _Store:
    """The tensor behind one or more caches, and how many of its columns are taken."""

    __slots__ = ("columns", "taken")

    def __init__(self, columns: Tensor, taken: int) -> None:
        self.columns = columns  # (layers, 2, rows, key/value heads, columns, head width): keys, then values
        self.taken = taken


class KeyValueCache:
    """Every layer's keys and values; see the module's picture for rows of different lengths."""

    __slots__ = ("_newest", "_store", "_used", "length", "padding")

    def __init__(self, store: _Store, length: int, padding: tuple[int, ...], *, newest: int = 0) -> None:
        self._store = store
        self.length = length  # columns in use, padding included
        self.padding = padding  # of each row, in columns
        # Each layer's keys, then its values, as views (rows, heads, columns, head width): cut once, not once a layer.
        used = store.columns[..., :length, :].flatten(0, 1)  # (layers * 2, rows, heads, columns, head width), a view
        self._used = used.unbind()
        self._newest = used[..., length - newest :, :].unbind()

    @classmethod
    def empty(cls, layers: int, heads: int, head_width: int, *, like: Tensor) -> Self:
        """One row of no tokens, on the device and in the precision of `like`."""
        columns = like.new_empty(layers, 2, 1, heads, 0, head_width)
        return cls(_Store(columns, 0), 0, (0,))

    @property
    def rows(self) -> int:
        return len(self.padding)

    def extend(self, count: int) -> Self:
        """The same rows with `count` columns more, to be filled by `write`; shares this cache's memory if it can."""
        store, length = self._store, self.length + count
        if store.taken != self.length or store.columns.shape[4] < length:
            store = _Store(_with_room(store.columns[:, :, :, :, : self.length], length + _SPARE), self.length)
        store.taken = length
        return type(self)(store, length, self.padding, newest=count)

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Fill a layer's newest columns, (rows, heads, new, head width) each; returns all of its keys and values."""
        place = 2 * layer
        self._newest[place].copy_(keys)
        self._newest[place + 1].copy_(values)
        return self._used[place], self._used[place + 1]  # (rows, heads, columns, head width)

    def select(self, rows: Sequence[int]) -> Self:
        if tuple(rows) == tuple(range(self.rows)):
            return self
        padding = tuple(self.padding[row] for row in rows)
        unused = min(padding, default=0)  # columns that are padding in every row that is left
        index = torch.tensor(rows, dtype=torch.long, device=self._store.columns.device)
        used = self._store.columns[:, :, :, :, unused : self.length]
        layers, two, _, heads, length, head_width = used.shape
        roomy = used.new_empty(layers, two, len(rows), heads, length + _SPARE, head_width)
        torch.index_select(used, 2, index, out=roomy[:, :, :, :, :length])  # straight into its place: copied once
        return type(self)(_Store(roomy, length), length, tuple(pad - unused for pad in padding))

    def join(self, other: Self) -> Self:
        length = max(self.length, other.length)
        parts, padding = [], []
        for cache in (self, other):
            missing = length - cache.length
            used = cache._store.columns[:, :, :, :, : cache.length]
            parts.append(torch.nn.functional.pad(used, (0, 0, missing, 0)))  # zeros, never attended
            padding += [pad + missing for pad in cache.padding]
        joined = torch.cat(parts, dim=2)
        return type(self)(_Store(_with_room(joined, length + _SPARE), length), length, tuple(padding))

    def positions(self, count: int) -> Tensor | None:
        """Positions of the newest `count` columns, (rows, count); None where no row is padded: they are the columns."""
        if not any(self.padding):
            return None
        columns = torch.arange(self.length - count, self.length, device=self._store.columns.device)
        return columns[None, :] - self._paddings()  # (rows, count)

    def visible(self) -> Tensor | None:
        """Which columns a newest token may attend to, (rows, 1, 1, columns); None when no row is padded."""
        if not any(self.padding):
            return None
        columns = torch.arange(self.length, device=self._store.columns.device)
        real = columns[None, :] >= self._paddings()  # (rows, columns)
        return real[:, None, None, :]  # (rows, 1, 1, columns)

    def _paddings(self) -> Tensor:
        return torch.tensor(self.padding, device=self._store.columns.device)[:, None]  # (rows, 1)


def _with_room(columns: Tensor, capacity: int) -> Tensor:
    """A copy with space for `capacity` columns."""
    layers, two, rows, heads, used, head_width = columns.shape
    roomy = columns.new_empty(layers, two, rows, heads, capacity, head_width)
    roomy[:, :, :, :, :used] = columns
    return roomy
