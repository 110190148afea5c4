"""Attention by hand: PyTorch's own module, and independence of word order."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from lesson.attention.weighted_sum import self_attention, word_vectors


def test_self_attention_is_pytorchs_module_where_it_has_no_weights() -> None:
    words = ["the", "dog", "bites", "the", "man"]
    module = nn.MultiheadAttention(6, num_heads=1, bias=False)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(6).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(6))
        vectors, _ = module(*[word_vectors(words, 6)] * 3)
    torch.testing.assert_close(self_attention(words, 6, positions=False), vectors)


@pytest.mark.parametrize("order", [[4, 3, 2, 1, 0], [1, 2, 3, 4, 0], [0, 2, 1, 3, 4]])
def test_attention_alone_cannot_see_order_and_with_positions_it_can(order: list[int]) -> None:
    words = ["the", "dog", "bites", "a", "man"]
    shuffled = [words[index] for index in order]
    plain, moved = self_attention(words, 6, positions=False), self_attention(shuffled, 6, positions=False)
    assert (moved - plain[order]).abs().max() < 1e-6
    result, other = self_attention(words, 6, positions=True), self_attention(shuffled, 6, positions=True)
    assert (other - result[order]).abs().max() > 0.1


def test_one_word_is_one_vector_wherever_it_stands_and_another_is_another_however_it_begins() -> None:
    attended = self_attention(["the", "dog", "bites", "the", "man"], 6, positions=False)
    assert torch.equal(attended[0], attended[3])
    twin = self_attention(["man", "the", "bites", "the", "dog"], 6, positions=False)
    assert (twin[0] - attended[4]).abs().max() < 1e-6
    computer, computed, again = word_vectors(["computer", "computed", "computer"], 6)
    assert torch.equal(computer, again) and not torch.equal(computer, computed)
