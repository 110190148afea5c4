"""The interface of strategies, their declaration, and what all of them share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from decoding.parameters.parameter import Parameter, Parameters, Settings
from decoding.processors import ORDER, Processor
from decoding.processors.base import ConfigurableProcessor
from decoding.processors.registry import PENALTIES_AND_BANS
from decoding.recorder import TOP_CANDIDATES
from decoding.request import Request
from decoding.step import Step
from decoding.stop import MAX_NEW_TOKENS, STOP_TEXTS
from model.errors import AttendError
from model.interface import Forward, Want
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

NUM_RETURN_SEQUENCES = Parameter(
    name="num_return_sequences",
    label="Number of outputs",
    section="Several texts",
    default=1,
    help="How many outputs to make: independent samples with consecutive seeds, or the best of the beams.",
    integer=True,
    minimum=1,
    maximum=8,
)


class Strategy(Protocol):
    """Chooses tokens; holds the state of one request."""

    @property
    def want(self) -> Want:
        """What every pass must return besides logits."""
        ...

    def advance(self, forward: Forward[Any]) -> Step:
        """Choose the next tokens from the result of one pass."""
        ...


@dataclass(frozen=True, slots=True)
class StrategyOptions:
    """What every strategy takes from the settings."""

    max_new_tokens: int
    top_candidates: int  # recorded for every choice
    stop_texts: tuple[str, ...] = ()
    processors: tuple[Processor, ...] = ()
    seed: int | None = None  # None: nothing is drawn


class StrategySpec(ABC):
    """The declaration of a strategy, as `decoding.strategies.registry` lists it; it has no state."""

    name: ClassVar[str]
    label: ClassVar[str]  # what people call it
    help: ClassVar[str]  # one line
    parameters: ClassVar[Parameters] = ()  # its own, besides those of its processors
    stages: ClassVar[Sequence[type[Processor]]] = ()  # its own, besides the processors that settings switch on
    processors: ClassVar[Sequence[type[ConfigurableProcessor]]] = PENALTIES_AND_BANS  # those it can run
    samples: ClassVar[bool] = False  # draws tokens, so the seed matters
    beams: ClassVar[bool] = False  # follows several hypotheses, so tokens may change until the search is over
    # Chooses each token by the model's distribution alone, so that one pass over a finished text is enough to repeat
    # all of its choices.
    token_by_token: ClassVar[bool] = False
    at_zero_temperature: ClassVar[StrategySpec | None] = None  # the equivalent strategy where nothing is drawn

    def all_parameters(self) -> frozenset[str]:
        """The names of all settings that this strategy uses."""
        used = [MAX_NEW_TOKENS, TOP_CANDIDATES, STOP_TEXTS, ORDER, *self.parameters]
        of_processors = (parameter for processor in self.processors for parameter in processor.parameters)
        return frozenset(parameter.name for parameter in (*used, *of_processors))

    def check(self, settings: Settings) -> None:  # noqa: B027 (nothing to check is the rule)
        """Raise `SettingError` if settings that are valid by themselves do not fit together."""

    def rows(self, settings: Settings) -> int:
        """How many rows one text needs in a pass of the model, at most."""
        return 1

    def resumable(self, settings: Settings) -> bool:
        """Whether a text can be continued from its tokens and the number of its draws alone."""
        return True

    def min_tokens_to_keep(self, request: Request) -> int:
        """How many tokens the processors must leave."""
        return 1

    @abstractmethod
    def build(self, settings: Settings, request: Request, options: StrategyOptions) -> Strategy:
        """The strategy for one request; `AttendError` where the model cannot do it."""


def usable_logits(logits: Tensor, generated: int) -> Tensor:
    """The logits on the CPU in float32; `AttendError` if they don't give probabilities."""
    logits = logits.detach().to("cpu", torch.float32)
    # One check of the largest value is enough: it is NaN if any is, -inf if all are, +inf if one is.
    if not all(map(math.isfinite, logits.numpy().max(axis=-1).tolist())):
        raise AttendError(
            f"The model gave no usable probabilities for token {generated + 1} (NaN or infinite scores): "
            "its checkpoint may be damaged, so load it again or try another model."
        )
    return logits


def newest_attention(forward: Forward[Any], row: int, length: int) -> Tensor | None:
    """The attention of a row's newest token to the `length` tokens up to itself, without padding on the left.

    For an encoder-decoder, the keys of the cross-attention come first, then those of the self-attention.

    Returns:
        (layers, heads, source + length), float16 on the CPU; None if the pass returned no attention.
    """
    if forward.attention is None:
        return None
    weights = forward.attention.decoder[row, :, :, -1, -length:]  # (layers, heads, length)
    if forward.attention.cross is not None:
        cross = forward.attention.cross[row, :, :, -1]  # (layers, heads, source)
        weights = torch.cat((cross, weights), dim=-1)  # (layers, heads, source + length)
    return weights.to("cpu", torch.float16, copy=True)  # a copy, or the whole pass would stay in memory
