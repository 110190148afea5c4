"""Decoding by contrasting layers (DoLa, Chuang et al. 2023) favours what the upper layers have added.

A token's score is its log-probability in the last layer minus the one that a lower layer would have given; only tokens
that the last layer finds plausible count. Of several candidate layers, each step uses the one whose distribution has
the largest Jensen-Shannon divergence from the last one's. If only one layer is named, it is used in every step.

The layers "low" and "high", their numbers (0 is the embeddings) and the filter of a tenth are those of transformers'
`dola` (where the embeddings are tied). Two things differ from its code, and can lead to another layer: a layer is read
through the model's final norm, as the logit lens does, and the divergence is the paper's, whose two halves
transformers takes the other way round. A temperature draws from the contrast, as in transformers; at 0 the top token is
taken, as in the paper.

Shapes: L candidate layers, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from decoding.parameters.list_parameter import Layers
from decoding.parameters.parameter import SettingError, Settings
from decoding.processors import PROCESSORS, Context
from decoding.request import Request
from decoding.step import LayerContrast, Step
from decoding.strategies.base import NUM_RETURN_SEQUENCES, StrategyOptions, StrategySpec, usable_logits
from decoding.strategies.sampling import Greedy, SamplingStrategy
from decoding.uniform import SEED
from model.errors import AttendError
from model.interface import Forward, Want
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

DOLA_LAYERS = Layers(
    name="dola_layers",
    label="DoLa layers",
    default="high",
    help="Which layers dola compares with the last one: every second layer of the lower (low) or upper (high) "
    "half, or layer numbers, where 0 is the embeddings. It contrasts the last layer with the one that differs"
    " most.",
    neutral=None,
    integer=True,
    maximum=1000,
    choices=("low", "high"),
)

RELATIVE_TOP = 0.1  # a token less probable than this times the most probable one is not plausible
MANY = 40  # with more layers than this, only the 20 nearest either end are candidates


@dataclass(frozen=True, slots=True)
class ContrastWithLayer:
    """The first stage of a step: log-probabilities minus those of an earlier layer, for plausible tokens only."""

    premature: Tensor  # (1, V), the logits of that layer
    name: ClassVar[str] = "dola"
    label: ClassVar[str] = "DoLa"

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        mature = logits.log_softmax(dim=-1)
        least = mature.amax(dim=-1, keepdim=True) + math.log(RELATIVE_TOP)  # (1, 1)
        return (mature - self.premature.log_softmax(dim=-1)).masked_fill(mature < least, -math.inf)


@dataclass(frozen=True, slots=True)
class CandidateLayers:
    """The layers that one request contrasts the last with."""

    layers: tuple[int, ...]

    @classmethod
    def of(cls, choice: str | Sequence[int], layer_count: int) -> Self:
        """The layers that "low", "high" or numbers mean in a model of so many; `AttendError` if it lacks them."""
        if layer_count == 0:
            raise AttendError(
                "DoLa compares the predictions of single layers, which this model does not provide: choose another "
                "decoding method or another model."
            )
        if not isinstance(choice, str):
            if max(choice) >= layer_count:
                raise SettingError(
                    f"dola_layers lists layer {max(choice)}, but the layers below this model's last are 0 to "
                    f"{layer_count - 1}: choose from these.",
                    "dola_layers",
                )
            return cls(tuple(choice))
        part = 20 if layer_count > MANY else layer_count // 2
        if choice == "high":
            return cls(tuple(range(layer_count - 20 if layer_count > MANY else part, layer_count, 2)))
        # The embeddings are left out: if they are tied, they only predict the token that was fed.
        first = min(2, layer_count // 2)
        return cls(tuple(range(first, part, 2)) or (first,))

    def contrast(self, forward: Forward[Any], generated: int) -> tuple[ContrastWithLayer, LayerContrast]:
        """The stage for the one row of this pass, and the record of it."""
        if forward.layer_logits is None:
            raise ValueError("the pass did not return the logits of its layers")
        mature = usable_logits(forward.logits, generated)  # (1, V)
        premature = usable_logits(forward.layer_logits[0], generated)  # (L, V)
        divergences = jensen_shannon(mature, premature)
        farthest = max(range(len(divergences)), key=divergences.__getitem__)  # among equals the lowest layer
        contrast = LayerContrast(self.layers[farthest], tuple(zip(self.layers, divergences, strict=True)))
        return ContrastWithLayer(premature[farthest : farthest + 1]), contrast


class DolaStrategy(SamplingStrategy):
    """Sampling, or greedy decoding, from the contrast of two layers."""

    def __init__(self, request: Request, options: StrategyOptions, layers: CandidateLayers) -> None:
        super().__init__(request, options)
        self.want = Want(attention=request.options.attention, layers=layers.layers)
        self._layers = layers

    def advance(self, forward: Forward[Any]) -> Step:
        stage, contrast = self._layers.contrast(forward, len(self._text.tokens))
        return self._advance(forward, (stage,), contrast)


def jensen_shannon(one: Tensor, others: Tensor) -> list[float]:
    """The distance of each row's distribution from that of `one`: 0 if equal, 1 if no token is possible in both.

    Args:
        one: logits (1, V).
        others: logits (L, V).

    Returns:
        L divergences in bits: the entropy of the mean distribution minus the mean of the two entropies (Lin 1991).
    """
    first, second = one.double().softmax(dim=-1), others.double().softmax(dim=-1)
    mixed, *alone = (torch.special.entr(each).sum(dim=-1) for each in ((first + second) / 2, first, second))
    return ((mixed - (alone[0] + alone[1]) / 2) / math.log(2)).clamp(0, 1).tolist()


class Dola(StrategySpec):
    name = "dola"
    label = "DoLa"
    help = "Favours tokens that only the upper layers predict."
    parameters = (NUM_RETURN_SEQUENCES, SEED, DOLA_LAYERS)
    stages = (ContrastWithLayer,)
    processors = PROCESSORS
    samples = True
    at_zero_temperature = Greedy()

    def build(self, settings: Settings, request: Request, options: StrategyOptions) -> DolaStrategy:
        return DolaStrategy(request, options, CandidateLayers.of(settings[DOLA_LAYERS], request.layer_count))
