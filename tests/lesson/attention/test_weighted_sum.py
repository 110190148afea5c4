"""Attention by hand: the numbers of published lectures, and independence of word order."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from lesson.attention.weighted_sum import by_division, by_softmax, scale_scores, self_attention, word_vectors

# The expected numbers are those of the lectures that ../shared/REFERENCE.md retells ("Attention, by hand").


def test_similarities_become_weights_by_division_not_by_softmax() -> None:
    vectors = torch.tensor([[5.0, 7.0], [0.0, 8.0]])
    fruit = by_division(torch.tensor([1.0, 0.25]), vectors)
    assert fruit.weights.tolist() == pytest.approx([0.8, 0.2])
    assert fruit.vector.tolist() == pytest.approx([4.0, 7.2])
    phone = by_division(torch.tensor([1.0, 1 / 9]), torch.tensor([[5.0, 7.0], [6.0, 0.0]]))  # printed as .11
    assert phone.weights.tolist() == pytest.approx([0.9, 0.1])
    assert phone.vector.tolist() == pytest.approx([5.1, 6.3])
    share = 1 / (1 + math.exp(0.25 - 1))  # softmax of two numbers
    assert by_softmax(torch.tensor([1.0, 0.25]), vectors).weights.tolist() == pytest.approx([share, 1 - share])


def test_scores_are_divided_by_the_root_of_the_width() -> None:
    scores = scale_scores(torch.tensor([112.0, 96.0]), 64)
    assert scores.scaled.tolist() == [14, 12]
    assert scores.weights.tolist() == pytest.approx([0.88, 0.12], abs=0.005)
    assert scores.unscaled[0].item() == pytest.approx(1, abs=2e-7)  # e^-16


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
