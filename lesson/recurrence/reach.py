"""How far back a reader's last vector reaches: gradient by distance, what it notices of a distant word, and time.

A reader is the encoder of a translator: of a recurrent one its forward direction, which reads from left to right and
whose last state is handed on; of a transformer all of it.

Shapes: R rows, T tokens, W width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lesson.parts.random_weights import DrawnFrom
from lesson.today import quickest
from model.errors import AttendError
from model.loaded import LoadedModel
from model.recurrent.network import Recurrent, RecurrentConfig
from model.transformer.attention import ForwardContext
from model.transformer.encoder_decoder import EncoderDecoder

_PROBES, _SEED = 32, 0
Reader = Recurrent | EncoderDecoder


def untrained(config: RecurrentConfig, seed: int) -> Recurrent:
    """A recurrent translator as its training began, with PyTorch's random weights."""
    with DrawnFrom(torch.Generator().manual_seed(seed)):
        return Recurrent(config).eval().requires_grad_(False)


def is_differentiable(model: Reader) -> bool:
    """Whether its weights are in single precision; those that are packed in fewer bits have no gradients."""
    return isinstance(model, Recurrent) or any(weights.dim() == 2 for weights in model.encoder_blocks.parameters())


def gradient_by_distance(model: Reader, tokens: Sequence[int]) -> Tensor:
    """How much the last token's vector changes with the input vector of each, the last first, (T,): the norm of the
    matrix of derivatives, estimated from random combinations of its rows (Hutchinson's estimator)."""
    inputs = input_vectors(model, tokens)  # (T, W)
    signs = torch.randint(0, 2, (_PROBES, inputs.shape[1]), generator=torch.Generator().manual_seed(_SEED)) * 2.0 - 1
    return gradient_norms(model, inputs, signs / _PROBES**0.5).flip(0)


def gradient_norms(model: Reader, inputs: Tensor, probes: Tensor) -> Tensor:
    """The norm of probes · derivatives for each token (T,); exact where the probes (R, W) are an identity matrix."""
    with torch.enable_grad():
        rows = inputs.expand(len(probes), -1, -1).clone().requires_grad_()  # (R, T, W)
        last = read(model, rows)[:, -1]  # (R, W)
        (gradient,) = torch.autograd.grad((last * probes.to(last)).sum(), rows)  # (R, T, W)
    return gradient.square().sum(dim=(0, 2)).sqrt().float().cpu()


def changes(model: Reader, one: Sequence[int], other: Sequence[int]) -> float:
    """How much the vector of the last token differs between two texts, as a share of its length.

    Raises `AttendError` if the texts have different numbers of tokens: positions would differ, too.
    """
    if len(one) != len(other):
        raise AttendError(
            f"The two words take {len(one)} and {len(other)} tokens with the rest, but must take equally many: "
            "choose another word."
        )
    with torch.no_grad():
        first, second = (read(model, input_vectors(model, tokens)[None])[0, -1] for tokens in (one, other))  # (W,)
        return float((first - second).norm() / first.norm())


def input_vectors(model: Reader, tokens: Sequence[int]) -> Tensor:
    """What the encoder is given for each token, (T, W)."""
    with torch.no_grad():
        ids = torch.tensor([list(tokens)], device=next(model.parameters()).device)  # (1, T)
        if isinstance(model, EncoderDecoder):
            return model.embed(ids)[0][0]  # (T, W)
        return model.embedding(ids)[0] * model.config.width**0.5  # (T, W)


def read(model: Reader, inputs: Tensor) -> Tensor:
    """What the reader makes of input vectors, (R, T, W) both."""
    if isinstance(model, Recurrent):
        return model.encoder(inputs)[0][..., : model.config.width]  # (R, T, W): the forward direction
    rows, length, _ = inputs.shape
    context = ForwardContext(rows, causal=False)
    hidden = inputs.flatten(0, 1)  # (R * T, W)
    for layer, block in enumerate(model.encoder_blocks):
        hidden, _ = block(hidden, layer, context)
    return model.encoder_norm(hidden).view(rows, length, -1)  # (R, T, W)


def time_reading(loaded: LoadedModel, lengths: Sequence[int], *, tries: int = 5) -> list[float]:
    """The seconds that a translator takes to read texts of these lengths and to begin its answer: the quickest of a few
    tries, now and on this machine, on texts of one repeated token; others use the model between two passes."""
    model: Any = loaded.model
    return [quickest(loaded, lambda length=length: model.prefill([1] * length), tries) for length in lengths]
