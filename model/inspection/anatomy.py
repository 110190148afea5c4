"""Where the parts of a model stand among its modules: what a probe hooks into, ours and those of transformers alike.

Shapes: W model width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn

from model.inspection.intervention import Intervention

SubLayerName = Literal["attention", "cross_attention", "feed_forward"]
WHOLE = slice(None)  # of the vocabulary


@dataclass(frozen=True, slots=True)
class SubLayer:
    """What reads the residual stream and adds to it."""

    name: SubLayerName
    write: nn.Module  # its first output, times `Anatomy.write_scale`, is what is added to the stream
    projection: nn.Module | None = None  # its input holds the heads' outputs, side by side
    norm_after: nn.Module | None = None  # if the stream is normed after the addition, as in the 2017 paper


@dataclass(frozen=True, slots=True)
class Layer:
    """A block and its sub-layers, in the order in which they add to the stream."""

    block: nn.Module  # its first input is the stream before it, its first output the stream after it
    sublayers: tuple[SubLayer, ...]


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The decoder of one model."""

    layers: tuple[Layer, ...]
    heads: int  # query heads of each layer
    embedding: nn.Module  # its output is a text's token embeddings, (R, T, W)
    final_norm: nn.Module  # an `nn.Identity` where the stream is normed after each sub-layer
    unembedding: nn.Module  # a linear layer, (V, W)
    # Logits of a part of the vocabulary from the normed stream, (..., W) to (..., V of the part): the unembedding, and
    # what the family does after it.
    unembed: Callable[[Tensor, slice], Tensor]
    write_scale: float = 1.0

    @property
    def names(self) -> tuple[SubLayerName, ...]:
        """The sub-layers that each layer has, in their order."""
        return tuple(sublayer.name for sublayer in self.layers[0].sublayers)

    @property
    def norm_after(self) -> bool:
        """Whether the stream is normed after each sub-layer instead of before."""
        return self.layers[0].sublayers[0].norm_after is not None

    def logits(self, stream: Tensor) -> Tensor:
        """What the residual stream (..., W) would predict if it were the last: (..., V), float32."""
        return self.unembed(self.final_norm(stream), WHOLE).float()

    def check(self, intervention: Intervention) -> None:
        """Raise `AttendError` if the model has no such part."""
        cross = "cross_attention" in self.names
        intervention.check(layers=len(self.layers), heads=self.heads, cross=cross)
