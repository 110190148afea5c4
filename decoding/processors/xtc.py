"""XTC, the only stage that draws random numbers.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from decoding.parameters.parameter import Parameter, Parameters
from decoding.processors.base import Context, ProcessorOptions, require
from decoding.request import Request
from decoding.uniform import SEED, uniform_at
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

XTC_PROBABILITY = Parameter(
    name="xtc_probability",
    label="XTC probability",
    section="How surprising the text is",
    default=0.0,
    help="How often XTC (exclude top choices) removes all tokens above its threshold but the least likely; 0 is never.",
    step=0.01,
)
XTC_THRESHOLD = Parameter(
    name="xtc_threshold",
    label="XTC threshold",
    section="How surprising the text is",
    default=0.1,
    help="How probable a token must be for XTC to count it as a top choice.",
    neutral=None,
    maximum=0.5,
    step=0.01,
)


@dataclass(frozen=True, slots=True)
class Xtc:
    """Excludes top choices: with some probability, only the least probable of all tokens above a threshold stays.

    p-e-w wrote it for text-generation-webui. As there, nothing is excluded if an end token or the line break would be.
    Of equally probable tokens, the one with the highest id counts as the least probable. Whether it acts on a step is
    drawn from a stream of its own, so that switching it on does not change the draws of the tokens.
    """

    threshold: float
    probability: float
    seed: int
    protected: frozenset[int] = frozenset()  # nothing is excluded if one of these would be
    draws_used: int = 0  # by an earlier run of the same text
    name: ClassVar[str] = "xtc"
    label: ClassVar[str] = "XTC"
    parameters: ClassVar[Parameters] = (XTC_PROBABILITY, XTC_THRESHOLD)

    def __post_init__(self) -> None:
        require(
            0 <= self.threshold <= 1 and 0 <= self.probability <= 1,
            f"{self.threshold} and {self.probability} must be between 0 and 1",
        )

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        request = options.request
        protected = request.end_tokens | _line_break(request)
        used = request.options.draws_used
        return cls(options[XTC_THRESHOLD], options[XTC_PROBABILITY], options[SEED], protected, used)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        if uniform_at(self.seed, self.draws_used + len(context.tokens[0])) >= self.probability:
            return logits
        probabilities = logits.double().softmax(dim=-1)
        ids = torch.arange(logits.shape[-1])  # (V,)
        top = (probabilities >= self.threshold) & (logits > -math.inf)
        least = probabilities.masked_fill(~top, 2.0).amin(dim=-1, keepdim=True)  # (rows, 1)
        stays = torch.where(top & (probabilities == least), ids, -1).amax(dim=-1, keepdim=True)  # (rows, 1)
        excluded = top & (ids != stays)
        protected = [token for token in self.protected if token < logits.shape[-1]]
        excluded &= ~excluded[:, protected].any(dim=-1, keepdim=True)
        return logits.masked_fill(excluded, -math.inf)


def _line_break(request: Request) -> frozenset[int]:
    """The token of a line break, if the vocabulary has one."""
    ids = tuple(request.encode("\n"))[-1:] if request.encode else ()
    return frozenset(ids) if "\n" in request.decode(ids) else frozenset()
