"""One training step of the small transformer: teacher forcing, the loss, its gradients, and Adam's update.

Nothing is kept between two requests: the steps before the one that is shown are repeated from the initial weights.

Shapes: T positions of the decoder, V words, P weights of the whole model. Adam treats all numbers alike, so it gets all
of them as one long vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from lesson.block import BlockSettings, make_model
from model.transformer.encoder_decoder import EncoderDecoder

MAX_STEPS = 100  # half a second
MAX_RATE = 1.0
BETAS, EPSILON = (0.9, 0.999), 1e-8  # the values in Adam's paper

# The matrices that a person may look at, by their names in the model; all gradients are computed and applied.
MATRICES: Mapping[str, str] = MappingProxyType(
    {
        "embedding": "embedding.weight",
        "encoder attention in": "encoder_blocks.0.attention.qkv_proj.weight",
        "encoder attention out": "encoder_blocks.0.attention.o_proj.weight",
        "encoder W1": "encoder_blocks.0.feed_forward.up_proj.weight",
        "encoder W2": "encoder_blocks.0.feed_forward.down_proj.weight",
        "decoder attention in": "blocks.0.attention.qkv_proj.weight",
        "decoder attention out": "blocks.0.attention.o_proj.weight",
        "cross-attention queries": "blocks.0.cross.q_proj.weight",
        "cross-attention keys, values": "blocks.0.cross.kv_proj.weight",
        "cross-attention out": "blocks.0.cross.o_proj.weight",
        "decoder W1": "blocks.0.feed_forward.up_proj.weight",
        "decoder W2": "blocks.0.feed_forward.down_proj.weight",
    }
)


@dataclass(frozen=True, slots=True)
class StepSettings:
    """What is learned, how fast, and the matrix to look at."""

    block: BlockSettings = field(default_factory=BlockSettings)  # its encoder_mask is only for the forward trace
    learning_rate: float = 0.01
    step: int = 1  # the one that is shown, from 1 to MAX_STEPS
    matrix: str = "decoder W2"


@dataclass(frozen=True, slots=True)
class Position:
    """One position under teacher forcing: the model reads the true words so far, not its own predictions."""

    read: tuple[int, ...]  # ids
    target: int
    probabilities: Tensor  # (V,), for the next word
    loss: float  # -log of the target's probability, in nats


@dataclass(frozen=True, slots=True)
class Moments:
    """Adam's running means of a gradient and of its square, in the gradient's shape; zero before the first step."""

    first: Tensor
    second: Tensor


@dataclass(frozen=True, slots=True)
class Update:
    """What one step does to one matrix, written as on paper: a row for each input."""

    before: Tensor
    gradient: Tensor
    first_before: Tensor  # of Adam's moments
    first: Tensor
    second_before: Tensor
    second: Tensor
    change: Tensor  # what is added to the matrix
    after: Tensor


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """One step, and the losses of those before it."""

    positions: tuple[Position, ...]  # before the step
    losses: tuple[float, ...]  # before the first step, and after each up to this one
    norms: Mapping[str, float]  # the norm of each matrix's gradient
    norm: float  # that of all gradients together, vectors included
    update: Update


def train(settings: StepSettings) -> TrainingStep:
    """Repeat the steps up to `settings.step`, and return the details of that one."""
    model, rate = make_model(settings.block), settings.learning_rate
    weights = parameters_to_vector(model.parameters()).detach()  # (P,)
    moments, losses = Moments(torch.zeros_like(weights), torch.zeros_like(weights)), []
    for number in range(1, settings.step):
        loss, gradient = _gradient(model, settings.block)
        change, moments = adam(gradient, moments, number, rate)
        weights = _put(model, weights + change)
        losses.append(loss)

    positions = teacher_forcing(model, settings.block)
    loss, gradient = _gradient(model, settings.block)
    change, after = adam(gradient, moments, settings.step, rate)
    moved = _put(model, weights + change)
    parts = (weights, gradient, moments.first, after.first, moments.second, after.second, change, moved)  # (P,) each
    return TrainingStep(
        positions,
        (*losses, loss, _loss(model, settings.block).item()),
        {matrix: float(_on_paper(model, matrix, gradient).norm()) for matrix in MATRICES},
        float(gradient.norm()),
        Update(*(_on_paper(model, settings.matrix, part) for part in parts)),
    )


@torch.no_grad()
def teacher_forcing(model: EncoderDecoder, block: BlockSettings) -> tuple[Position, ...]:
    """Every position of the decoder in one pass: the look-ahead mask hides from each what comes after it."""
    logits = _logits(model, block)  # (T, V)
    losses = functional.cross_entropy(logits, torch.tensor(block.answer), reduction="none")  # (T,)
    probabilities = logits.softmax(-1)  # (T, V)
    return tuple(
        Position(block.decoder_input[: index + 1], target, probabilities[index], float(losses[index]))
        for index, target in enumerate(block.answer)
    )


def adam(gradient: Tensor, moments: Moments, number: int, learning_rate: float) -> tuple[Tensor, Moments]:
    """Adam (Kingma and Ba, 2015, algorithm 1): what to add to the weights, and the new moments.

    Args:
        number: the number of the step, from 1. Both means begin at zero, which a division corrects.
    """
    (beta1, beta2), (first, second) = BETAS, (moments.first, moments.second)
    first = beta1 * first + (1 - beta1) * gradient
    second = beta2 * second + (1 - beta2) * gradient**2
    mean, square = first / (1 - beta1**number), second / (1 - beta2**number)
    return -learning_rate * mean / (square.sqrt() + EPSILON), Moments(first, second)


def _logits(model: EncoderDecoder, block: BlockSettings) -> Tensor:
    return model(torch.tensor([block.source]), torch.tensor([block.decoder_input]))[0]  # (T, V)


def _loss(model: EncoderDecoder, block: BlockSettings) -> Tensor:
    return functional.cross_entropy(_logits(model, block), torch.tensor(block.answer))


def _gradient(model: EncoderDecoder, block: BlockSettings) -> tuple[float, Tensor]:
    """The mean loss, and its gradient for all weights, (P,)."""
    with torch.enable_grad():
        loss = _loss(model, block)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
    return loss.item(), parameters_to_vector(gradients)


def _put(model: EncoderDecoder, weights: Tensor) -> Tensor:
    """Give the model these weights, (P,)."""
    vector_to_parameters(weights, model.parameters())
    return weights


def _on_paper(model: EncoderDecoder, matrix: str, vector: Tensor) -> Tensor:
    """A matrix's part of a vector of all weights (P,), as it is multiplied on paper, x W: (in, out), where a linear
    layer keeps (out, in). The embedding has a row for each word."""
    named = dict(model.named_parameters())
    parts = vector.split([parameter.numel() for parameter in named.values()])
    name = MATRICES[matrix]
    values = dict(zip(named, parts, strict=True))[name].view_as(named[name])
    return values if matrix == "embedding" else values.T
