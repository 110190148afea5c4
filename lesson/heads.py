"""Several heads: how attention is split and joined, shown by shapes, and what heads of our models attend to.

Shapes: L layers, H heads, T tokens of the text, S of the source, W model width, D head width.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from torch import Tensor

from lesson.sentences import at_most
from model.interface import Attention
from model.loaded import LoadedModel

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """One array of multi-head attention, by the names of its axes."""

    name: str
    axes: tuple[str, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MultiHeadShapes:
    """The arrays of self-attention with several heads, and the numbers that are learned."""

    computed: tuple[ArrayShape, ...]
    weights: tuple[ArrayShape, ...]  # as in Keras' MultiHeadAttention
    parameters: int  # biases included


def shapes(*, batch: int, time: int, width: int, heads: int, head_width: int) -> MultiHeadShapes:
    """What multi-head self-attention computes, array by array."""
    sizes = {"batch": batch, "time": time, "width": width, "heads": heads, "head width": head_width}
    sizes["heads · head width"] = heads * head_width

    def array(name: str, *axes: str) -> ArrayShape:
        return ArrayShape(name, axes, tuple(sizes[axis] for axis in axes))

    computed = (
        array("Input x", "batch", "time", "width"),
        array("Queries, keys, values, each", "batch", "heads", "time", "head width"),
        array("Scores Q Kᵀ and weights", "batch", "heads", "time", "time"),
        array("Weighted sums", "batch", "heads", "time", "head width"),
        array("Joined", "batch", "time", "heads · head width"),
        array("Times W_O", "batch", "time", "width"),
    )
    matrices = [
        (array(f"W_{of}", "width", "heads", "head width"), array(f"b_{of}", "heads", "head width")) for of in "QKV"
    ]
    weights = (
        *(one for pair in matrices for one in pair),
        array("W_O", "heads", "head width", "width"),
        array("b_O", "width"),
    )
    return MultiHeadShapes(computed, weights, sum(prod(weight.shape) for weight in weights))


def head_maps(loaded: LoadedModel, text: str, most: int) -> tuple[Ids, Tensor]:
    """The tokens of a text, and every head's map of it, (L, H, T, T); `AttendError` for more than `most` tokens."""
    tokens = at_most(most, loaded.prompt(text))
    with loaded.lock:
        return tokens, loaded.model.inspect(tokens).attention.decoder[0].float()


def previous_shares(attention: Tensor) -> Tensor:
    """What each head gives to the token before, averaged over all tokens but the first: (L, H, T, T) → (L, H)."""
    return attention.diagonal(-1, -2, -1).mean(-1)  # (L, H, T - 1), then (L, H)


def three_maps(loaded: LoadedModel, source: str, text: str, most: int) -> tuple[Ids, Ids, Attention]:
    """The tokens of a source, those that the decoder has read of its translation, and the attention over both.

    The encoder's is (1, L, H, S, S), the decoder's (1, L, H, T, T) and the cross-attention (1, L, H, T, S).
    Raises `AttendError` for more than `most` tokens of either.
    """
    source_ids = at_most(most, loaded.prompt(source))
    read = at_most(most, (*loaded.model.decoder_start, *loaded.tokenizer.encode(text)), "translation")
    with loaded.lock:
        return source_ids, read, loaded.model.inspect(read, source=source_ids).attention
