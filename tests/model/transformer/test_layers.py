"""Positions, norms and attention against published numbers and slow, obvious twins."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.transformer.attention import SelfAttention, attend, attention_weights
from model.transformer.config import Activation, TransformerConfig
from model.transformer.layers import ACTIVATIONS, FeedForward, make_norm
from model.transformer.positions import rotary_tables, rotate, sinusoids


def one_head(rows: list[list[float]]) -> Tensor:
    return torch.tensor(rows)[None, None]  # (1, 1, T, D)


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


def test_softmax_of_scaled_scores_as_in_the_lecture() -> None:
    # Scores 112 and 96 over sqrt(64) are 14 and 12; softmax 0.88 and 0.12 (Alammar, The Illustrated Transformer).
    query = one_head([[112.0] + [0.0] * 63])
    keys = one_head([[1.0] + [0.0] * 63, [96 / 112] + [0.0] * 63])
    weights = attention_weights(query, keys, None)
    assert weights.flatten().tolist() == pytest.approx([0.88, 0.12], abs=0.005)


def test_look_ahead_mask_as_in_the_lecture() -> None:
    # ../shared/REFERENCE.md; the lecture cuts some of its two decimals and rounds others, hence the tolerance.
    scores = torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.3, 0.6, 0.1], [0.1, 0.3, 0.3, 0.3]])
    expected = torch.tensor([[1, 0, 0, 0], [0.37, 0.62, 0, 0], [0.26, 0.3, 0.43, 0], [0.21, 0.26, 0.26, 0.26]])
    eye = torch.eye(4)[None, None]  # identity keys make q k the query; its factor 2 undoes the division by sqrt(4)
    _, weights = attend(scores[None, None] * 2, eye, eye, attention_mask=None, causal=True, capture=4)
    assert weights is not None
    assert torch.allclose(weights[0, 0], expected, atol=0.016)


@pytest.mark.parametrize(
    ("shares", "values", "expected"),
    [
        # Serrano, "The Attention Mechanism in Large Language Models": "apple" in two sentences
        ((0.8, 0.2), [[5.0, 7.0], [0.0, 8.0]], [4.0, 7.2]),
        ((0.9, 0.1), [[5.0, 7.0], [6.0, 0.0]], [5.1, 6.3]),
        # ../shared/REFERENCE.md, cross-attention: "student" is made of je, suis, étudiant
        ((0.15, 0.05, 0.8), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [0.15, 0.05, 0.8]),
        # ../shared/REFERENCE.md: 0.7 of (0.8, 0.2), the rest of a zero
        ((0.7, 0.3), [[0.8, 0.2], [0.0, 0.0]], [0.56, 0.14]),
    ],
)
def test_weighted_sums_as_in_the_lectures(shares: tuple[float, ...], values: list[list[float]], expected: list) -> None:
    keys = torch.tensor(shares).log()[None, None, :, None]
    output, _ = attend(one_head([[1.0]]), keys, one_head(values), attention_mask=None, causal=False, capture=0)
    assert output.flatten().tolist() == pytest.approx(expected, abs=1e-5)


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


@pytest.mark.parametrize("length", [1, 7])
def test_capturing_changes_no_bit_of_the_output(length: int) -> None:
    torch.manual_seed(length)
    queries, keys, values = torch.randn(1, 4, length, 8), torch.randn(1, 2, 7, 8), torch.randn(1, 2, 7, 8)
    plain, nothing = attend(queries, keys, values, attention_mask=None, causal=length > 1, capture=0)
    captured, _ = attend(queries, keys, values, attention_mask=None, causal=length > 1, capture=1)
    assert nothing is None
    assert torch.equal(plain, captured)


def test_the_projections_hold_what_keras_multi_head_attention_does() -> None:
    # ../shared/REFERENCE.md: MultiHeadAttention(num_heads=3, key_dim=2) on width 16 has kernels (16, 3, 2) and biases
    # (3, 2), three times, then (3, 2, 16) and (16,).
    kinds = {"head_width": 2, "biases": "all", "feed_forward_width": 16, "layers": 1}
    config = TransformerConfig.from_dict({"vocabulary_size": 8, "width": 16, "heads": 3, "key_value_heads": 3, **kinds})
    attention = SelfAttention(config)
    into, out = attention.qkv_proj, attention.o_proj
    kernels = into.weight.T.reshape(16, 3, 3, 2).unbind(1)  # (16, 3 · 3 · 2) → queries, keys, values: (16, 3, 2)
    biases = into.bias.reshape(3, 3, 2).unbind(0)  # (3 · 3 · 2) → (3, 2) each
    shapes = [tuple(tensor.shape) for pair in zip(kernels, biases, strict=True) for tensor in pair]
    assert shapes == [(16, 3, 2), (3, 2)] * 3
    assert (tuple(out.weight.T.reshape(3, 2, 16).shape), tuple(out.bias.shape)) == ((3, 2, 16), (16,))


def test_sinusoids_as_in_the_lecture() -> None:
    # ../shared/REFERENCE.md, width 6: positions 0, 1, 2 (two decimals).
    expected = [[0, 1, 0, 1, 0, 1], [0.84, 0.54, 0.05, 1, 0, 1], [0.91, -0.42, 0.09, 1, 0, 1]]
    assert torch.allclose(sinusoids(3, 6), torch.tensor(expected), atol=0.006)


HOW_ARE_YOU = [[-0.25, 0.86, -1.38, -0.87, -0.22, 1.72], [-0.91, -0.66, 2.22, 0.52, 0.35, -0.20]]
HOW_ARE_YOU += [[-1.05, 1.28, 0.15, 0.23, 0.06, 0.43]]
PLACED = [[-0.25, 1.86, -1.38, 0.13, -0.22, 2.72], [-0.07, -0.12, 2.26, 1.52, 0.35, 0.80]]
PLACED += [[-0.15, 0.86, 0.24, 1.23, 0.06, 1.43]]
ADDED = [[-0.59, 1.99, -0.86, 0.38, 0.18, 3.10], [-0.41, 0.02, 2.79, 1.77, 0.76, 1.19]]
ADDED += [[-0.48, 0.99, 0.77, 1.48, 0.47, 1.81]]
UP = [[0.31, 0.20, -0.35, -0.07, -0.13, 0.23], [0.15, 0.34, -0.38, -0.29, -0.30, -0.28]]
UP += [[-0.28, 0.21, 0.17, -0.27, -0.07, 0.21], [-0.40, 0.10, -0.20, 0.14, -0.20, 0.19]]
UP += [[-0.33, 0.0, -0.08, -0.12, -0.12, 0.29], [0.30, -0.31, -0.23, 0.25, -0.39, -0.31]]
PROJECTED = [[1.20, -0.85, -0.39, 0.93, -0.70, -1.38], [-0.89, -0.40, 1.10, 0.47, 0.11, 0.31]]
PROJECTED += [[0.02, -0.81, 0.24, 0.99, -0.50, -0.89]]


def test_a_block_by_hand_from_the_embeddings_to_the_activation() -> None:
    """../shared/REFERENCE.md, "how are you" in width 6, as far as its weights are printed: embeddings and positions;
    then, behind an attention whose output weights are not, the norm and the first half of the feed-forward."""
    assert torch.allclose(torch.tensor(HOW_ARE_YOU) + sinusoids(3, 6), torch.tensor(PLACED), atol=0.011)

    sizes = {"vocabulary_size": 11, "width": 6, "heads": 1, "key_value_heads": 1, "feed_forward_width": 6, "layers": 1}
    kinds = {"positions": "sinusoidal", "norm": "layer", "norm_place": "after", "activation": "relu", "biases": "all"}
    config = TransformerConfig.from_dict({**sizes, **kinds})
    added, norm, feed_forward = torch.tensor(ADDED), make_norm(config), FeedForward(config)
    assert added.mean(-1).tolist() == pytest.approx([0.70, 1.02, 0.84], abs=0.005)
    assert added.std(-1, unbiased=False).tolist() == pytest.approx([1.41, 1.07, 0.74], abs=0.005)
    with torch.no_grad():
        feed_forward.up_proj.weight.copy_(torch.tensor(UP).T)
        feed_forward.up_proj.bias.copy_(torch.tensor([0.29, -0.19, 0.15, 0.38, -0.06, 0.0]))
        feed_forward.down_proj.weight.copy_(torch.eye(6))
        feed_forward.down_proj.bias.zero_()
        before = feed_forward.up_proj(norm(added))
        assert torch.allclose(before, torch.tensor(PROJECTED), atol=0.03)
        assert torch.equal(feed_forward(norm(added)), before.clamp(min=0))


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
    made = make_norm(TransformerConfig(vocabulary_size=8, width=16, norm=norm, norm_epsilon=0.1))
    torch.testing.assert_close(made(hidden), kind(16, eps=0.1)(hidden))


def test_rotary_is_llamas() -> None:
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    torch.manual_seed(1)
    cosines, sines = rotary_tables(7, 8, 10_000.0)
    heads = torch.randn(2, 7, 3, 8)
    ours = rotate(heads, cosines[None, :, None], sines[None, :, None])
    unsigned = torch.cat((-sines[:, :4], sines[:, 4:]), dim=-1)  # Llama negates the half of the heads instead
    reference, _ = apply_rotary_pos_emb(heads.transpose(1, 2), heads.transpose(1, 2), cosines[None], unsigned[None])
    assert torch.allclose(ours, reference.transpose(1, 2), atol=1e-6)
