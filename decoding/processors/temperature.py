"""Temperature, fixed or by how sure the model is: divides the logits and removes nothing.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from decoding.processors.base import Context

# Below this a temperature is 0: the most probable token has all the probability long before, and dividing by still
# smaller numbers would overflow float32.
ZERO_TEMPERATURE = 1e-4


@dataclass(frozen=True, slots=True)
class Temperature:
    """Divides the logits: below 1 sharpens the distribution, above 1 flattens it (Ackley, Hinton, Sejnowski 1985)."""

    temperature: float
    name: ClassVar[str] = "temperature"

    def __post_init__(self) -> None:
        if not ZERO_TEMPERATURE <= self.temperature < math.inf:
            raise ValueError(f"temperature is {self.temperature}, but must be at least {ZERO_TEMPERATURE}")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return logits / self.temperature


@dataclass(frozen=True, slots=True)
class DynamicTemperature:
    """A temperature between two, the higher the less sure the model is (koboldcpp and llama.cpp call it dynamic).

    It is low + (high - low) * (entropy / highest possible entropy) ** exponent; where only one token is left, nothing
    can be unsure and the row stays as it is.
    """

    low: float
    high: float
    exponent: float = 1.0
    name: ClassVar[str] = "temperature"

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high < math.inf or self.high < ZERO_TEMPERATURE:
            raise ValueError(f"the temperatures are {self.low} and {self.high}, but must rise from 0 or more")
        if not 0 < self.exponent < math.inf:
            raise ValueError(f"exponent is {self.exponent}, but must lie above 0")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        log_probabilities = logits.double().log_softmax(dim=-1)
        entropy = -(log_probabilities * log_probabilities.exp()).nansum(dim=-1, keepdim=True)  # (rows, 1)
        left = (logits > -math.inf).sum(dim=-1, keepdim=True)  # (rows, 1)
        unsure = (entropy / left.clamp(min=2).log()).clamp(0, 1)
        temperature = self.low + (self.high - self.low) * unsure**self.exponent
        temperature = temperature.clamp(min=ZERO_TEMPERATURE).masked_fill(left < 2, 1.0)
        return logits / temperature.to(logits.dtype)
