"""The architecture of a transformer as one frozen record, whose fields are exactly those that a checkpoint stores.

Knows nothing of tensors: `model.transformer.decoder` builds what is described here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

from model.errors import AttendError

Positions = Literal["rotary", "sinusoidal", "learned", "none"]
Norm = Literal["rms", "layer"]
NormPlace = Literal["before", "after"]
Activation = Literal["relu", "gelu", "gelu_tanh", "swiglu"]
Biases = Literal["none", "qkv", "all"]
RotaryScalingKind = Literal["linear", "llama3"]


@dataclass(frozen=True, slots=True)
class RotaryScaling:
    """How rotary wavelengths were stretched for texts longer than those of the first training.

    "linear" divides every frequency by `factor` (Chen et al., 2023); "llama3" divides the low ones, keeps the high ones
    and interpolates in between (Llama 3.1).
    """

    kind: RotaryScalingKind
    factor: float
    # For llama3: frequencies of wavelengths above original_context / low_frequency_factor are divided, and those of
    # wavelengths below original_context / high_frequency_factor are kept.
    low_frequency_factor: float = 1.0
    high_frequency_factor: float = 4.0
    original_context: int = 8192

    def __post_init__(self) -> None:
        if self.kind not in get_args(RotaryScalingKind):
            known = ", ".join(get_args(RotaryScalingKind))
            raise AttendError(f"rotary_scaling is of the kind {self.kind!r}, but must be one of {known}.")
        numbers = (self.factor, self.low_frequency_factor, self.high_frequency_factor, self.original_context)
        if not all(isinstance(number, int | float) and 0 < number < math.inf for number in numbers):
            raise AttendError(f"rotary_scaling holds {numbers}, but all must be numbers above 0.")
        if self.kind == "llama3" and not self.low_frequency_factor < self.high_frequency_factor:
            raise AttendError("rotary_scaling needs a low_frequency_factor below its high_frequency_factor.")


@dataclass(frozen=True, slots=True)
class TransformerConfig:
    """A transformer: a decoder alone or, with `encoder_layers`, an encoder that reads and a decoder that answers.

    Raises `AttendError` if a value is out of range or two values do not fit together.
    """

    vocabulary_size: int
    context_length: int = 512  # tokens in the longest text that it can read
    width: int = 256  # width of the residual stream (d_model in the paper)
    layers: int = 6  # in the decoder
    encoder_layers: int = 0  # 0: there is no encoder
    heads: int = 8  # query heads
    head_width: int = 0  # width of each head; 0 divides the model width evenly
    key_value_heads: int = 8  # fewer than heads: groups of query heads share keys and values (Ainslie et al., 2023)
    feed_forward_width: int = 704  # hidden units; SwiGLU has three matrices, so 8/3 x width costs as much as 4 x width
    positions: Positions = "rotary"  # rotary (Su et al., 2021), added to the embeddings, or none
    norm: Norm = "rms"  # RMSNorm (Zhang and Sennrich, 2019) or LayerNorm (Ba et al., 2016)
    norm_place: NormPlace = "before"  # before each sub-layer with one final norm, or after each (the 2017 paper)
    activation: Activation = "swiglu"  # in the feed-forward layer (Shazeer, 2020)
    biases: Biases = "none"  # which linear layers of the blocks have them
    query_key_norm: bool = False  # RMSNorm on every query and key before its rotation (Henry et al., 2020; Qwen3)
    sliding_window: int = 0  # how many tokens, itself included, a query sees (Beltagy et al., 2020); 0: all
    tied_embeddings: bool = True  # the output matrix is the token embedding (Press and Wolf, 2017)
    dropout: float = 0.0  # on embeddings and on each sub-layer's output, in training only
    norm_epsilon: float = 1e-5
    rotary_base: float = 10_000.0  # wavelengths run from 2 pi to 2 pi x base
    rotary_scaling: RotaryScaling | None = None

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise AttendError(f"{name} is {value!r}, but must be a whole number of at least 1.")
        for name in _COUNTS:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise AttendError(f"{name} is {value!r}, but must be a whole number of at least 0.")
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
        if self.rotary_scaling is not None and not isinstance(self.rotary_scaling, RotaryScaling):
            raise AttendError(f"rotary_scaling is {self.rotary_scaling!r}, but must be a RotaryScaling.")
        if not self.head_width:
            if self.width % self.heads:
                raise AttendError(f"width {self.width} cannot be shared out evenly over {self.heads} heads.")
            object.__setattr__(self, "head_width", self.width // self.heads)
        if self.heads % self.key_value_heads:
            raise AttendError(f"{self.heads} heads cannot share {self.key_value_heads} key/value heads evenly.")
        if self.positions == "rotary" and self.head_width % 2:
            raise AttendError(f"Rotary positions turn pairs, so the head width {self.head_width} must be even.")
        if self.encoder_layers and self.sliding_window:
            raise AttendError("sliding_window is for a decoder alone, so with encoder_layers it must be 0.")
        if not 0.0 <= self.dropout < 1.0:
            raise AttendError(f"dropout is {self.dropout!r}, but must be between 0 and 1.")
        if not self.norm_epsilon > 0.0 or not self.rotary_base > 1.0:
            raise AttendError("norm_epsilon must be above 0 and rotary_base above 1.")

    @property
    def padding(self) -> int | None:
        """The token that pads sources and begins every answer of an encoder-decoder; its embedding stays zero."""
        return self.vocabulary_size - 1 if self.encoder_layers else None

    @property
    def embedding_scale(self) -> float:
        """The factor of token embeddings: the square root of the width if positions are added as in the 2017 paper, so
        that the positions do not dominate."""
        return math.sqrt(self.width) if self.encoder_layers or self.positions == "sinusoidal" else 1.0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read a checkpoint's config; `AttendError` names fields that are missing or unknown."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise AttendError(f"This is not an Attend config: it holds the unknown field {unknown[0]!r}.")
        if "vocabulary_size" not in values:
            raise AttendError("This is not an Attend config: vocabulary_size is missing.")
        scaling = values.get("rotary_scaling")
        if isinstance(scaling, dict):
            try:
                values = {**values, "rotary_scaling": RotaryScaling(**scaling)}
            except TypeError as error:  # a missing or unknown name
                raise AttendError(f"This is not an Attend config: its rotary_scaling is {scaling!r}.") from error
        if values.get("biases") == "queries_keys_values":  # as earlier versions wrote it
            values = {**values, "biases": "qkv"}
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
_COUNTS = ("encoder_layers", "head_width", "sliding_window")
_SWITCHES = ("query_key_norm", "tied_embeddings")
_CHOICES = {
    "positions": Positions,
    "norm": Norm,
    "norm_place": NormPlace,
    "activation": Activation,
    "biases": Biases,
}
