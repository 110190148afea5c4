"""Attention by hand: words weighed by how alike they are, scores that become weights, and what attention cannot see.

The first parts know no parameters at all, as lectures begin; the last uses the model's own `attend`.

Shapes: N words, T tokens, W width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from model.layers import attend, attention_weights, sinusoids


@dataclass(frozen=True, slots=True)
class Mixture:
    """One word's vector, mixed anew from all words' vectors."""

    weights: Tensor  # (N,), sum to 1
    vector: Tensor  # (W,)


def by_division(similarities: Tensor, vectors: Tensor) -> Mixture:
    """Weights are similarities divided by their sum; they must be positive together.

    Args:
        similarities: of one word to each, (N,).
        vectors: of each word, (N, W).
    """
    return _mixture(similarities / similarities.sum(), vectors)


def by_softmax(similarities: Tensor, vectors: Tensor) -> Mixture:
    """Weights are a softmax, which takes any numbers, negative ones too; shapes as in `by_division`."""
    return _mixture(similarities.softmax(dim=0), vectors)


def _mixture(weights: Tensor, vectors: Tensor) -> Mixture:
    return Mixture(weights, weights @ vectors)


@dataclass(frozen=True, slots=True)
class Softened:
    """What dots of one query with its keys become."""

    scaled: Tensor  # (N,), divided by the root of the width
    weights: Tensor  # (N,), softmax of those
    unscaled: Tensor  # (N,), softmax of the dots themselves


def soften(dots: Tensor, width: int) -> Softened:
    """Scores (N,) of vectors of this width, scaled and not (Vaswani et al., 2017, section 3.2.1)."""
    scaled = dots / math.sqrt(width)
    return Softened(scaled, scaled.softmax(dim=0), dots.softmax(dim=0))


def masked(scores: Tensor, *, mask: bool) -> tuple[Tensor, Tensor]:
    """Scores (T, T) with -inf where a query would look ahead, and their softmax row by row; or all of them."""
    if mask:
        ahead = torch.ones_like(scores, dtype=torch.bool).triu(1)  # (T, T)
        scores = scores.masked_fill(ahead, -math.inf)
    return scores, scores.softmax(dim=-1)


def word_vectors(words: list[str], width: int) -> Tensor:
    """A vector for every word, (N, W): drawn, but the same for the same word wherever it stands."""
    rows = []
    for word in words:
        generator = torch.Generator().manual_seed(int.from_bytes(word.encode()[:7], "little") + len(word))
        rows.append(torch.randn(width, generator=generator))
    return torch.stack(rows)  # (N, W)


@dataclass(frozen=True, slots=True)
class Seen:
    """What self-attention makes of words in one order."""

    weights: Tensor  # (N, N)
    vectors: Tensor  # (N, W)


def seen(words: list[str], width: int, *, positions: bool) -> Seen:
    """Self-attention without parameters: every word's vector is its query, its key and its value.

    Args:
        positions: add the sinusoids first; else nothing tells one order from another.
    """
    inputs = word_vectors(words, width)  # (N, W)
    if positions:
        inputs = inputs + sinusoids(len(words), width)
    heads = inputs[None, None]  # (1, 1, N, W): one row, one head
    output, _ = attend(heads, heads, heads, visible=None, causal=False, capture=0)  # (1, 1, N, W)
    return Seen(attention_weights(heads, heads, None)[0, 0], output[0, 0])
