"""Attention by hand: queries, keys and values step by step, masks, cross-attention, heads, and a soft dictionary.

Everything runs through the model's own `attend` and `attention_weights`; the steps in between are computed beside it.

Shapes: T queries, K keys, W width, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from model.transformer.attention import attend, attention_weights

MaskKind = Literal["none", "later words", "padding"]


@dataclass(frozen=True, slots=True)
class AttentionSteps:
    """Scaled dot-product attention, from queries, keys and values to one new vector for each query."""

    queries: Tensor  # (T, W)
    keys: Tensor  # (K, W)
    values: Tensor  # (K, W)
    scores: Tensor  # (T, K): the dot products
    scaled: Tensor  # (T, K): divided by the root of the width
    weights: Tensor  # (T, K): each row sums to 1
    output: Tensor  # (T, W)


def attention_steps(queries: Tensor, keys: Tensor, values: Tensor) -> AttentionSteps:
    """Compute one head without a mask. In cross-attention, queries come from one text, keys and values from another."""
    heads = [part[None, None] for part in (queries, keys, values)]  # (1, 1, T or K, W) each
    output, _ = attend(*heads, attention_mask=None, causal=False, capture=0)  # (1, 1, T, W)
    scores = queries @ keys.T  # (T, K)
    weights = attention_weights(heads[0], heads[1], None)[0, 0]  # (T, K)
    return AttentionSteps(queries, keys, values, scores, scores / math.sqrt(queries.shape[1]), weights, output[0, 0])


@dataclass(frozen=True, slots=True)
class HeadSteps:
    """Attention in several heads."""

    weights: Tensor  # (H, T, K)
    mixed: Tensor  # (H, T, W / H): each head's weighted sums
    joined: Tensor  # (T, W): the heads side by side
    output: Tensor  # (T, W): those times the output weights


def head_steps(whole: AttentionSteps, heads: int, output_weights: Tensor) -> HeadSteps:
    """Compute several heads, to which the columns of the queries, keys and values are dealt out.

    Args:
        heads: a divisor of the width.
        output_weights: W_O, (W, W).
    """
    parts = [
        part.unflatten(1, (heads, -1)).transpose(0, 1)[None] for part in (whole.queries, whole.keys, whole.values)
    ]  # (1, H, T or K, W / H) each
    mixed, weights = attend(*parts, attention_mask=None, causal=False, capture=len(whole.queries))
    assert weights is not None
    joined = mixed[0].transpose(0, 1).flatten(1)  # (T, W)
    return HeadSteps(weights[0], mixed[0], joined, joined @ output_weights)


def additive_mask(length: int, kind: MaskKind) -> Tensor:
    """What is added to the scores (T, T) before the softmax: 0 where a word may look, -inf where it may not.

    "padding" hides the last word from all, as if it only filled up the row of a batch.
    """
    mask = torch.zeros(length, length)
    if kind == "later words":
        mask = mask.masked_fill(torch.ones_like(mask, dtype=torch.bool).triu(1), -math.inf)
    if kind == "padding":
        mask[:, -1] = -math.inf
    return mask


def soft_lookup(query: Tensor, keys: Tensor, values: Tensor, sharpness: float) -> tuple[Tensor, Tensor]:
    """Look up a query (W,) among keys (K, W): returns the weights (K,) and the mixture of the values (K, W).

    Args:
        sharpness: multiplies the query. At 0 all values count the same; the higher it is, the more the best key counts,
            until the lookup is that of an ordinary dictionary.
    """
    steps = attention_steps(sharpness * query[None], keys, values)
    return steps.weights[0], steps.output[0]


def dot_spread(widths: Sequence[int], *, samples: int, seed: int) -> list[float]:
    """The standard deviation of dot products of vectors of independent standard normal numbers, for each width."""
    generator = torch.Generator().manual_seed(seed)
    return [
        float(torch.randn(2, samples, width, generator=generator).prod(dim=0).sum(dim=-1).std()) for width in widths
    ]
