"""The settings of one run: every parameter declared once, with its range, its neutral value and what it is for.

The page's controls, the flags of `generate.py`, the endpoints and the README's table are all made from `parameters()`.
The file knows which processors and which strategy the settings lead to, and nothing of how those work.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, Self, get_args

from decoding.beam import BeamSearch
from decoding.parameter import Parameter, shown
from decoding.processors import ZERO_TEMPERATURE, Processor, Temperature, TopK, TopP
from decoding.sampling import OneByOne
from decoding.strategy import Request, Strategy
from model.errors import AttendError

StrategyName = Literal["greedy", "sample", "beam"]
STRATEGIES: tuple[str, ...] = get_args(StrategyName)
PARAMETER = "parameter"  # where a field keeps its declaration


@dataclass(frozen=True, slots=True)
class DecodingSettings:
    """How to choose tokens. As it stands it samples from the model's own, unchanged distribution."""

    strategy: StrategyName = field(
        default="sample",
        metadata={
            PARAMETER: Parameter(
                neutral=None,
                choices=STRATEGIES,
                strategies=STRATEGIES,
                help="greedy takes the most probable token, sample draws one, beam looks for the most probable text.",
            )
        },
    )
    temperature: float = field(
        default=1.0,
        metadata={
            PARAMETER: Parameter(
                neutral=1.0,
                maximum=2,
                step=0.05,
                strategies=("sample", "beam"),
                help="Below 1 sharpens the distribution, above 1 flattens it; sampling at 0 is greedy.",
            )
        },
    )
    top_k: int = field(
        default=0,
        metadata={
            PARAMETER: Parameter(
                neutral=0,
                integer=True,
                maximum=200,
                strategies=("sample", "beam"),
                help="Keeps only the k most probable tokens; 0 keeps all.",
            )
        },
    )
    top_p: float = field(
        default=1.0,
        metadata={
            PARAMETER: Parameter(
                neutral=1.0,
                step=0.01,
                strategies=("sample", "beam"),
                help="Keeps the fewest most probable tokens whose probabilities reach this sum; 1 keeps all.",
            )
        },
    )
    num_beams: int = field(
        default=4,
        metadata={
            PARAMETER: Parameter(
                neutral=1,
                integer=True,
                minimum=1,
                maximum=8,
                strategies=("beam",),
                help="How many continuations the search follows at once.",
            )
        },
    )
    length_penalty: float = field(
        default=1.0,
        metadata={
            PARAMETER: Parameter(
                neutral=1.0,
                minimum=-3,
                maximum=3,
                step=0.1,
                strategies=("beam",),
                help="A finished text's score is divided by its length to this power; higher favours long texts.",
            )
        },
    )
    seed: int = field(
        default=-1,
        metadata={
            PARAMETER: Parameter(
                neutral=-1,
                integer=True,
                minimum=-1,
                maximum=2**32 - 1,
                strategies=("sample",),
                help="The same seed repeats the same draws; -1 picks one at random.",
            )
        },
    )
    max_new_tokens: int = field(
        default=128,
        metadata={
            PARAMETER: Parameter(
                neutral=None,
                integer=True,
                minimum=1,
                maximum=4096,
                strategies=STRATEGIES,
                help="The most tokens to generate; the model's context may end the text earlier.",
            )
        },
    )
    top_candidates: int = field(
        default=10,
        metadata={
            PARAMETER: Parameter(
                neutral=None,
                integer=True,
                maximum=50,
                strategies=STRATEGIES,
                help="How many of the most probable tokens are kept for every step, to look at.",
            )
        },
    )

    def __post_init__(self) -> None:
        for parameter in parameters():
            value = parameter.checked(getattr(self, parameter.name))
            object.__setattr__(self, parameter.name, value)

    @classmethod
    def from_dict(cls, settings: Mapping[str, object]) -> Self:
        """Settings from JSON or a form; what is not named keeps its default."""
        if not isinstance(settings, Mapping):
            raise AttendError(f"The settings are {shown(settings)}, but must be a JSON object of names and values.")
        known = [parameter.name for parameter in parameters()]
        for name in settings:
            if name not in known:
                raise AttendError(f"There is no setting {shown(name)}: choose from {', '.join(known)}.")
        checked: dict[str, Any] = dict(settings)
        return cls(**checked)

    def to_dict(self) -> dict[str, int | float | str]:
        """The same as plain values; `from_dict` reads them back."""
        return dataclasses.asdict(self)

    def unused(self) -> tuple[str, ...]:
        """Names of settings that were changed but that this strategy does not use."""
        return tuple(
            parameter.name
            for parameter in parameters()
            if self.strategy not in parameter.strategies and getattr(self, parameter.name) != parameter.default
        )

    def seeded(self) -> Self:
        """The same with a definite seed: -1 becomes a random one, so that the run can be repeated."""
        return self if self.seed >= 0 else dataclasses.replace(self, seed=secrets.randbelow(2**31))

    @property
    def greedy(self) -> bool:
        """Whether the most probable token is always taken and no draw decides."""
        return self.strategy == "greedy" or (self.strategy == "sample" and self.temperature < ZERO_TEMPERATURE)

    def processors(self) -> tuple[Processor, ...]:
        """The chain, in transformers' order; neutral settings add nothing to it, and greedy decoding needs none."""
        if self.greedy:
            return ()
        chain: list[Processor] = []
        if self.temperature >= ZERO_TEMPERATURE and self.temperature != 1:
            chain.append(Temperature(self.temperature))
        if self.top_k > 0:
            chain.append(TopK(self.top_k))
        if self.top_p < 1:
            chain.append(TopP(self.top_p))
        return tuple(chain)

    def strategy_for(self, request: Request) -> Strategy:
        """The strategy that these settings mean, ready for one request."""
        seed = self.seeded().seed
        if self.strategy == "beam":
            return BeamSearch(
                request,
                num_beams=self.num_beams,
                length_penalty=self.length_penalty,
                max_new_tokens=self.max_new_tokens,
                top_candidates=self.top_candidates,
                seed=seed,
                processors=self.processors(),
            )
        return OneByOne(
            request,
            max_new_tokens=self.max_new_tokens,
            top_candidates=self.top_candidates,
            seed=seed,
            processors=self.processors(),
            greedy=self.greedy,
        )


@cache
def parameters() -> tuple[Parameter, ...]:
    """Every setting, in the order it is shown."""
    return tuple(
        dataclasses.replace(declared.metadata[PARAMETER], name=declared.name, default=declared.default)
        for declared in dataclasses.fields(DecodingSettings)
    )


# Starting points: "Balanced" is what most peers ship as their default, the others lie to either side of it.
PRESETS: Mapping[str, DecodingSettings] = MappingProxyType(
    {
        "Precise": DecodingSettings(temperature=0.3, top_k=40, top_p=0.9),
        "Balanced": DecodingSettings(temperature=0.8, top_k=40, top_p=0.95),
        "Creative": DecodingSettings(temperature=1.2, top_k=100, top_p=0.98),
        "Neutral": DecodingSettings(),
    }
)
