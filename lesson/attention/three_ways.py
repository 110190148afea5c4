"""Three ways to let words meet, counted: recurrence, convolution and attention.

The counts are those of table 1 of "Attention is all you need" (Vaswani et al., 2017), where constant factors are left
out; the paths are found by following who reads whom.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Edge = tuple[int, int]  # from a position to the one that reads it


@dataclass(frozen=True, slots=True)
class LayerCost:
    """One kind of layer on a text."""

    operations: int  # multiplications in a layer
    sequential: int  # steps that must wait for each other
    path: int  # steps from the first word to the last


def layer_costs(length: int, width: int, kernel: int, neighbours: int) -> dict[str, LayerCost]:
    """The costs of each kind of layer on a text of `length` words.

    Args:
        width: numbers in a word's vector.
        kernel: words that a convolution reads at once, at least 2; its layers are dilated: each skips more words.
        neighbours: words before it that a word sees in restricted attention.
    """
    reads = _offsets(length, kernel)
    restricted = _layers_to_reach(length, lambda _: range(neighbours + 1))
    path = {kind: _layers_to_reach(length, offsets) for kind, offsets in reads.items()}
    return {
        "attention": LayerCost(length**2 * width, 1, path["attention"]),
        "recurrent": LayerCost(length * width**2, length, path["recurrent"]),
        "convolution": LayerCost(kernel * length * width**2, 1, path["convolution"]),
        "restricted": LayerCost(neighbours * length * width, 1, restricted),
    }


@dataclass(frozen=True, slots=True)
class Meeting:
    """Who reads whom, layer by layer, and the way from the first word to the last."""

    layers: tuple[tuple[Edge, ...], ...]
    path: tuple[Edge, ...]  # one edge a layer


def meetings(length: int, kernel: int) -> dict[str, Meeting]:
    """How words meet in the three ways on a text of `length` words, each with as many layers as it needs; a recurrent
    layer counts step by step."""
    ways = {}
    for kind, offsets in _offsets(length, kernel).items():
        count = _layers_to_reach(length, offsets)
        layers = tuple(
            tuple(
                (position - offset, position)
                for position in range(length)
                for offset in offsets(layer)
                if 0 <= position - offset < length and (kind != "recurrent" or position == layer + 1)
            )
            for layer in range(count)
        )
        path: list[Edge] = []
        at = length - 1
        for layer in reversed(layers):
            path.append((min(source for source, target in layer if target == at), at))
            at = path[-1][0]
        ways[kind] = Meeting(layers, tuple(reversed(path)))
    return ways


def _offsets(length: int, kernel: int) -> dict[str, Callable[[int], Sequence[int]]]:
    """How far back a word reads in each layer."""
    return {
        "recurrent": lambda _: range(2),
        "convolution": lambda layer: range(0, kernel ** (layer + 1), kernel**layer),
        "attention": lambda _: range(1 - length, length),  # later words, too
    }


def _layers_to_reach(length: int, offsets: Callable[[int], Sequence[int]]) -> int:
    """After how many layers the last word has read the first."""
    layers = farthest = 0
    while farthest < length - 1:
        farthest += max(offsets(layers))
        layers += 1
    return layers
