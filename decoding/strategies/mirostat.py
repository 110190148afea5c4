"""Mirostat 2 (Basu et al. 2021) keeps a text near a surprise of tau bits per token, by a limit that choices move.

Tokens more surprising than the limit are removed. The limit rises after a choice that was less surprising than tau, and
otherwise falls, as in llama.cpp. The paper's first version, which estimates how the probabilities fall off, is not
offered. The limit is the only thing here that outlives a step, and it belongs to one request.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from decoding.parameters.parameter import Parameter, Settings, Value, quoted
from decoding.processors import Context
from model.errors import AttendError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mode(Parameter[int]):
    """0 or 2; 1 is a version that exists but is not offered."""

    @property
    def accepts(self) -> str:
        return "0 or 2"

    def checked(self, value: object) -> Value:
        if isinstance(value, bool) or value not in (0, 2):
            raise AttendError(
                f"{self.name} is {quoted(value)}, but only Mirostat 2 is available: choose 2, or 0 to turn it off."
            )
        return 2 if value else 0


MIROSTAT_MODE = _Mode(
    name="mirostat_mode",
    label="Mirostat",
    section="How surprising the text is",
    default=0,
    help="2 (Mirostat 2) holds the text's surprise near a target by adjusting a limit after every token; 0 is off.",
    integer=True,
    maximum=2,
    step=2,
)
MIROSTAT_TAU = Parameter(
    name="mirostat_tau",
    label="Mirostat τ",
    section="How surprising the text is",
    default=5.0,
    help="Mirostat's target: the surprise per token, in bits.",
    neutral=None,
    maximum=10,
    step=0.1,
)
MIROSTAT_ETA = Parameter(
    name="mirostat_eta",
    label="Mirostat η",
    section="How surprising the text is",
    default=0.1,
    help="How fast Mirostat adjusts its limit.",
    neutral=None,
    step=0.01,
)


@dataclass(frozen=True, slots=True)
class SurprisalCutoff:
    """Removes the tokens more surprising than a limit, but never the most probable one."""

    bits: float
    name: ClassVar[str] = "mirostat"
    label: ClassVar[str] = MIROSTAT_MODE.label

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        log_probabilities = logits.double().log_softmax(dim=-1)
        too_surprising = -log_probabilities / math.log(2) > self.bits
        return logits.masked_fill(too_surprising & (logits < logits.amax(dim=-1, keepdim=True)), -math.inf)


class Mirostat:
    """The limit of one request."""

    def __init__(self, tau: float, eta: float) -> None:
        self._tau = tau
        self._eta = eta
        self._limit = 2 * tau  # where the paper starts

    @classmethod
    def of(cls, settings: Settings) -> Self | None:
        """The limit that a request starts with; None where Mirostat is off."""
        return cls(settings[MIROSTAT_TAU], settings[MIROSTAT_ETA]) if settings[MIROSTAT_MODE] else None

    @property
    def processor(self) -> SurprisalCutoff:
        """The last stage of the next step's chain."""
        return SurprisalCutoff(self._limit)

    def update(self, probability: float) -> None:
        """Move the limit after a choice that had this probability after every processor."""
        self._limit -= self._eta * (-math.log2(max(probability, 5e-324)) - self._tau)  # the smallest float is not 0
