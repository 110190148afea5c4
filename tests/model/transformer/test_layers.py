"""Attention against its slow, obvious definition, activations and norms against PyTorch's modules."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.transformer.attention import attend
from model.transformer.config import Activation, TransformerConfig
from model.transformer.layers import ACTIVATIONS, make_norm


def attend_slowly(queries: Tensor, keys: Tensor, values: Tensor, visible: Tensor) -> tuple[Tensor, Tensor]:
    """The definition, one query of one head at a time; visible (T, K)."""
    rows, heads, length, width = queries.shape
    groups = heads // keys.shape[1]
    output, weights = torch.zeros_like(queries), torch.zeros(rows, heads, length, keys.shape[2])
    for row, head, query in itertools.product(range(rows), range(heads), range(length)):
        scores = [
            math.exp(float(queries[row, head, query] @ keys[row, head // groups, key]) / math.sqrt(width))
            if visible[query, key]
            else 0.0
            for key in range(keys.shape[2])
        ]
        for key, score in enumerate(scores):
            weights[row, head, query, key] = score / sum(scores)
            output[row, head, query] += score / sum(scores) * values[row, head // groups, key]
    return output, weights


@pytest.mark.parametrize(("key_heads", "length"), [(1, 3), (2, 1), (2, 5), (4, 3)])
def test_attend_equals_its_definition(key_heads: int, length: int) -> None:
    torch.manual_seed(key_heads * 10 + length)
    queries, (keys, values) = torch.randn(2, 4, length, 6), torch.randn(2, 2, key_heads, 5, 6)
    visible = torch.ones(length, 5, dtype=torch.bool).tril(5 - length)
    slow_output, slow_weights = attend_slowly(queries, keys, values, visible)
    output, weights = attend(queries, keys, values, attention_mask=None, causal=length > 1, capture=length)
    assert weights is not None
    assert torch.allclose(output, slow_output, atol=1e-6)
    assert torch.allclose(weights, slow_weights, atol=1e-6)


def test_activations_are_those_of_pytorchs_modules() -> None:
    projected = torch.randn(5, 12, generator=torch.Generator().manual_seed(2))
    gated = nn.SiLU()(projected[:, :6]) * projected[:, 6:]  # the gate comes first
    torch.testing.assert_close(ACTIVATIONS["swiglu"](projected), gated)
    plain: dict[Activation, nn.Module] = {"relu": nn.ReLU(), "gelu": nn.GELU(), "gelu_tanh": nn.GELU("tanh")}
    for name, module in plain.items():
        torch.testing.assert_close(ACTIVATIONS[name](projected), module(projected))
    assert ACTIVATIONS.keys() == {*plain, "swiglu"}


@pytest.mark.parametrize(("norm", "kind"), [("layer", nn.LayerNorm), ("rms", nn.RMSNorm)])
def test_norms_are_pytorchs_modules(norm: Any, kind: Any) -> None:
    hidden = torch.randn(5, 16, generator=torch.Generator().manual_seed(3))
    layer = make_norm(TransformerConfig(vocabulary_size=8, width=16, norm=norm, norm_epsilon=0.1))
    torch.testing.assert_close(layer(hidden), kind(16, eps=0.1)(hidden))
