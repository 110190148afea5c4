"""Queries, keys and values by hand: PyTorch's own attention, the lectures' masks, and a dictionary as the limit."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from lesson.attention.by_hand import additive_mask, attention_steps, dot_spread, head_steps, soft_lookup

# The lectures' numbers are those of ../shared/REFERENCE.md, "Attention, by hand".


def random(*shapes: tuple[int, int], seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def test_the_steps_end_where_pytorchs_attention_does() -> None:
    """Four words ask three, as in cross-attention."""
    queries, keys, values = random((4, 2), (3, 2), (3, 2), seed=5)
    steps = attention_steps(queries, keys, values)
    torch.testing.assert_close(
        steps.output, functional.scaled_dot_product_attention(queries[None], keys[None], values[None])[0]
    )
    products = [q * k for q, k in zip(queries[1].tolist(), keys[2].tolist(), strict=True)]
    assert steps.scores[1, 2].item() == pytest.approx(sum(products))
    torch.testing.assert_close(steps.scaled, steps.scores / math.sqrt(2))
    torch.testing.assert_close(steps.weights, steps.scaled.softmax(dim=-1))
    assert steps.weights.shape == (4, 3)


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_heads_are_those_of_pytorchs_module(heads: int) -> None:
    inputs, joint, output = random((5, 6), (18, 6), (6, 6), seed=heads)
    module = nn.MultiheadAttention(6, heads, bias=False)
    with torch.no_grad():
        module.in_proj_weight.copy_(joint)
        module.out_proj.weight.copy_(output.T)
        vectors, weights = module(inputs, inputs, inputs, average_attn_weights=False)
    steps = head_steps(attention_steps(*(inputs @ part.T for part in joint.chunk(3))), heads, output)
    torch.testing.assert_close(steps.output, vectors)
    torch.testing.assert_close(steps.weights, weights)
    torch.testing.assert_close(steps.joined[:, : 6 // heads], steps.mixed[0])


def test_the_mask_is_added_and_hides_what_is_ahead() -> None:
    rows = [[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.3, 0.6, 0.1], [0.1, 0.3, 0.3, 0.3]]
    printed = [[1, 0, 0, 0], [0.37, 0.62, 0, 0], [0.26, 0.3, 0.43, 0], [0.21, 0.26, 0.26, 0.26]]  # two decimals, cut
    weights = (torch.tensor(rows) + additive_mask(4, "later words")).softmax(dim=-1)
    assert ((weights * 100).floor() / 100 - torch.tensor(printed)).abs().max() < 0.0101
    # The lecture's third row differs: e^.1 = 1.105, e^.3 = 1.350 and e^.6 = 1.822 make 4.277, so the shares are .258,
    # .316 and .426. It rounds the first and the last up, and its .3 is neither .31 nor .32: its row makes .99.
    assert weights[2].tolist() == pytest.approx([0.2584, 0.3156, 0.4260, 0], abs=5e-5)
    assert weights.sum(dim=-1).tolist() == pytest.approx([1, 1, 1, 1])


def test_masks_are_those_of_pytorch() -> None:
    """Its kernel divides scores by the root of the width, here 2, and an identity as values makes it return weights."""
    (scores,), eye = random((4, 4), seed=7), torch.eye(4)
    causal = functional.scaled_dot_product_attention(2 * scores, eye, eye, is_causal=True)
    torch.testing.assert_close((scores + additive_mask(4, "later words")).softmax(dim=-1), causal)
    torch.testing.assert_close(additive_mask(4, "later words"), nn.Transformer.generate_square_subsequent_mask(4))
    three = (scores + additive_mask(4, "padding")).softmax(dim=-1)
    torch.testing.assert_close(three[:, :3], scores[:, :3].softmax(dim=-1))
    assert not three[:, 3].any() and not additive_mask(4, "none").any()


def test_a_lookup_is_an_average_at_first_and_a_dictionary_in_the_end() -> None:
    keys = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    values = torch.tensor([[2.0, 4.0], [6.0, 0.0], [4.0, 2.0]])
    query = torch.tensor([2.0, 0.0])
    assert soft_lookup(query, keys, values, 0)[1].tolist() == pytest.approx([4, 2])  # the mean of the values
    weights, value = soft_lookup(query, keys, values, 50)
    assert weights.argmax() == 0 and value.tolist() == pytest.approx([2, 4])


def test_dot_products_grow_like_the_root_of_the_width() -> None:
    """The variance of a product of two independent standard normal numbers is 1, so that of the sum is the width; of
    10,000 samples (seed 0) a standard deviation is off by less than 3 %."""
    widths = (4, 16, 64, 256)
    spread = dot_spread(widths, samples=10_000, seed=0)
    assert spread == pytest.approx([math.sqrt(width) for width in widths], rel=0.03)
