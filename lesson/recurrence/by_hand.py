"""Why attention: a recurrent encoder-decoder step by step, and how Bahdanau's attention scores what it has read.

The small network has random weights and shows what is passed on, not what is learned; for trained ones see
`lesson/recurrence/translation.py`.

Shapes: S states, W width, A width of the scores' hidden layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lesson.attention.weighted_sum import Mixture, by_softmax, word_vectors
from model.recurrent.network import additive_scores


@dataclass(frozen=True, slots=True)
class GruWeights:
    """The weights of one GRU cell, laid out as in `torch.nn.GRUCell`: rows of the reset gate, of the update gate and of
    the candidate."""

    input: Tensor  # (3W, W)
    hidden: Tensor  # (3W, W)
    input_bias: Tensor  # (3W,)
    hidden_bias: Tensor  # (3W,)

    @classmethod
    def random(cls, width: int, seed: int) -> GruWeights:
        """Standard normal weights, larger than at the start of a training, so that gates open and close."""
        generator = torch.Generator().manual_seed(seed)
        shapes = ((3 * width, width), (3 * width, width), (3 * width,), (3 * width,))
        return cls(*(torch.randn(shape, generator=generator) for shape in shapes))


@dataclass(frozen=True, slots=True)
class GruStep:
    """One step of a GRU; every tensor is (W,)."""

    word: Tensor  # its vector
    before: Tensor  # the state
    reset: Tensor  # 0 to 1
    update: Tensor  # 0 to 1
    candidate: Tensor
    after: Tensor  # the new state


def gru_step(weights: GruWeights, word: Tensor, before: Tensor) -> GruStep:
    """A GRU (Cho et al., 2014), gate by gate, in the form of `torch.nn.GRUCell`: there the reset gate is applied after
    the matrix product, in the paper before it."""
    inputs = (weights.input @ word + weights.input_bias).chunk(3)  # (W,) each
    hidden = (weights.hidden @ before + weights.hidden_bias).chunk(3)  # (W,) each
    reset, update = (inputs[0] + hidden[0]).sigmoid(), (inputs[1] + hidden[1]).sigmoid()
    candidate = (inputs[2] + reset * hidden[2]).tanh()
    return GruStep(word, before, reset, update, candidate, (1 - update) * candidate + update * before)


def read_and_write(source: Sequence[str], target: Sequence[str], width: int) -> list[GruStep]:
    """One GRU reads the source; another begins with its last state and reads the target, as in training.

    Returns:
        A step for each word of the source, then one for each of the target.
    """
    steps: list[GruStep] = []
    state = torch.zeros(width)
    for seed, words in enumerate((source, target)):
        weights = GruWeights.random(width, seed)
        for vector in word_vectors(list(words), width):
            steps.append(gru_step(weights, vector, state))
            state = steps[-1].after
    return steps


@dataclass(frozen=True, slots=True)
class ScoredStates:
    """The encoder's states, scored by one step of the decoder."""

    scores: Tensor  # (S,)
    mixture: Mixture  # the weights, and the context vector


def by_dot_product(query: Tensor, states: Tensor) -> ScoredStates:
    """Scores query · state (Luong et al., 2015); query (W,), states (S, W)."""
    return _scored(states @ query, states)


def by_small_network(
    query: Tensor, states: Tensor, query_weights: Tensor, state_weights: Tensor, score_weights: Tensor
) -> ScoredStates:
    """Scores v · tanh(W query + U state) (Bahdanau et al., 2015), by the trained model's own function.

    Args:
        query: the decoder's state, (W,).
        states: the encoder's states, (S, W).
        query_weights: W, (A, W).
        state_weights: U, (A, W).
        score_weights: v, (A,).
    """
    queries, keys = (query_weights @ query)[None], (states @ state_weights.t())[None]  # (1, A), (1, S, A)
    return _scored(additive_scores(queries, keys, score_weights)[0], states)


def _scored(scores: Tensor, states: Tensor) -> ScoredStates:
    return ScoredStates(scores, by_softmax(scores, states))
