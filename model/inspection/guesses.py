"""The likeliest token after many residual streams at once, which is nearly all of the logit lens' time.

The product with the unembedding is taken for some tokens of the vocabulary at a time, so that its logits are reduced
while they are in the processor's cache, and never stored. All processors take part.

Shapes: N streams, W model width, V vocabulary.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import torch
from torch import Tensor, nn

from model.inspection.anatomy import WHOLE, Anatomy
from model.threads import available_processors

_STREAMS, _PART = 1024, 1024  # streams of one product, and tokens of the vocabulary
_STREAMS_OF_WHOLE = 128  # where the product can't be divided


class Guesses(NamedTuple):
    """What streams would predict if each were the last, (N,) each."""

    top: Tensor  # the likeliest token
    top_probability: Tensor
    chosen: Tensor  # the probability of the token that was asked for


def read_streams(anatomy: Anatomy, streams: Tensor, chosen: Tensor, vocabulary_size: int) -> Guesses:
    """The guesses of streams (N, W), and the probability that each gives to its token of `chosen`, (N,)."""
    head = anatomy.unembedding
    divides = isinstance(head, nn.Linear) and head.weight.device.type == "cpu"
    parts = [slice(first, first + _PART) for first in range(0, vocabulary_size, _PART)] if divides else [WHOLE]
    workers = max(1, available_processors() // torch.get_num_threads()) if divides else 1
    size = min(_STREAMS, math.ceil(len(streams) / workers)) if divides else _STREAMS_OF_WHOLE

    def read(some: tuple[Tensor, Tensor]) -> Guesses:
        return _read(anatomy, *some, parts)

    with ThreadPoolExecutor(workers) as pool:
        guesses = [*pool.map(read, zip(streams.split(size), chosen.split(size), strict=True))]
    return Guesses(*(torch.cat(values) for values in zip(*guesses, strict=True)))


@torch.inference_mode()  # here, since it holds for one thread alone
def _read(anatomy: Anatomy, streams: Tensor, chosen: Tensor, parts: list[slice]) -> Guesses:
    """Compute the softmax in one pass: the sum so far is rescaled whenever a likelier token comes."""
    normed = anatomy.final_norm(streams)  # (N, W)
    top, own = torch.zeros_like(chosen), streams.new_zeros(len(streams), dtype=torch.float32)  # (N,) each
    best, total = torch.full_like(own, -torch.inf), torch.zeros_like(own)
    for part in parts:
        logits = anatomy.unembed(normed, part).float()  # (N, V of this part)
        first, values = part.start or 0, logits.amax(dim=-1)
        rises = (values > best).nonzero()[:, 0]  # ever fewer: to find an index takes ten times as long as a maximum
        top[rises] = logits[rises].argmax(dim=-1) + first
        at = chosen - first
        inside = (at >= 0) & (at < logits.shape[-1])
        own = torch.where(inside, logits.gather(-1, at.clamp(0, logits.shape[-1] - 1)[:, None])[:, 0], own)
        highest = torch.maximum(best, values)
        total = total * (best - highest).exp() + logits.sub_(highest[:, None]).exp_().sum(dim=-1)
        best = highest
    return Guesses(top, 1 / total, (own - best).exp() / total)
