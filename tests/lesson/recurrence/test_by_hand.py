"""Why attention, by hand: a GRU as PyTorch's, and the two ways to score a state."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import nn

from lesson.attention.weighted_sum import word_vectors
from lesson.recurrence.by_hand import GruWeights, by_dot_product, by_small_network, gru_step, read_and_write
from model.recurrent.network import Recurrent, RecurrentConfig

WIDTH = 4
SAME = 1e-6


def pytorch_cell(weights: GruWeights) -> nn.GRUCell:
    cell = nn.GRUCell(WIDTH, WIDTH)
    named = (weights.input, weights.hidden, weights.input_bias, weights.hidden_bias)
    cell.load_state_dict(dict(zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), named, strict=True)))
    return cell


def test_a_step_is_that_of_pytorchs_cell() -> None:
    weights, cell = GruWeights.random(WIDTH, 0), pytorch_cell(GruWeights.random(WIDTH, 0))
    for seed in range(5):
        word, before = torch.randn(2, WIDTH, generator=torch.Generator().manual_seed(seed))
        step = gru_step(weights, word, before)
        torch.testing.assert_close(step.after, cell(word, before), atol=SAME, rtol=0)
        assert ((step.reset > 0) & (step.reset < 1) & (step.update > 0) & (step.update < 1)).all()


def test_the_decoder_gets_the_encoders_last_state_and_nothing_else() -> None:
    source, target = ["je", "suis", "étudiant"], ["I", "am", "a", "student"]
    steps = read_and_write(source, target, WIDTH)
    state = torch.zeros(WIDTH)
    for seed, words in enumerate((source, target)):
        cell = pytorch_cell(GruWeights.random(WIDTH, seed))
        for word in word_vectors(words, WIDTH):
            state = cell(word, state)
    torch.testing.assert_close(steps[-1].after, state, atol=SAME, rtol=0)
    assert len(steps) == 7 and not steps[0].before.any()
    assert all(torch.equal(step.before, last.after) for last, step in itertools.pairwise(steps))


def test_scores_become_weights_and_a_context_vector() -> None:
    """Two states whose dot products with the query differ by ln 3: the weights are 3/4 and 1/4."""
    query, states = torch.tensor([1.0, 0.0]), torch.tensor([[math.log(3.0), 4.0], [0.0, 8.0]])
    mixture = by_dot_product(query, states).mixture
    assert mixture.weights.tolist() == pytest.approx([0.75, 0.25])
    assert mixture.vector.tolist() == pytest.approx([0.75 * math.log(3.0), 5.0])


def test_the_additive_score_is_bahdanaus() -> None:
    """v · tanh(W s + U h), state by state: section 3.1 and appendix A.1.2 of the paper."""
    generator = torch.Generator().manual_seed(3)
    query, score_weights = torch.randn(2, generator=generator), torch.randn(3, generator=generator)
    states, query_weights, state_weights = (torch.randn(rows, 2, generator=generator) for rows in (5, 3, 3))
    additive = by_small_network(query, states, query_weights, state_weights, score_weights)
    slow = [float(score_weights @ (query_weights @ query + state_weights @ state).tanh()) for state in states]
    assert additive.scores.tolist() == pytest.approx(slow, abs=SAME)
    assert additive.mixture.vector.tolist() == pytest.approx((additive.scores.softmax(dim=0) @ states).tolist())


def test_the_trained_kind_of_network_scores_the_same_way() -> None:
    """The alignment that a model reports is the one its own states and weights give by hand."""
    torch.manual_seed(0)
    model = Recurrent(RecurrentConfig(30, 4, attention=True)).eval().requires_grad_(False)
    model.query_proj.bias.zero_()
    source = [3, 5, 7]
    forward = model.prefill(source)
    inspected = model.inspect([*model.decoder_start, 4], source=source).attention.cross
    assert inspected is not None
    states = forward.cache.source.states[0]  # (S, 2W)
    for_second = by_small_network(
        forward.cache.state[0], states, model.query_proj.weight, model.key_proj.weight, model.score.weight[0]
    )
    torch.testing.assert_close(for_second.mixture.weights, inspected[0, 0, 0, 1], atol=SAME, rtol=0)
