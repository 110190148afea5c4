"""The settings of one run, checked together, and what they mean: a chain of processors and a strategy.

Every parameter is declared in `declared.py`; the page's controls, the flags of `generate.py`, the endpoints and the
README's table are all made from `parameters()`. How processors and strategies work is not known here.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

from decoding.beam import BeamSearch
from decoding.chain import chain
from decoding.contrastive import ContrastiveSearch
from decoding.declared import DRAWN, STRATEGIES, DeclaredSettings, StrategyName, parameters
from decoding.dola import Dola
from decoding.mirostat import Mirostat
from decoding.parameter import shown
from decoding.processors import ZERO_TEMPERATURE, Processor
from decoding.sampling import OneByOne
from decoding.strategy import Request, Strategy
from model.errors import AttendError

WEIGHED, MOST_WEIGHED = 4, 64  # candidates of contrastive search: where top_k is 0, and at most

__all__ = ["PRESETS", "STRATEGIES", "DecodingSettings", "StrategyName", "parameters"]


@dataclass(frozen=True, slots=True)
class DecodingSettings(DeclaredSettings):
    """How to choose tokens. As it stands it samples from the model's own, unchanged distribution."""

    def __post_init__(self) -> None:
        for parameter in parameters():
            value = parameter.checked(getattr(self, parameter.name))
            object.__setattr__(self, parameter.name, value)
        if self.min_new_tokens > self.max_new_tokens:
            raise AttendError(
                f"min_new_tokens is {self.min_new_tokens}, but max_new_tokens is {self.max_new_tokens}: lower the "
                "first or raise the second."
            )
        if self.strategy == "contrastive" and self.top_k > MOST_WEIGHED:
            raise AttendError(
                f"top_k is {self.top_k}, but contrastive search feeds every one of them to the model at every token: "
                f"choose {MOST_WEIGHED} or fewer."
            )
        if self.mirostat_mode == 1:
            raise AttendError("mirostat_mode is 1, but only Mirostat 2 is offered: choose 2, or 0 to switch it off.")

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

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON has it; `from_dict` reads it back."""
        return {parameter.name: parameter.plain(getattr(self, parameter.name)) for parameter in parameters()}

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
        return self.strategy == "greedy" or (self.strategy in DRAWN and self.temperature < ZERO_TEMPERATURE)

    def processors(self, request: Request) -> tuple[Processor, ...]:
        """The chain for one request; the settings need a definite seed, where anything in it is left to chance."""
        # Contrastive search filters nothing, as in transformers: its top_k are candidates to weigh, no stage.
        filtered = not self.greedy and self.strategy != "contrastive"
        return chain(self, request, self.strategy if filtered else "greedy")

    def mirostat(self) -> Mirostat | None:
        """The limit that a request starts with, or None where nothing is held."""
        on = self.mirostat_mode and self.strategy in DRAWN and not self.greedy
        return Mirostat(self.mirostat_tau, self.mirostat_eta) if on else None

    def strategy_for(self, request: Request) -> Strategy:
        """The strategy that these settings mean, ready for one request."""
        settings = self.seeded()
        if settings.strategy == "beam":
            return BeamSearch(
                request,
                num_beams=settings.num_beams,
                length_penalty=settings.length_penalty,
                max_new_tokens=settings.max_new_tokens,
                top_candidates=settings.top_candidates,
                seed=settings.seed,
                processors=settings.processors(request),
            )
        if settings.strategy == "contrastive":
            return ContrastiveSearch(
                request,
                candidates=settings.top_k or WEIGHED,
                penalty_alpha=settings.penalty_alpha,
                max_new_tokens=settings.max_new_tokens,
                top_candidates=settings.top_candidates,
                seed=settings.seed,
                processors=settings.processors(request),
            )
        return OneByOne(
            request,
            max_new_tokens=settings.max_new_tokens,
            top_candidates=settings.top_candidates,
            seed=settings.seed,
            processors=settings.processors(request),
            mirostat=settings.mirostat(),
            dola=Dola.of(settings.dola_layers, request.layer_count) if settings.strategy == "dola" else None,
            greedy=settings.greedy,
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
