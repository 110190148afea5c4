"""Keys and values of rows of different lengths, so that a pass only computes those of its newest tokens.

Rows of one batch end in the same column. A shorter row is padded on the left:

    column      0  1  2  3  4
    row 0       a  b  c  d  e     padding 0, positions 0 1 2 3 4
    row 1       .  .  x  y  z     padding 2, positions     0 1 2

so adding a token to every row adds one column, and a token's position is its column minus the row's padding.

Rows that branched from one text, such as beams, share a prefix, which is stored once; only the suffix is stored for
each row (Juravsky et al., 2024, "Hydragen", section 3):

    prefix      a  b  c  d
    row 0       .  .  .  .  e  f
    row 1       .  .  .  .  e  g     the next `select` of both moves e to the prefix, once it is worth it

To its users a cache is immutable. New columns are written into spare memory after the used ones, but only by the first
cache that grows from there; a second branch from the same cache makes a copy.

Shapes: R rows, G key/value heads, K columns, D head width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.transformer.cross_attention_cache import CrossAttentionCache, KeysValues

_SPARE = 64  # columns allocated ahead, so that most steps copy nothing
_MIN_SHARED = 16  # columns; fewer than this stay with each row

Origins = NDArray[np.intp]  # (rows, columns): two rows of a column with the same number hold the same


class _Store:
    """The tensor behind one or more caches, and how many of its columns are used."""

    __slots__ = ("columns", "taken")

    def __init__(self, columns: Tensor, taken: int) -> None:
        self.columns = columns  # (layers, 2, key/value heads, rows, columns, head width): keys, then values
        self.taken = taken


class _Columns:
    """The first `length` columns of a store; the last `newest` of them have yet to be filled."""

    __slots__ = ("length", "newest", "store")

    def __init__(self, store: _Store, length: int, *, newest: int = 0) -> None:
        self.store = store
        self.length = length
        self.newest = newest

    @property
    def used(self) -> Tensor:
        return self.store.columns[..., : self.length, :]  # (layers, 2, heads, rows, columns, head width)

    def grown(self, count: int) -> Self:
        """Add columns, in the same memory if it has room that no other cache uses."""
        store, length = self.store, self.length + count
        if store.taken != self.length or store.columns.shape[4] < length:
            store = _Store(_with_room(self.used, length + _SPARE), self.length)
        store.taken = length
        return type(self)(store, length, newest=count)

    def fill(self, layer: int, keys: Tensor, values: Tensor) -> None:
        newest = slice(self.length - self.newest, self.length)
        self.store.columns[layer, 0, :, :, newest] = keys
        self.store.columns[layer, 1, :, :, newest] = values

    def keys_values(self, layer: int) -> KeysValues:
        return KeysValues(*self.store.columns[layer, ..., : self.length, :])


class KeyValueCache:
    """Every layer's keys and values; see the module's pictures. Rows that share columns have no padding."""

    __slots__ = ("_origins", "_prefix", "_suffix", "padding", "source")

    def __init__(
        self,
        suffix: _Columns,
        prefix: _Columns | None,
        padding: tuple[int, ...],
        origins: Origins,
        source: CrossAttentionCache | None = None,
    ) -> None:
        self.source = source  # for cross-attention
        self._suffix = suffix
        self._prefix = prefix  # one row, shared by all
        self.padding = padding  # for each row, in columns
        self._origins = origins  # for the suffix's first columns; each row has its own after them

    @classmethod
    def empty(
        cls,
        layers: int,
        heads: int,
        head_width: int,
        *,
        like: Tensor,
        rows: int = 1,
        source: CrossAttentionCache | None = None,
    ) -> Self:
        """Empty rows, on the device and in the precision of `like`."""
        columns = like.new_empty(layers, 2, heads, rows, 0, head_width)
        return cls(_Columns(_Store(columns, 0), 0), None, (0,) * rows, np.zeros((rows, 0), np.intp), source)

    @property
    def rows(self) -> int:
        return len(self.padding)

    @property
    def prefix_length(self) -> int:
        return 0 if self._prefix is None else self._prefix.length

    @property
    def suffix_length(self) -> int:
        return self._suffix.length

    @property
    def length(self) -> int:
        """Columns in use, padding included."""
        return self.prefix_length + self.suffix_length

    def extend(self, count: int) -> Self:
        """The same rows with `count` more columns, which `write` fills; shares this cache's memory if it can."""
        return type(self)(self._suffix.grown(count), self._prefix, self.padding, self._origins, self.source)

    def write(self, layer: int, keys: Tensor, values: Tensor) -> None:
        """Fill a layer's newest columns, (heads, rows, new, head width) each."""
        self._suffix.fill(layer, keys, values)

    @property
    def prefix_memory(self) -> Tensor:
        """The common prefix of all rows, stored as one row: (layers, 2, G, 1, `prefix_length` or more columns, D)."""
        if self._prefix is None:
            layers, two, heads, _, _, head_width = self.suffix_memory.shape
            return self.suffix_memory.new_empty(layers, two, heads, 1, 0, head_width)
        return self._prefix.store.columns

    @property
    def suffix_memory(self) -> Tensor:
        """The suffix of each row, with spare columns: (layers, 2, G, R, columns, D)."""
        return self._suffix.store.columns

    def keys_values(self, layer: int) -> KeysValues:
        """All columns of each row."""
        suffix = self._suffix.keys_values(layer)
        if self._prefix is None:
            return suffix
        pairs = zip(self._prefix.keys_values(layer), suffix, strict=True)
        parts = (torch.cat((past.expand(-1, self.rows, -1, -1), new), 2) for past, new in pairs)  # (G, R, K, D)
        return KeysValues(*parts)

    def select(self, rows: Sequence[int]) -> Self:
        return self if tuple(rows) == tuple(range(self.rows)) else self._selected(rows)

    @torch.inference_mode()
    def _selected(self, rows: Sequence[int]) -> Self:
        padding = tuple(self.padding[row] for row in rows)
        unused = min(padding, default=0)  # columns that are padding in all remaining rows
        origins = self._all_origins()[list(rows), unused:]
        common = _common_columns(origins) if not any(pad - unused for pad in padding) else 0
        if len(rows) < 2 or common < _MIN_SHARED:
            common = 0
        suffix = self._suffix.used[..., unused:, :]  # (layers, 2, G, rows, columns, D)
        prefix = self._prefix_with(suffix[:, :, :, rows[0], None, :common]) if common else self._prefix
        suffix = suffix[..., common:, :]
        layers, two, heads, _, length, head_width = suffix.shape
        roomy = suffix.new_empty(layers, two, heads, len(rows), length + _MIN_SHARED, head_width)
        index = torch.tensor(rows, dtype=torch.long, device=suffix.device)
        torch.index_select(suffix, 3, index, out=roomy[..., :length, :])  # copied once
        columns = _Columns(_Store(roomy, length), length)
        source = None if self.source is None else self.source.select(rows)
        return type(self)(columns, prefix, tuple(pad - unused for pad in padding), origins[:, common:], source)

    def _prefix_with(self, more: Tensor) -> _Columns:
        """The prefix followed by these columns, (layers, 2, G, 1, more, D)."""
        if self._prefix is None:
            if self.rows == 1 and more.shape[4] == self._suffix.length:
                return self._suffix  # a text that branches for the first time, so nothing is copied
            return _Columns(_Store(more.contiguous(), more.shape[4]), more.shape[4])
        grown = self._prefix.grown(more.shape[4])
        grown.used[..., self._prefix.length :, :] = more
        return grown

    def join(self, other: Self) -> Self:
        length = max(self.length, other.length)
        layers, two, heads, _, _, head_width = self.suffix_memory.shape
        roomy = self.suffix_memory.new_empty(layers, two, heads, self.rows + other.rows, length + _SPARE, head_width)
        padding, row = [], 0
        for cache in (self, other):
            missing, rows = length - cache.length, roomy[:, :, :, row : row + cache.rows]
            rows[..., :missing, :] = 0.0  # never attended
            rows[..., missing:length, :] = cache._all_columns()
            padding += [pad + missing for pad in cache.padding]
            row += cache.rows
        columns, origins = _Columns(_Store(roomy, length), length), np.empty((row, 0), np.intp)
        source = None if self.source is None or other.source is None else self.source.join(other.source)
        return type(self)(columns, None, tuple(padding), origins, source)

    def _all_origins(self) -> Origins:
        """The origins of all columns of the suffix."""
        distinct = np.broadcast_to(np.arange(self.rows)[:, None], (self.rows, self._suffix.length))
        return np.concatenate((self._origins, distinct[:, self._origins.shape[1] :]), axis=1)

    def prefix(self, length: int) -> Self:
        """The first tokens of a single row without padding, in the same memory; new tokens are stored elsewhere."""
        if self.rows != 1 or any(self.padding):
            raise ValueError(f"only a cache of one row without padding has a prefix; this one has {self.rows} rows")
        columns = self._suffix
        if self._prefix is not None:
            columns = _Columns(_Store(self._all_columns(), self.length), self.length)
        prefix = _Columns(columns.store, length)
        return type(self)(prefix, None, self.padding, np.zeros((1, length), np.intp), self.source)

    @property
    def bytes(self) -> int:
        return self.prefix_memory.nbytes + self.suffix_memory.nbytes

    def _all_columns(self) -> Tensor:
        """Prefix and suffix, (layers, 2, G, R, K, D)."""
        if self._prefix is None:
            return self._suffix.used
        return torch.cat((self._prefix.used.expand(-1, -1, -1, self.rows, -1, -1), self._suffix.used), dim=4)

    def positions(self, count: int) -> Tensor | None:
        """Positions of the newest `count` columns, (rows, count); None where no row is padded: they are the columns."""
        if not any(self.padding):
            return None
        columns = torch.arange(self.length - count, self.length, device=self._suffix.store.columns.device)
        return columns[None, :] - self._paddings()  # (rows, count)

    def attention_mask(self) -> Tensor | None:
        """Which columns a newest token may attend to, (rows, 1, 1, columns); None when no row is padded."""
        if not any(self.padding):
            return None
        columns = torch.arange(self.length, device=self._suffix.store.columns.device)
        real = columns[None, :] >= self._paddings()  # (rows, columns)
        return real[:, None, None, :]  # (rows, 1, 1, columns)

    def _paddings(self) -> Tensor:
        return torch.tensor(self.padding, device=self._suffix.store.columns.device)[:, None]  # (rows, 1)


def _common_columns(origins: Origins) -> int:
    """How many leading columns are the same in all rows."""
    differ = (origins != origins[:1]).any(axis=0)  # (columns,)
    return int(differ.argmax()) if differ.any() else differ.size


def _with_room(columns: Tensor, capacity: int) -> Tensor:
    """A copy with space for `capacity` columns."""
    *outer, used, head_width = columns.shape
    roomy = columns.new_empty(*outer, capacity, head_width)
    roomy[..., :used, :] = columns
    return roomy
