"""Filters that remove the tokens below a threshold: min-p, epsilon, eta, top-a and top-n-sigma.

Each keeps at least the `min_tokens_to_keep` most probable tokens, which is one unless beams sample. Filters that
transformers also has keep exactly the same tokens: for that, the sums are float32 and in its order.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from decoding.parameters.parameter import Parameter, Parameters
from decoding.processors.base import Context, ProcessorOptions, probabilities_and_entropy, require
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

MIN_P = Parameter(
    name="min_p",
    label="Min-p",
    section="Cutting off unlikely tokens",
    default=0.0,
    help="Keeps tokens at least this fraction as probable as the top token; 0 keeps all.",
    step=0.01,
)
EPSILON_CUTOFF = Parameter(
    name="epsilon_cutoff",
    label="Epsilon cutoff",
    section="Cutting off unlikely tokens",
    default=0.0,
    help="Removes tokens less probable than this; 0 keeps all.",
    maximum=0.01,
    step=0.0001,
)
ETA_CUTOFF = Parameter(
    name="eta_cutoff",
    label="Eta cutoff",
    section="Cutting off unlikely tokens",
    default=0.0,
    help="Like the epsilon cutoff, but lower when the model is unsure; 0 keeps all.",
    maximum=0.01,
    step=0.0001,
)
TOP_A = Parameter(
    name="top_a",
    label="Top-a",
    section="Cutting off unlikely tokens",
    default=0.0,
    help="Removes tokens less probable than this times the square of the highest probability; 0 keeps all.",
    step=0.01,
)
TOP_N_SIGMA = Parameter(
    name="top_n_sigma",
    label="Top-nσ",
    section="Cutting off unlikely tokens",
    default=0.0,
    help="Keeps tokens whose logits are within this many standard deviations of the highest; 0 keeps all.",
    maximum=5,
    step=0.05,
)


@dataclass(frozen=True, slots=True)
class MinP:
    """Keeps tokens that are at least this fraction as probable as the most probable one (Nguyen et al. 2024)."""

    p: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "min_p"
    label: ClassVar[str] = MIN_P.label
    parameters: ClassVar[Parameters] = (MIN_P,)

    def __post_init__(self) -> None:
        require(0 <= self.p <= 1, f"p is {self.p}, but must be between 0 and 1")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[MIN_P], options.min_tokens_to_keep)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        probabilities = logits.softmax(dim=-1)
        least = self.p * probabilities.amax(dim=-1, keepdim=True)  # (rows, 1)
        return _remove(self.min_tokens_to_keep, logits, probabilities < least)


@dataclass(frozen=True, slots=True)
class EpsilonCutoff:
    """Removes every token less probable than epsilon (Hewitt, Manning, Liang 2022)."""

    epsilon: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "epsilon_cutoff"
    label: ClassVar[str] = EPSILON_CUTOFF.label
    parameters: ClassVar[Parameters] = (EPSILON_CUTOFF,)

    def __post_init__(self) -> None:
        require(0 < self.epsilon < 1, f"epsilon is {self.epsilon}, but must be between 0 and 1")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[EPSILON_CUTOFF], options.min_tokens_to_keep)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        return _remove(self.min_tokens_to_keep, logits, logits.softmax(dim=-1) < self.epsilon)


@dataclass(frozen=True, slots=True)
class EtaCutoff:
    """Removes tokens less probable than epsilon or, in flat distributions, than sqrt(epsilon) * exp(-entropy).

    This is eta sampling (Hewitt, Manning, Liang 2022).
    """

    epsilon: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "eta_cutoff"
    label: ClassVar[str] = ETA_CUTOFF.label
    parameters: ClassVar[Parameters] = (ETA_CUTOFF,)

    def __post_init__(self) -> None:
        require(0 < self.epsilon < 1, f"epsilon is {self.epsilon}, but must be between 0 and 1")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[ETA_CUTOFF], options.min_tokens_to_keep)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        epsilon = torch.tensor(self.epsilon)  # float32, as in transformers
        _, entropy = probabilities_and_entropy(logits)
        eta = torch.min(epsilon, epsilon.sqrt() * (-entropy).exp())  # (rows, 1)
        return _remove(self.min_tokens_to_keep, logits, logits.softmax(dim=-1) < eta)


@dataclass(frozen=True, slots=True)
class TopA:
    """Removes tokens less probable than a times the square of the highest probability (RWKV-LM, BlinkDL)."""

    a: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "top_a"
    label: ClassVar[str] = TOP_A.label
    parameters: ClassVar[Parameters] = (TOP_A,)

    def __post_init__(self) -> None:
        require(0 <= self.a <= 1, f"a is {self.a}, but must be between 0 and 1")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[TOP_A], options.min_tokens_to_keep)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        probabilities = logits.double().softmax(dim=-1)
        least = self.a * probabilities.amax(dim=-1, keepdim=True).square()  # (rows, 1)
        return _remove(self.min_tokens_to_keep, logits, probabilities < least)


@dataclass(frozen=True, slots=True)
class TopNSigma:
    """Keeps the logits within n standard deviations of the highest, the same at any temperature (Tang et al. 2024).

    As in llama.cpp, the deviation is the population's, over the tokens that are left.
    """

    n: float
    min_tokens_to_keep: int = 1
    name: ClassVar[str] = "top_n_sigma"
    label: ClassVar[str] = TOP_N_SIGMA.label
    parameters: ClassVar[Parameters] = (TOP_N_SIGMA,)

    def __post_init__(self) -> None:
        require(0 < self.n < math.inf, f"n is {self.n}, but must be above 0")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        return cls(options[TOP_N_SIGMA], options.min_tokens_to_keep)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        exact = logits.double()
        present = exact > -math.inf
        count = present.sum(dim=-1, keepdim=True)  # (rows, 1)
        mean = exact.masked_fill(~present, 0).sum(dim=-1, keepdim=True) / count
        variance = (exact - mean).masked_fill(~present, 0).square().sum(dim=-1, keepdim=True) / count
        least = exact.amax(dim=-1, keepdim=True) - self.n * variance.sqrt()
        return _remove(self.min_tokens_to_keep, logits, exact < least)


def _remove(min_tokens_to_keep: int, logits: Tensor, unwanted: Tensor) -> Tensor:
    """Remove tokens, but never the most probable `min_tokens_to_keep` and those that tie with the last of them."""
    top = logits.topk(min(min_tokens_to_keep, logits.shape[-1])).values[:, -1:]  # (rows, 1)
    return logits.masked_fill(unwanted & (logits < top), -math.inf)
