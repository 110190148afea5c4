"""The small steps between vectors, against PyTorch's own modules and by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from lesson.linear import linear_layer, shares, similarity


def test_a_cosine_is_the_product_over_both_lengths() -> None:
    """(3, 4) · (4, 3) = 24, both of length 5; a vector of zeros has no direction."""
    alike = similarity(torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0]))
    assert (alike.product, alike.lengths, alike.cosine) == (24, (5, 5), pytest.approx(0.96))
    assert similarity(torch.zeros(2), torch.ones(2)).cosine is None


def test_a_linear_layer_is_that_of_pytorch() -> None:
    torch.manual_seed(2)
    layer, x = nn.Linear(3, 4), torch.randn(5, 3)
    assert torch.allclose(linear_layer(x, layer.weight.T, layer.bias), layer(x), atol=1e-6)


def test_softmax_of_two_scores_is_the_sigmoid_of_their_difference() -> None:
    """σ(2) = 1 / (1 + e⁻²) = .8808; a high score overflows nothing."""
    two = shares(torch.tensor([5.0, 3.0]))
    assert two.sigmoid == pytest.approx(1 / (1 + math.exp(-2))) == pytest.approx(float(two.shares[0]))
    assert torch.allclose(
        shares(torch.tensor([1000.0, 1001.0])).shares, functional.softmax(torch.tensor([0.0, 1.0]), -1)
    )
