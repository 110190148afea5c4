"""Keys and values of rows of different lengths, so that a pass need only look at the newest token.

Rows of one batch end in the same column. A shorter row is padded on the left:

    column      0  1  2  3  4
    row 0       a  b  c  d  e     padding 0, positions 0 1 2 3 4
    row 1       .  .  x  y  z     padding 2, positions     0 1 2

so one more token a row is one more column, and a row's position is its column less its padding.

Rows that branched from one text, such as beams, have the same past. It is kept once, and only what came after is kept
for every row of its own (Juravsky et al., 2024, "Hydragen", section 3):

    shared      a  b  c  d
    row 0       .  .  .  .  e  f
    row 1       .  .  .  .  e  g     the next `select` of both moves e to the shared columns, once it is worth it

A cache is never changed in place as far as anyone can see. Columns are written into spare room behind the used ones,
and only by the first cache that grows from there; a second branch from the same cache copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.source import KeysValues, Source

_SPARE = 64  # columns allocated ahead, so that most steps copy nothing
_WORTH_SHARING = 16  # columns; fewer stay with each row

Origins = NDArray[np.intp]  # (rows, columns): two rows of a column with the same number hold the same


class _Store:
    """The tensor behind one or more caches, and how many of its columns are taken."""

    __slots__ = ("columns", "taken")

    def __init__(self, columns: Tensor, taken: int) -> None:
        self.columns = columns  # (layers, 2, key/value heads, rows, columns, head width): keys, then values
        self.taken = taken


class _Columns:
    """The first `length` columns of a store, of which the last `newest` are to be filled."""

    __slots__ = ("_layers", "_newest", "length", "store")

    def __init__(self, store: _Store, length: int, *, newest: int = 0) -> None:
        self.store = store
        self.length = length
        # Each layer's keys, then its values, as views (heads, rows, columns, head width): cut once, not once a layer.
        used = store.columns[..., :length, :].flatten(0, 1)  # (layers * 2, heads, rows, columns, head width), a view
        self._layers = used.unbind()
        self._newest = used[..., length - newest :, :].unbind()

    @property
    def used(self) -> Tensor:
        return self.store.columns[..., : self.length, :]  # (layers, 2, heads, rows, columns, head width)

    def grown(self, count: int) -> Self:
        """So many columns more; in the same memory if it has room that nobody else has taken."""
        store, length = self.store, self.length + count
        if store.taken != self.length or store.columns.shape[4] < length:
            store = _Store(_with_room(self.used, length + _SPARE), self.length)
        store.taken = length
        return type(self)(store, length, newest=count)

    def fill(self, layer: int, keys: Tensor, values: Tensor) -> None:
        self._newest[2 * layer].copy_(keys)
        self._newest[2 * layer + 1].copy_(values)

    def of(self, layer: int) -> KeysValues:
        return KeysValues(self._layers[2 * layer], self._layers[2 * layer + 1])


class KeyValueCache:
    """Every layer's keys and values; see the module's pictures. Rows that share columns have no padding."""

    __slots__ = ("_origins", "_own", "_shared", "padding", "source")

    def __init__(
        self,
        own: _Columns,
        shared: _Columns | None,
        padding: tuple[int, ...],
        origins: Origins,
        source: Source | None = None,
    ) -> None:
        self.source = source  # what an encoder has read, for a decoder that looks at it
        self._own = own
        self._shared = shared  # of one row, which stands for all
        self.padding = padding  # of each row, in columns
        self._origins = origins  # of the rows' own columns

    @classmethod
    def empty(
        cls, layers: int, heads: int, head_width: int, *, like: Tensor, rows: int = 1, source: Source | None = None
    ) -> Self:
        """Rows of no tokens, on the device and in the precision of `like`."""
        columns = like.new_empty(layers, 2, heads, rows, 0, head_width)
        return cls(_Columns(_Store(columns, 0), 0), None, (0,) * rows, np.zeros((rows, 0), np.intp), source)

    @property
    def rows(self) -> int:
        return len(self.padding)

    @property
    def shared_length(self) -> int:
        return 0 if self._shared is None else self._shared.length

    @property
    def length(self) -> int:
        """Columns in use, padding included."""
        return self.shared_length + self._own.length

    def extend(self, count: int) -> Self:
        """The same rows with `count` columns more, to be filled by `write`; shares this cache's memory if it can."""
        each_its_own = np.broadcast_to(np.arange(self.rows)[:, None], (self.rows, count))
        origins = np.concatenate((self._origins, each_its_own), axis=1)
        return type(self)(self._own.grown(count), self._shared, self.padding, origins, self.source)

    def write(self, layer: int, keys: Tensor, values: Tensor) -> None:
        """Fill a layer's newest columns, (heads, rows, new, head width) each."""
        self._own.fill(layer, keys, values)

    def shared(self, layer: int) -> KeysValues | None:
        """What all rows have in common, as of one row."""
        return None if self._shared is None else self._shared.of(layer)

    def own(self, layer: int) -> KeysValues:
        """What follows in each row."""
        return self._own.of(layer)

    def whole(self, layer: int) -> KeysValues:
        """All columns of each row."""
        own, shared = self.own(layer), self.shared(layer)
        if shared is None:
            return own
        parts = (torch.cat((past.expand(-1, self.rows, -1, -1), new), 2) for past, new in zip(shared, own, strict=True))
        return KeysValues(*parts)

    @torch.inference_mode()
    def select(self, rows: Sequence[int]) -> Self:
        if tuple(rows) == tuple(range(self.rows)):
            return self
        padding = tuple(self.padding[row] for row in rows)
        unused = min(padding, default=0)  # columns that are padding in every row that is left
        origins = self._origins[list(rows), unused:]
        common = _in_common(origins) if not any(pad - unused for pad in padding) else 0
        if len(rows) < 2 or common < _WORTH_SHARING:
            common = 0
        own = self._own.used[..., unused:, :]  # (layers, 2, heads, rows, own, head width)
        shared = self._with_shared(own[:, :, :, rows[0], None, :common]) if common else self._shared
        own = own[..., common:, :]
        layers, two, heads, _, length, head_width = own.shape
        roomy = own.new_empty(layers, two, heads, len(rows), length + _WORTH_SHARING, head_width)
        index = torch.tensor(rows, dtype=torch.long, device=own.device)
        torch.index_select(own, 3, index, out=roomy[..., :length, :])  # straight into its place: copied once
        columns = _Columns(_Store(roomy, length), length)
        source = None if self.source is None else self.source.select(rows)
        return type(self)(columns, shared, tuple(pad - unused for pad in padding), origins[:, common:], source)

    def _with_shared(self, more: Tensor) -> _Columns:
        """The shared columns and these behind them, (layers, 2, heads, 1, more, head width)."""
        if self._shared is None:
            if self.rows == 1 and more.shape[4] == self._own.length:
                return self._own  # a text that branches for the first time: nothing is copied
            return _Columns(_Store(more.contiguous(), more.shape[4]), more.shape[4])
        grown = self._shared.grown(more.shape[4])
        grown.used[..., self._shared.length :, :] = more
        return grown

    def join(self, other: Self) -> Self:
        length = max(self.length, other.length)
        parts, padding = [], []
        for cache in (self, other):
            missing = length - cache.length
            parts.append(torch.nn.functional.pad(cache._every_column(), (0, 0, missing, 0)))  # zeros, never attended
            padding += [pad + missing for pad in cache.padding]
        joined = torch.cat(parts, dim=3)
        origins = np.broadcast_to(np.arange(len(padding))[:, None], (len(padding), length))
        source = None if self.source is None or other.source is None else self.source.join(other.source)
        return type(self)(_Columns(_Store(joined, length), length), None, tuple(padding), origins, source)

    def _every_column(self) -> Tensor:
        """Shared and own, (layers, 2, heads, rows, columns, head width)."""
        if self._shared is None:
            return self._own.used
        return torch.cat((self._shared.used.expand(-1, -1, -1, self.rows, -1, -1), self._own.used), dim=4)

    def positions(self, count: int) -> Tensor | None:
        """Positions of the newest `count` columns, (rows, count); None where no row is padded: they are the columns."""
        if not any(self.padding):
            return None
        columns = torch.arange(self.length - count, self.length, device=self._own.store.columns.device)
        return columns[None, :] - self._paddings()  # (rows, count)

    def visible(self) -> Tensor | None:
        """Which columns a newest token may attend to, (rows, 1, 1, columns); None when no row is padded."""
        if not any(self.padding):
            return None
        columns = torch.arange(self.length, device=self._own.store.columns.device)
        real = columns[None, :] >= self._paddings()  # (rows, columns)
        return real[:, None, None, :]  # (rows, 1, 1, columns)

    def _paddings(self) -> Tensor:
        return torch.tensor(self.padding, device=self._own.store.columns.device)[:, None]  # (rows, 1)


def _in_common(origins: Origins) -> int:
    """How many leading columns are the same in all rows."""
    differ = (origins != origins[:1]).any(axis=0)  # (columns,)
    return int(differ.argmax()) if differ.any() else differ.size


def _with_room(columns: Tensor, capacity: int) -> Tensor:
    """A copy with space for `capacity` columns."""
    *outer, used, head_width = columns.shape
    roomy = columns.new_empty(*outer, capacity, head_width)
    roomy[..., :used, :] = columns
    return roomy
