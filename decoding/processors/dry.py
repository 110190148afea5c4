"""DRY, "don't repeat yourself": a penalty that grows with the length of the repetition.

Shapes: V is the vocabulary; rows are the sequences of one batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from decoding.parameters.parameter import Parameter, Parameters
from decoding.processors.base import Context, ProcessorOptions

if TYPE_CHECKING:
    from torch import Tensor

BREAKERS = '\n:"*'  # they end every repetition: the default of text-generation-webui

DRY_MULTIPLIER = Parameter(
    name="dry_multiplier",
    label="DRY multiplier",
    section="Less repetition",
    default=0.0,
    help="DRY (don't repeat yourself) makes tokens that continue a repetition less likely, more so the longer it "
    "is; 0 is off. A line break, colon, quotation mark or asterisk ends a repetition.",
    maximum=5,
    step=0.05,
)
DRY_BASE = Parameter(
    name="dry_base",
    label="DRY base",
    section="Less repetition",
    default=1.75,
    help="How fast DRY's penalty grows with the length of the repetition.",
    neutral=None,
    minimum=1,
    maximum=4,
    step=0.05,
)
DRY_ALLOWED_LENGTH = Parameter(
    name="dry_allowed_length",
    label="DRY allowed length",
    section="Less repetition",
    default=2,
    help="How many tokens must repeat before DRY acts.",
    neutral=None,
    integer=True,
    minimum=1,
    maximum=20,
)


@dataclass(frozen=True, slots=True)
class Dry:
    """Don't repeat yourself: the longer the repetition that a token would continue, the less likely it becomes.

    p-e-w wrote it for text-generation-webui. If the last n tokens of the text occurred before, followed by some token,
    then that token loses multiplier * base ** (n - allowed length), for the longest such n from the allowed length on.
    Repetitions end at the tokens in `breaks`, which are never penalised.
    """

    multiplier: float
    base: float
    allowed_length: int
    breaks: Callable[[int], bool]  # whether a token ends every repetition, such as a newline
    name: ClassVar[str] = "dry"
    label: ClassVar[str] = "DRY"
    parameters: ClassVar[Parameters] = (DRY_MULTIPLIER, DRY_BASE, DRY_ALLOWED_LENGTH)
    longest: ClassVar[int] = 50  # longer repetitions count as this long, as in the original: the power would overflow

    def __post_init__(self) -> None:
        if self.allowed_length < 1 or not 1 <= self.base <= 4:
            raise ValueError(f"base {self.base} and length {self.allowed_length} must be 1 or more, the base at most 4")

    @classmethod
    def of(cls, options: ProcessorOptions) -> Self:
        decode = options.request.decode

        @cache
        def breaks(token: int) -> bool:
            return any(breaker in decode((token,)) for breaker in BREAKERS)

        return cls(options[DRY_MULTIPLIER], options[DRY_BASE], options[DRY_ALLOWED_LENGTH], breaks)

    def __call__(self, logits: Tensor, context: Context) -> Tensor:
        penalised = logits.clone()
        for row, text in enumerate(context.sequences()):
            for token, length in self._repetitions(text).items():
                penalised[row, token] -= self.multiplier * self.base ** (length - self.allowed_length)
        return penalised

    def _repetitions(self, text: tuple[int, ...]) -> dict[int, int]:
        """Each token that would continue a repetition, and the length of the longest one."""
        reach = sum(1 for _ in takewhile(lambda token: not self.breaks(token), text[: -self.longest - 1 : -1]))
        lengths: dict[int, int] = {}
        history = np.array(text)
        ends = np.flatnonzero(history[:-1] == history[-1])  # earlier positions of the newest token
        for length in range(1, reach + 1):
            # Here the `length` tokens up to every position in `ends` are those at the end of the text.
            if length >= self.allowed_length:
                lengths |= dict.fromkeys(history[ends + 1].tolist(), length)
            ends = ends[ends >= length]
            ends = ends[history[ends - length] == history[-1 - length]] if length < history.size else ends[:0]
            if not ends.size:
                break
        return {token: length for token, length in lengths.items() if not self.breaks(token)}
