"""Parts of large models of today, by hand: a mixture of experts, four ways to keep keys and values, weights in 8 bits.

Shapes: E experts, I inputs of a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.compiled.quantized import QuantizedMatrix, dequantize


@dataclass(frozen=True, slots=True)
class Routing:
    """One token on its way through a mixture of experts."""

    weights: Tensor  # (E,), 0 for the experts that aren't used
    output: float  # the weighted sum of what the used ones say


def route(scores: Sequence[float], outputs: Sequence[float], used: int) -> Routing:
    """Softmax over the `used` highest scores alone (Jiang et al., 2024, section 2.1).

    Args:
        outputs: what each expert would say, one number instead of a vector.
    """
    top = torch.tensor(scores, dtype=torch.float64).topk(used)
    weights = torch.zeros(len(scores), dtype=torch.float64).scatter(0, top.indices, top.values.softmax(dim=0))  # (E,)
    return Routing(weights, (weights @ torch.tensor(outputs, dtype=torch.float64)).item())


@dataclass(frozen=True, slots=True)
class MixtureShape:
    """A decoder whose feed-forward layers are mixtures of experts with SwiGLU; without biases, embeddings not tied."""

    width: int
    layers: int
    heads: int
    key_value_heads: int
    head_width: int
    inner: int  # width of each expert
    experts: int
    used: int  # experts per token
    vocabulary: int

    def parameters(self, experts: int) -> int:
        """How many there are with so many experts in each layer: all, or those that one token passes through."""
        attention = 2 * self.width * self.head_width * (self.heads + self.key_value_heads)
        layer = attention + experts * 3 * self.width * self.inner + self.width * self.experts + 2 * self.width
        return self.layers * layer + 2 * self.vocabulary * self.width + self.width


# Mixtral 8x7B (Jiang et al., 2024, table 1)
MIXTRAL = MixtureShape(
    width=4096,
    layers=32,
    heads=32,
    key_value_heads=8,
    head_width=128,
    inner=14_336,
    experts=8,
    used=2,
    vocabulary=32_000,
)


def cache_kinds(*, heads: int, head_width: int, groups: int, latent: int, rotary: int) -> dict[str, int]:
    """Four caches for the same query heads, and how many numbers each keeps for a token in a layer.

    Args:
        groups: heads of keys and values that groups of query heads share.
        latent: the width of the vector from which keys and values are computed again, of multi-head latent attention.
        rotary: the width of the part of a key that has its position, which latent attention keeps beside it.
    """
    return {
        "a key and a value for each head": 2 * heads * head_width,
        f"{groups} shared by groups of heads": 2 * groups * head_width,
        "one shared by all heads": 2 * head_width,
        "one latent vector": latent + rotary,
    }


DEEPSEEK_LAYERS = 60
# DeepSeek-V2 (2024, sections 2.1 and 3.1.2); the paper compares its cache with that of 8 groups, too
DEEPSEEK = {"heads": 128, "head_width": 128, "groups": 8, "latent": 512, "rotary": 64}


@dataclass(frozen=True, slots=True)
class RoundedWeights:
    """A group of weights in 8 bits; (I,) each."""

    codes: Tensor  # whole numbers from −127 to 127
    scale: float  # what a code of 1 stands for
    restored: Tensor  # codes times the scale


def round_weights(weights: Sequence[float]) -> RoundedWeights:
    """At most 32 weights of one output, as the compiled models of this page keep them."""
    matrix = QuantizedMatrix.of(torch.tensor(weights)[None, None], np.zeros((1, 0), dtype=np.float32))
    codes = torch.from_numpy(matrix.codes[0, 0, 0, :, 0])  # (I,)
    return RoundedWeights(codes, float(matrix.scale[0, 0, 0, 0]), dequantize(matrix, 0)[0])
