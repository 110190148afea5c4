"""Two linear layers are one; with ReLU they are not; and what residual connections do to a gradient."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from lesson.parts import layers as parts
from lesson.parts.layers import gradients_through, layer_size, two_layers


def test_two_linear_layers_are_one_matrix_and_relu_makes_them_more() -> None:
    """|x| = max(0, x) + max(0, −x), which no matrix computes: it gives −x for −x."""
    first, second = torch.tensor([[1.0, -1.0]]), torch.tensor([[1.0], [1.0]])
    for x in (3.0, -3.0):
        layers = two_layers(torch.tensor([[x]]), first, second)
        assert layers.with_relu.item() == abs(x) and layers.linear.item() == 0
        assert torch.equal(layers.linear, layers.at_once)
    generator = torch.Generator().manual_seed(5)
    inputs, wide, narrow = (torch.randn(*shape, generator=generator) for shape in ((7, 4), (4, 9), (9, 3)))
    layers = two_layers(inputs, wide, narrow)
    torch.testing.assert_close(layers.linear, layers.at_once)
    torch.testing.assert_close(layers.with_relu, inputs.matmul(wide).clamp(min=0) @ narrow)


def test_a_residual_connection_carries_the_gradient_through_any_number_of_layers() -> None:
    """The derivative of x + f(x) contains 1; that of f(f(x)) is a product, here of factors near 0.2."""
    depths = (1, 6, 24)
    added, replaced, bare = (
        gradients_through(depths, joint) for joint in ("added", "replaced", "replaced without norm")
    )
    assert all(1 < gradient < 2 for gradient in added)
    assert all(gradient < 0.5 for gradient in replaced)
    assert bare[2] < 1e-12 and bare[2] == pytest.approx(bare[0] ** 24, rel=100)  # within two powers of ten


def test_random_numbers_drawn_elsewhere_change_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another thread draws some while the layers are made."""
    depths, make_norm = (1, 2), parts.make_norm
    alone = gradients_through.__wrapped__(depths, "added")
    monkeypatch.setattr(parts, "make_norm", lambda config: (torch.rand(3), make_norm(config))[1])
    assert gradients_through.__wrapped__(depths, "added") == alone


@pytest.mark.parametrize(("width", "heads"), [(512, 8), (768, 12)])
def test_a_layer_has_the_parameters_of_pytorchs(width: int, heads: int) -> None:
    """../shared/REFERENCE.md, "Models": the paper's base model has d_model 512, 8 heads and d_ff 2048."""
    with torch.device("meta"):
        reference = nn.TransformerEncoderLayer(width, heads, 4 * width)
    size = layer_size(width)
    assert size.total == sum(parameter.numel() for parameter in reference.parameters())
    assert size.attention == sum(parameter.numel() for parameter in reference.self_attn.parameters())
