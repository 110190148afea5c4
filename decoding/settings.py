"""The settings of one run, checked together, and what they mean: a chain of processors and a strategy.

Every parameter is declared in `declared.py`; the page's controls, the flags of `generate.py`, the endpoints and the
README's table are all made from `parameters()`. How processors and strategies work is not known here.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

from decoding.beam import BeamSearch
from decoding.chain import chain
from decoding.contrastive import ContrastiveSearch
from decoding.declared import MIROSTAT, MOST_TOKENS, SEEDS, DeclaredSettings, parameters
from decoding.dola import Dola
from decoding.mirostat import Mirostat
from decoding.parameter import SettingError, shown
from decoding.processors import ZERO_TEMPERATURE, Processor
from decoding.sampling import OneByOne
from decoding.several import Several
from decoding.strategy import Request, Strategy, Terms
from decoding.traits import STRATEGIES, TRAITS, StrategyName, Traits
from model.errors import AttendError

WEIGHED, MOST_WEIGHED = 4, 64  # candidates of contrastive search: where top_k is 0, and at most

TRANSLATES: StrategyName = (
    "beam"  # a translator, of itself: of what can be said in few ways, the most probable is wanted
)

__all__ = [
    "MOST_TOKENS",
    "PRESETS",
    "SEEDS",
    "STRATEGIES",
    "TRANSLATES",
    "DecodingSettings",
    "StrategyName",
    "for_translator",
    "parameters",
]


@dataclass(frozen=True, slots=True)
class DecodingSettings(DeclaredSettings):
    """How to choose tokens. As it stands it samples from the model's own, unchanged distribution."""

    def __post_init__(self) -> None:
        for parameter in parameters():
            try:
                value = parameter.checked(getattr(self, parameter.name))
            except AttendError as error:
                raise SettingError(str(error), parameter.name) from error
            object.__setattr__(self, parameter.name, value)
        if self.min_new_tokens > self.max_new_tokens:
            raise SettingError(
                f"min_new_tokens is {self.min_new_tokens}, but max_new_tokens is {self.max_new_tokens}: lower the "
                "first or raise the second.",
                "min_new_tokens",
                "max_new_tokens",
            )
        if self.traits.looks_ahead and self.top_k > MOST_WEIGHED:
            raise SettingError(
                f"top_k is {self.top_k}, but contrastive search feeds every one of them to the model at every token: "
                f"choose {MOST_WEIGHED} or fewer.",
                "top_k",
            )
        if self.mirostat_mode == 1:
            raise SettingError(
                "mirostat_mode is 1, but only Mirostat 2 is offered: choose 2, or 0 to switch it off.", "mirostat_mode"
            )
        if self.beams and self.num_return_sequences > self.num_beams:
            raise SettingError(
                f"num_return_sequences is {self.num_return_sequences}, but num_beams is {self.num_beams}, and beams "
                "keep no more texts than that: lower the first or raise the second.",
                "num_return_sequences",
                "num_beams",
            )
        if self.traits.groups and self.num_beams % self.num_beam_groups:
            raise SettingError(
                f"num_beams is {self.num_beams}, but num_beam_groups is {self.num_beam_groups}, and groups are equally "
                f"large: choose a multiple of {self.num_beam_groups} for the first, or another number of groups.",
                "num_beams",
                "num_beam_groups",
            )

    @classmethod
    def from_dict(cls, settings: object) -> Self:
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

    @property
    def traits(self) -> Traits:
        """Those of the strategy that was named, at whatever temperature."""
        return TRAITS[self.strategy]

    @property
    def acts_as(self) -> StrategyName:
        """The strategy that these settings come to: at temperature 0 nothing is left to draw."""
        undrawn = self.traits.undrawn if self.temperature < ZERO_TEMPERATURE else None
        return undrawn or self.strategy

    @property
    def greedy(self) -> bool:
        """Whether the most probable token is always taken."""
        return self.acts_as == "greedy"

    @property
    def drawn(self) -> bool:
        """Whether anything is left to chance, and so the seed has a say."""
        return TRAITS[self.acts_as].drawn

    @property
    def beams(self) -> bool:
        """Whether several continuations are followed at once, so that words may change until the search is over."""
        return self.traits.beams

    @property
    def token_by_token(self) -> bool:
        """Whether the model's distribution at a place is all that its token is chosen from, so that one pass over a
        finished text tells every choice."""
        return self.traits.token_by_token

    @property
    def resumable(self) -> bool:
        """Whether a text that nothing but its length has ended can go on as if it had not: where all that decoding
        remembers are the tokens of one text and how many numbers were drawn."""
        one = self.sequences == 1 and not self.beams and not self.traits.looks_ahead
        return one and self.mirostat() is None

    @property
    def rows(self) -> int:
        """How many rows a pass of the model has at most."""
        if self.traits.looks_ahead:
            return self.top_k or WEIGHED
        return self.num_beams if self.beams else self.sequences

    @property
    def sequences(self) -> int:
        """How many texts a run returns at most; taking the most probable tokens there is only one to make."""
        return self.num_return_sequences if self.drawn or self.beams else 1

    def seeded(self) -> Self:
        """The same with a definite seed where one is used: -1 becomes a random one, so that the run can be repeated."""
        return dataclasses.replace(self, seed=secrets.randbelow(2**31)) if self.drawn and self.seed < 0 else self

    def ending_at(self, texts: Sequence[str]) -> Self:
        """The same with these stop texts besides its own."""
        together = tuple(dict.fromkeys((*self.stop_texts, *texts)))
        return self if together == self.stop_texts else dataclasses.replace(self, stop_texts=together)

    def processors(self, request: Request) -> tuple[Processor, ...]:
        """The chain for one request; the settings need a definite seed, where anything in it is left to chance."""
        return chain(dataclasses.replace(self, strategy=self.traits.chain or self.acts_as), request)

    def mirostat(self) -> Mirostat | None:
        """The limit that a request starts with, or None where nothing is held."""
        on = self.mirostat_mode and self.acts_as in MIROSTAT
        return Mirostat(self.mirostat_tau, self.mirostat_eta) if on else None

    def strategy_for(self, request: Request) -> Strategy:
        """The strategy that these settings mean, ready for one request."""
        settings = self.seeded()
        if settings.beams:
            return BeamSearch(
                request,
                settings._terms(request),
                num_beams=settings.num_beams,
                length_penalty=settings.length_penalty,
                early_stopping=settings.early_stopping,
                num_return_sequences=settings.num_return_sequences,
                num_beam_groups=settings.num_beam_groups if settings.traits.groups else 1,
                diversity_penalty=settings.diversity_penalty,
                seed=settings.seed if settings.drawn else None,
            )
        if settings.traits.looks_ahead:
            return ContrastiveSearch(
                request,
                settings._terms(request),
                candidates=settings.top_k or WEIGHED,
                penalty_alpha=settings.penalty_alpha,
            )
        if settings.sequences > 1:
            return Several(request, [one._one_by_one(request) for one in settings._apart()])
        return settings._one_by_one(request)

    def _terms(self, request: Request) -> Terms:
        """What all strategies are told; the settings need a definite seed, as for `processors`."""
        return Terms(self.max_new_tokens, self.top_candidates, self.stop_texts, self.processors(request))

    def _one_by_one(self, request: Request) -> OneByOne:
        """One text, a token at a time; the settings need a definite seed."""
        return OneByOne(
            request,
            self._terms(request),
            seed=self.seed,
            mirostat=self.mirostat(),
            dola=Dola.of(self.dola_layers, request.layer_count) if self.traits.layers else None,
            greedy=self.greedy,
        )

    def _apart(self) -> list[Self]:
        """The settings of each of several sampled texts by itself: the seeds count on from the first, and round."""
        return [
            dataclasses.replace(self, seed=(self.seed + place) % SEEDS, num_return_sequences=1)
            for place in range(self.num_return_sequences)
        ]


def for_translator(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings by name as a translator takes them: by beam search, unless they name a strategy or what samples, such as
    a temperature, and nothing of beams."""
    sampling = _used_by("sample") - _used_by("greedy") - {"num_return_sequences"}  # which beams have as well
    draws = bool(given.keys() & sampling) and not given.keys() & (_used_by(TRANSLATES) - _used_by("sample"))
    return given if draws else {"strategy": TRANSLATES, **given}


def _used_by(strategy: StrategyName) -> frozenset[str]:
    return frozenset(parameter.name for parameter in parameters() if strategy in parameter.strategies)


# Starting points: "Balanced" is what most peers ship as their default, the others lie to either side of it.
PRESETS: Mapping[str, DecodingSettings] = MappingProxyType(
    {
        "Precise": DecodingSettings(temperature=0.3, top_k=40, top_p=0.9),
        "Balanced": DecodingSettings(temperature=0.8, top_k=40, top_p=0.95),
        "Creative": DecodingSettings(temperature=1.2, top_k=100, top_p=0.98),
        "Neutral": DecodingSettings(),
    }
)
