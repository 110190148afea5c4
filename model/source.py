"""What attention looks up, and the sources of an encoder as cross-attention does: read once, the same in every pass.

Rows that decode the same source, such as beams, share it. Sources of different lengths are padded on the right, which
nobody sees:

    source 0    a  b  c  d  e     rows 0, 1, 2, 3
    source 1    x  y  z  .  .     rows 4, 5

Shapes: R rows, U sources, G key/value heads, S tokens of the longest source, D head width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from model.stepping_cross import Folded


class KeysValues(NamedTuple):
    """Of one layer, (heads, rows, columns, head width) each."""

    keys: Tensor
    values: Tensor


class Source:
    """Every decoder layer's keys and values of what an encoder has read; never changed, but for what is remembered."""

    __slots__ = ("_layers", "_lengths", "_of_row", "_of_rows", "folded", "visible")

    def __init__(self, layers: Sequence[KeysValues], lengths: Sequence[int], of_row: Sequence[int]) -> None:
        """
        Args:
            layers: each layer's, (G, U, S, D).
            lengths: of the sources, without padding.
            of_row: which source each row decodes.
        """
        self._layers, self._lengths, self._of_row = tuple(layers), tuple(lengths), tuple(of_row)
        self._of_rows: tuple[KeysValues, ...] | None = None
        self.folded: dict[int, Folded] = {}  # by layer, what a decoder has made of a single source once for all passes
        self.visible = self._visible()  # boolean, (R, 1, 1, S); None: no row sees padding

    @property
    def rows(self) -> int:
        return len(self._of_row)

    @property
    def single(self) -> bool:
        """Whether all rows decode the same source."""
        return len(self._lengths) == 1

    @property
    def length(self) -> int:
        """Columns, padding included."""
        return self._layers[0].keys.shape[2]

    def of(self, layer: int) -> KeysValues:
        """Keys and values for each row, (G, R, S, D); of a single source only once, (G, 1, S, D), for all rows."""
        if self.single:
            return self._layers[layer]
        if self._of_rows is None:  # each source as often as rows decode it; copied once, not in every pass
            index = torch.tensor(self._of_row, device=self._layers[0].keys.device)
            self._of_rows = tuple(KeysValues(*(part.index_select(1, index) for part in one)) for one in self._layers)
        return self._of_rows[layer]

    def select(self, rows: Sequence[int]) -> Self:
        """As `Cache.select`; sources that no row decodes any more are dropped."""
        of_row = tuple(self._of_row[row] for row in rows)
        if of_row == self._of_row:
            return self
        left = sorted(set(of_row))
        place = {source: number for number, source in enumerate(left)}
        layers, lengths = self._layers, tuple(self._lengths[source] for source in left)
        if len(left) < len(self._lengths):
            longest = max(lengths)
            layers = tuple(KeysValues(*(part[:, left, :longest] for part in one)) for one in layers)
        selected = type(self)(layers, lengths, tuple(place[source] for source in of_row))
        if self.single:
            selected.folded = self.folded
        return selected

    def join(self, other: Self) -> Self:
        """The rows of both, `other`'s last."""
        length = max(self.length, other.length)
        layers = (
            KeysValues(
                *(torch.cat([_padded(part, length) for part in parts], dim=1) for parts in zip(*both, strict=True))
            )
            for both in zip(self._layers, other._layers, strict=True)
        )
        after = (source + len(self._lengths) for source in other._of_row)
        return type(self)(tuple(layers), self._lengths + other._lengths, (*self._of_row, *after))

    def _visible(self) -> Tensor | None:
        if min(self._lengths) == self.length:
            return None
        keys = self._layers[0].keys
        lengths = torch.tensor([self._lengths[source] for source in self._of_row], device=keys.device)  # (R,)
        return (torch.arange(self.length, device=keys.device) < lengths[:, None])[:, None, None]  # (R, 1, 1, S)


def _padded(columns: Tensor, length: int) -> Tensor:
    """(G, U, S, D) to (G, U, length, D), zeros on the right."""
    return functional.pad(columns, (0, 0, 0, length - columns.shape[2]))
