"""The interface of a processor, the options it is built from, and how a chain of processors runs.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from decoding.parameters.parameter import Parameter, Parameters, Settings, T
from decoding.request import Request
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Context:
    """What a processor sees besides the logits."""

    prompt: tuple[int, ...]
    tokens: tuple[tuple[int, ...], ...]  # generated so far, one tuple per row

    def sequences(self) -> list[tuple[int, ...]]:
        """Each row's prompt and generated tokens."""
        return [self.prompt + tokens for tokens in self.tokens]


class Processor(Protocol):
    """One stage of the chain. It is pure: it never changes its input."""

    name: ClassVar[str]  # the stage's name in files and the `order` setting
    label: ClassVar[str]  # what people call it

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        """(rows, V) float32 on the CPU -> the same shape; a removed token's logit is -inf."""
        ...


@dataclass(frozen=True, slots=True)
class ProcessorOptions:
    """What a processor is built from; `options[TOP_K]` is a setting's value."""

    settings: Settings
    request: Request
    min_tokens_to_keep: int = 1  # how many tokens a filter must leave

    def __getitem__(self, parameter: Parameter[T]) -> T:
        return self.settings[parameter]


class ConfigurableProcessor(Processor, Protocol):
    """A processor that settings switch on, as `decoding.processors.registry` lists it."""

    parameters: ClassVar[Parameters]  # it runs if one of them is not neutral

    @classmethod
    def of(cls, options: ProcessorOptions) -> Processor | None:
        """The stage for these options; None if it would change nothing."""
        ...


def run_chain(processors: Sequence[Processor], logits: Tensor, context: Context) -> tuple[Tensor, ...]:
    """The logits after every stage, beginning with the untouched ones; each is (rows, V)."""
    stages = [logits]
    for processor in processors:
        stages.append(processor(stages[-1], context))
    return tuple(stages)


def ban(logits: Tensor, unwanted: Iterable[Iterable[int]]) -> Tensor:
    """Remove tokens, one group of ids per row; a row that would lose its last token keeps all of them."""
    left = logits.numpy().copy()  # (rows, V); NumPy takes a fifth of the time that PyTorch does
    for row, ids in enumerate(unwanted):
        left[row, [token for token in ids if token < logits.shape[-1]]] = -math.inf
    emptied = left.max(axis=-1) == -math.inf  # (rows,)
    left[emptied] = logits.numpy()[emptied]
    return torch.from_numpy(left)


def require(holds: bool, message: str) -> None:
    """Check a processor's argument: a wrong one is a programming error, since settings are checked before."""
    if not holds:
        raise ValueError(message)


def probabilities_and_entropy(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Compute both, (rows, V) and (rows, 1), in nats, in the steps of torch's Categorical, which transformers uses."""
    log_probabilities = logits - logits.logsumexp(dim=-1, keepdim=True)
    probabilities = log_probabilities.softmax(dim=-1)
    terms = log_probabilities.clamp(min=torch.finfo(logits.dtype).min) * probabilities
    return probabilities, -terms.sum(dim=-1, keepdim=True)
