"""Attention by hand: weights from similarities and from scaled and masked scores, and its blindness to order.

The first parts have no parameters, as in the beginning of many lectures; the last one uses the model's own `attend`.

Shapes: N words, T tokens, W width.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from model.transformer.attention import attend
from model.transformer.positions import sinusoids


@dataclass(frozen=True, slots=True)
class Mixture:
    """One word's vector as a weighted sum of all words' vectors."""

    weights: Tensor  # (N,), sum to 1
    vector: Tensor  # (W,)


def by_division(similarities: Tensor, vectors: Tensor) -> Mixture:
    """Weights are similarities divided by their sum, which must be positive.

    Args:
        similarities: how similar one word is to each, (N,).
        vectors: the vector of each word, (N, W).
    """
    return _mixture(similarities / similarities.sum(), vectors)


def by_softmax(similarities: Tensor, vectors: Tensor) -> Mixture:
    """Weights are a softmax, which takes any numbers, negative ones too; shapes as in `by_division`."""
    return _mixture(similarities.softmax(dim=0), vectors)


def _mixture(weights: Tensor, vectors: Tensor) -> Mixture:
    return Mixture(weights, weights @ vectors)


@dataclass(frozen=True, slots=True)
class ScaledScores:
    """The dot products of one query with its keys, scaled and as weights."""

    scaled: Tensor  # (N,), divided by the root of the width
    weights: Tensor  # (N,), softmax of those
    unscaled: Tensor  # (N,), softmax of the dot products themselves


def scale_scores(dots: Tensor, width: int) -> ScaledScores:
    """Scores (N,) of vectors of this width, scaled and not (Vaswani et al., 2017, section 3.2.1)."""
    scaled = dots / math.sqrt(width)
    return ScaledScores(scaled, scaled.softmax(dim=0), dots.softmax(dim=0))


def word_vectors(words: list[str], width: int) -> Tensor:
    """A random vector for every word, (N, W): the same for the same word in any text and at any position."""
    rows = []
    for word in words:
        generator = torch.Generator().manual_seed(int.from_bytes(hashlib.sha256(word.encode()).digest()[:7]))
        rows.append(torch.randn(width, generator=generator))
    return torch.stack(rows)  # (N, W)


def self_attention(words: list[str], width: int, *, positions: bool) -> Tensor:
    """Self-attention without parameters, (N, W): every word's vector is its query, its key and its value.

    Args:
        positions: add the sinusoids first; without them the order makes no difference.
    """
    inputs = word_vectors(words, width)  # (N, W)
    if positions:
        inputs = inputs + sinusoids(len(words), width)
    heads = inputs[None, None]  # (1, 1, N, W): one row, one head
    output, _ = attend(heads, heads, heads, attention_mask=None, causal=False, capture=0)  # (1, 1, N, W)
    return output[0, 0]
