"""What a transformer is made of, as one frozen record; a checkpoint stores exactly these fields.

Knows nothing of tensors: `model.transformer` builds what is described here.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

from model.errors import AttendError

Positions = Literal["rotary", "sinusoidal", "learned"]
Norm = Literal["rms", "layer"]
NormPlace = Literal["before", "after"]
Activation = Literal["relu", "gelu", "swiglu"]


@dataclass(frozen=True, slots=True)
class TransformerConfig:
    """A decoder-only transformer.

    Raises `AttendError` when a value is out of range or two values do not fit together.
    """

    vocabulary_size: int
    context_length: int = 512  # the longest text in tokens, prompt and continuation together
    width: int = 256  # of the residual stream (d_model in the paper)
    layers: int = 6
    heads: int = 8  # query heads; each is width / heads wide
    key_value_heads: int = 8  # fewer than heads: groups of query heads share keys and values (Ainslie et al., 2023)
    feed_forward_width: int = 704  # hidden units; SwiGLU has three matrices, so 8/3 x width costs as much as 4 x width
    positions: Positions = "rotary"  # turned into queries and keys (Su et al., 2021) or added to the embeddings
    norm: Norm = "rms"  # RMSNorm (Zhang and Sennrich, 2019) or LayerNorm (Ba et al., 2016)
    norm_place: NormPlace = "before"  # before each sub-layer with one final norm, or after each (the 2017 paper)
    activation: Activation = "swiglu"  # of the feed-forward layer (Shazeer, 2020)
    biases: bool = False  # in every linear layer of the blocks
    tied_embeddings: bool = True  # the output matrix is the token embedding (Press and Wolf, 2017)
    dropout: float = 0.0  # on embeddings and on each sub-layer's output, in training only
    norm_epsilon: float = 1e-5
    rotary_base: float = 10_000.0  # wavelengths run from 2 pi to 2 pi x base

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise AttendError(f"{name} is {value!r}, but must be a whole number of at least 1.")
        for name in _NUMBERS:
            value = getattr(self, name)
            if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
                raise AttendError(f"{name} is {value!r}, but must be a number.")
        for name in _SWITCHES:
            if not isinstance(value := getattr(self, name), bool):
                raise AttendError(f"{name} is {value!r}, but must be true or false.")
        for name, kind in _CHOICES.items():
            value = getattr(self, name)
            if value not in get_args(kind):
                raise AttendError(f"{name} is {value!r}, but must be one of {', '.join(get_args(kind))}.")
        if self.width % self.heads:
            raise AttendError(f"width {self.width} cannot be shared out evenly over {self.heads} heads.")
        if self.heads % self.key_value_heads:
            raise AttendError(f"{self.heads} heads cannot share {self.key_value_heads} key/value heads evenly.")
        if self.positions == "rotary" and self.head_width % 2:
            raise AttendError(f"Rotary positions turn pairs, so the head width {self.head_width} must be even.")
        if not 0.0 <= self.dropout < 1.0:
            raise AttendError(f"dropout is {self.dropout!r}, but must lie between 0 and 1.")
        if not self.norm_epsilon > 0.0 or not self.rotary_base > 1.0:
            raise AttendError("norm_epsilon must be above 0 and rotary_base above 1.")

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Read a checkpoint's config; `AttendError` names fields that are missing or unknown."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise AttendError(f"This is not an Attend config: it holds the unknown field {unknown[0]!r}.")
        if "vocabulary_size" not in values:
            raise AttendError("This is not an Attend config: vocabulary_size is missing.")
        return cls(**values)


_POSITIVE = (
    "vocabulary_size",
    "context_length",
    "width",
    "layers",
    "heads",
    "key_value_heads",
    "feed_forward_width",
)
_NUMBERS = ("dropout", "norm_epsilon", "rotary_base")
_SWITCHES = ("biases", "tied_embeddings")
_CHOICES = {"positions": Positions, "norm": Norm, "norm_place": NormPlace, "activation": Activation}
