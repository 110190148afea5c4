"""Decoding by contrasting layers (DoLa, Chuang et al. 2023): what the model's upper layers added is what counts.

The last layer's log-probabilities less those that a layer below it would have given, among the tokens that the last one
finds plausible. Of several layers, each token takes the one whose distribution is farthest from the last's by their
Jensen-Shannon divergence. With one layer named there is nothing to choose: plain self-contrast.

The layers "low" and "high", their numbers (0 is the embeddings) and the filter of a tenth are those of transformers'
`dola` (where the embeddings are tied). Two things differ from its code, and can lead to another layer: a layer is read
through the model's final norm, as the logit lens does, and the divergence is the paper's, while there its two halves
are taken the other way round. As there, a temperature draws from the contrast; at 0 its top is taken, as in the paper.

Shapes: L candidate layers, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from decoding.parameter import SettingError
from decoding.processors import Context
from decoding.step import LayerContrast
from decoding.strategy import usable_logits
from model.errors import AttendError
from model.interface import Forward

RELATIVE_TOP = 0.1  # what is less probable than this times the most probable token is not plausible
MANY = 40  # layers from which on only the 20 nearest either end are candidates


@dataclass(frozen=True, slots=True)
class Contrast:
    """The stage of one token: log-probabilities less those of an earlier layer, where the token is plausible."""

    premature: Tensor  # (1, V) logits of that layer
    name: ClassVar[str] = "dola"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        mature = logits.log_softmax(dim=-1)
        least = mature.amax(dim=-1, keepdim=True) + math.log(RELATIVE_TOP)  # (1, 1)
        return (mature - self.premature.log_softmax(dim=-1)).masked_fill(mature < least, -math.inf)


@dataclass(frozen=True, slots=True)
class Dola:
    """Which layers one request contrasts the last with."""

    layers: tuple[int, ...]

    @classmethod
    def of(cls, asked: str | Sequence[int], layer_count: int) -> Self:
        """The layers meant by "low", "high" or their numbers, in a model of so many."""
        if layer_count == 0:
            raise AttendError(
                "This model does not tell what its single layers would say, which dola contrasts: choose another "
                "strategy or another model."
            )
        if not isinstance(asked, str):
            if max(asked) >= layer_count:
                raise SettingError(
                    f"dola_layers names layer {max(asked)}, but the layers below this model's last are 0 to "
                    f"{layer_count - 1}: choose from those.",
                    "dola_layers",
                )
            return cls(tuple(asked))
        part = 20 if layer_count > MANY else layer_count // 2
        if asked == "high":
            return cls(tuple(range(layer_count - 20 if layer_count > MANY else part, layer_count, 2)))
        # Not from the embeddings on: where they are tied, all they would predict is the token that was fed.
        first = min(2, layer_count // 2)
        return cls(tuple(range(first, part, 2)) or (first,))

    def contrast(self, forward: Forward[Any], generated: int) -> tuple[Contrast, LayerContrast]:
        """The stage for the one row of this pass, and what is told of it."""
        if forward.layer_logits is None:
            raise ValueError("the pass did not return the layers it was asked for")
        mature = usable_logits(forward.logits, generated)  # (1, V)
        premature = usable_logits(forward.layer_logits[0], generated)  # (L, V)
        divergences = jensen_shannon(mature, premature)
        farthest = max(range(len(divergences)), key=divergences.__getitem__)  # of equals the lowest layer
        told = LayerContrast(self.layers[farthest], tuple(zip(self.layers, divergences, strict=True)))
        return Contrast(premature[farthest : farthest + 1]), told


def jensen_shannon(one: Tensor, others: Tensor) -> list[float]:
    """How far each row's distribution is from that of `one`: 0 for the same, 1 where no token is possible in both.

    Args:
        one: logits (1, V).
        others: logits (L, V).

    Returns:
        L divergences in bits: the entropy of the mean distribution less the mean of the two entropies (Lin 1991).
    """
    first, second = one.double().softmax(dim=-1), others.double().softmax(dim=-1)
    mixed, *alone = (torch.special.entr(each).sum(dim=-1) for each in ((first + second) / 2, first, second))
    return ((mixed - (alone[0] + alone[1]) / 2) / math.log(2)).clamp(0, 1).tolist()
