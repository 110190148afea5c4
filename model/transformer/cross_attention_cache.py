"""The keys and values that cross-attention reads: computed once from the encoder's output, the same in every pass.

Rows that decode the same source, such as beams, share it. Sources of different lengths are padded on the right, and the
padding is masked:

    source 0    a  b  c  d  e     rows 0, 1, 2, 3
    source 1    x  y  z  .  .     rows 4, 5

Shapes: R rows, U sources, H query heads, G key/value heads, S tokens of the longest source, D head width,
W model width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import functional


class KeysValues(NamedTuple):
    """Of one layer, (heads, rows, columns, head width) each."""

    keys: Tensor
    values: Tensor


@dataclass(frozen=True, slots=True)
class FoldedKeysValues:
    """One layer's projections of queries and outputs, multiplied into the keys and values of a single source."""

    score: Tensor  # (H * S, W): hidden states to scores
    score_bias: Tensor  # (H * S,)
    update: Tensor  # (H * S, W): weights to what is added to the hidden states
    update_bias: Tensor  # (W,)

    def __call__(self, hidden: Tensor, heads: int) -> tuple[Tensor, Tensor]:
        """Hidden states (R, W) to what is added to them, (R, W), and the weights, (R, H, S)."""
        scores = functional.linear(hidden, self.score, self.score_bias).view(len(hidden), heads, -1)  # (R, H, S)
        weights = scores.softmax(dim=-1)  # (R, H, S)
        return torch.addmm(self.update_bias, weights.flatten(1), self.update), weights


class CrossAttentionCache:
    """Every decoder layer's keys and values of the sources; never changed, but for `folded`, which is filled once."""

    __slots__ = ("_layers", "_lengths", "_row_layers", "_source_of_row", "attention_mask", "folded")

    def __init__(self, layers: Sequence[KeysValues], lengths: Sequence[int], source_of_row: Sequence[int]) -> None:
        """
        Args:
            layers: each layer's, (G, U, S, D).
            lengths: of the sources, without padding.
            source_of_row: which source each row decodes.
        """
        self._layers, self._lengths, self._source_of_row = tuple(layers), tuple(lengths), tuple(source_of_row)
        self._row_layers: tuple[KeysValues, ...] | None = None
        self.folded: dict[int, FoldedKeysValues] = {}  # by layer, of a single source
        self.attention_mask = self._mask()  # boolean, (R, 1, 1, S); None: nothing is padded

    @property
    def rows(self) -> int:
        return len(self._source_of_row)

    @property
    def single(self) -> bool:
        """Whether all rows decode the same source."""
        return len(self._lengths) == 1

    @property
    def length(self) -> int:
        """Columns, padding included."""
        return self._layers[0].keys.shape[2]

    def keys_values(self, layer: int) -> KeysValues:
        """Keys and values for each row, (G, R, S, D); of a single source only once, (G, 1, S, D), for all rows."""
        if self.single:
            return self._layers[layer]
        if self._row_layers is None:  # each source as often as rows decode it; copied once, not in every pass
            index = torch.tensor(self._source_of_row, device=self._layers[0].keys.device)
            self._row_layers = tuple(
                KeysValues(*(part.index_select(1, index) for part in parts)) for parts in self._layers
            )
        return self._row_layers[layer]

    def select(self, rows: Sequence[int]) -> Self:
        """As `Cache.select`; sources that no row decodes any more are dropped."""
        source_of_row = tuple(self._source_of_row[row] for row in rows)
        if source_of_row == self._source_of_row:
            return self
        kept = sorted(set(source_of_row))
        number = {source: new for new, source in enumerate(kept)}
        layers, lengths = self._layers, tuple(self._lengths[source] for source in kept)
        if len(kept) < len(self._lengths):
            longest = max(lengths)
            layers = tuple(KeysValues(*(part[:, kept, :longest] for part in parts)) for parts in layers)
        selected = type(self)(layers, lengths, tuple(number[source] for source in source_of_row))
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
        after = (source + len(self._lengths) for source in other._source_of_row)
        return type(self)(tuple(layers), self._lengths + other._lengths, (*self._source_of_row, *after))

    def _mask(self) -> Tensor | None:
        if min(self._lengths) == self.length:
            return None
        keys = self._layers[0].keys
        lengths = torch.tensor([self._lengths[source] for source in self._source_of_row], device=keys.device)  # (R,)
        return (torch.arange(self.length, device=keys.device) < lengths[:, None])[:, None, None]  # (R, 1, 1, S)


def _padded(columns: Tensor, length: int) -> Tensor:
    """(G, U, S, D) to (G, U, length, D), zeros on the right."""
    return functional.pad(columns, (0, 0, 0, length - columns.shape[2]))
