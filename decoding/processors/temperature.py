"""Temperature, fixed or dependent on the entropy: divides the logits and removes nothing.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from decoding.parameters.parameter import Parameter, Parameters
from decoding.processors.base import Context, Processor, ProcessorOptions, probabilities_and_entropy, require

if TYPE_CHECKING:
    from torch import Tensor

TEMPERATURE = Parameter(
    name="temperature",
    label="Temperature",
    default=1.0,
    help="Below 1 favours likely tokens even more, above 1 gives unlikely ones a chance; 0 always picks the top token.",
    maximum=2,
    step=0.05,
)
DYNATEMP_RANGE = Parameter(
    name="dynatemp_range",
    label="Dynatemp range",
    section="How surprising the text is",
    default=0.0,
    help="Lets the temperature vary by this much either way, higher when the model is unsure; 0 keeps it fixed.",
    maximum=2,
    step=0.05,
)
DYNATEMP_EXPONENT = Parameter(
    name="dynatemp_exponent",
    label="Dynatemp exponent",
    section="How surprising the text is",
    default=1.0,
    help="How the dynamic temperature follows the model's uncertainty: above 1, it stays low for longer.",
    neutral=None,
    minimum=0.1,
    maximum=5,
    step=0.1,
)

# A lower temperature counts as 0: the most probable token has all the probability by then, and dividing by even smaller
# numbers would overflow float32.
ZERO_TEMPERATURE = 1e-4


@dataclass(frozen=True, slots=True)
class Temperature:
    """Divides the logits: below 1 sharpens the distribution, above 1 flattens it (Ackley, Hinton, Sejnowski 1985)."""

    temperature: float
    name: ClassVar[str] = "temperature"
    label: ClassVar[str] = TEMPERATURE.label
    parameters: ClassVar[Parameters] = (TEMPERATURE, DYNATEMP_RANGE, DYNATEMP_EXPONENT)

    def __post_init__(self) -> None:
        holds = ZERO_TEMPERATURE <= self.temperature < math.inf
        require(holds, f"temperature is {self.temperature}, but must be at least {ZERO_TEMPERATURE}")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Processor | None:
        """A fixed or a dynamic temperature; None at 0, where nothing is drawn and beams keep their order."""
        temperature, range_ = options[TEMPERATURE], options[DYNATEMP_RANGE]
        if temperature < ZERO_TEMPERATURE:
            return None
        if range_ == 0:
            return cls(temperature)
        return DynamicTemperature(max(0.0, temperature - range_), temperature + range_, options[DYNATEMP_EXPONENT])

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return logits / self.temperature


@dataclass(frozen=True, slots=True)
class DynamicTemperature:
    """A temperature that rises with the entropy, between two limits ("dynamic" in koboldcpp and llama.cpp).

    It is low + (high - low) * (entropy / highest possible entropy) ** exponent. A row with only one token left stays as
    it is.
    """

    low: float
    high: float
    exponent: float = 1.0
    name: ClassVar[str] = "temperature"
    label: ClassVar[str] = TEMPERATURE.label

    def __post_init__(self) -> None:
        rising = 0 <= self.low <= self.high < math.inf and self.high >= ZERO_TEMPERATURE
        require(rising, f"the temperatures are {self.low} and {self.high}, but must rise from 0 or more")
        require(0 < self.exponent < math.inf, f"exponent is {self.exponent}, but must be above 0")

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        _, entropy = probabilities_and_entropy(logits.double())  # (rows, 1)
        left = (logits > -math.inf).sum(dim=-1, keepdim=True)  # (rows, 1)
        unsure = (entropy / left.clamp(min=2).log()).clamp(0, 1)
        temperature = self.low + (self.high - self.low) * unsure**self.exponent
        temperature = temperature.clamp(min=ZERO_TEMPERATURE).masked_fill(left < 2, 1.0)
        return logits / temperature.to(logits.dtype)
