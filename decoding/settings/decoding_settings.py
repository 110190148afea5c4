"""The settings of one run, checked together, and the strategy that they mean.

Each parameter is declared beside the processor or strategy that uses it. The page, the flags of `generate.py` and the
table of settings are all made from `parameters()`, in the order of the fields here. A parameter of a processor needs no
field: without one it comes last, and type checkers know it by `settings[PARAMETER]` alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self, TypeVar

from decoding.parameters.parameter import DECLARATION, Parameter, SettingError, T, quoted, setting
from decoding.processors import ORDER, PROCESSORS, ZERO_TEMPERATURE, ProcessorOptions, build_chain
from decoding.processors.bans import BANNED_WORDS, MIN_NEW_TOKENS, NO_REPEAT_NGRAM_SIZE
from decoding.processors.dry import DRY_ALLOWED_LENGTH, DRY_BASE, DRY_MULTIPLIER
from decoding.processors.penalties import FREQUENCY_PENALTY, LOGIT_BIAS, PRESENCE_PENALTY, REPETITION_PENALTY
from decoding.processors.temperature import DYNATEMP_EXPONENT, DYNATEMP_RANGE, TEMPERATURE
from decoding.processors.threshold import EPSILON_CUTOFF, ETA_CUTOFF, MIN_P, TOP_A, TOP_N_SIGMA
from decoding.processors.truncation import TOP_H, TOP_K, TOP_P, TYPICAL_P
from decoding.processors.xtc import XTC_PROBABILITY, XTC_THRESHOLD
from decoding.recorder import TOP_CANDIDATES
from decoding.request import Request
from decoding.stop import MAX_NEW_TOKENS, STOP_TEXTS
from decoding.strategies.base import NUM_RETURN_SEQUENCES, Strategy, StrategyOptions, StrategySpec
from decoding.strategies.beam import DIVERSITY_PENALTY, NUM_BEAM_GROUPS, NUM_BEAMS
from decoding.strategies.contrastive import PENALTY_ALPHA
from decoding.strategies.dola import DOLA_LAYERS
from decoding.strategies.hypotheses import EARLY_STOPPING, LENGTH_PENALTY, EarlyStopping
from decoding.strategies.mirostat import MIROSTAT_ETA, MIROSTAT_MODE, MIROSTAT_TAU
from decoding.strategies.parallel_samples import ParallelSamples
from decoding.strategies.registry import SPECS, STRATEGY, StrategyName
from decoding.uniform import SEED, SEEDS, draw_seed
from model.errors import AttendError, did_you_mean

_Class = TypeVar("_Class", bound=type)


def _with_all_processors(settings: _Class) -> _Class:
    """Add a field for each parameter of a registered processor that has none."""
    for parameter in (parameter for processor in PROCESSORS for parameter in processor.parameters):
        if parameter.name not in settings.__annotations__:
            settings.__annotations__[parameter.name] = Any
            setattr(settings, parameter.name, setting(parameter))
    return settings


@dataclass(frozen=True, slots=True)
@_with_all_processors
class DecodingSettings:
    """How tokens are chosen. The defaults sample from the model's own, unchanged distribution.

    Every value is checked, and converted to its type if JSON or a form sends another. `SettingError` names the value
    that is wrong, or those that do not fit together.
    """

    strategy: StrategyName = setting(STRATEGY)
    temperature: float = setting(TEMPERATURE)
    top_k: int = setting(TOP_K)
    top_p: float = setting(TOP_P)
    num_beams: int = setting(NUM_BEAMS)
    length_penalty: float = setting(LENGTH_PENALTY)
    early_stopping: EarlyStopping = setting(EARLY_STOPPING)
    num_beam_groups: int = setting(NUM_BEAM_GROUPS)
    diversity_penalty: float = setting(DIVERSITY_PENALTY)
    num_return_sequences: int = setting(NUM_RETURN_SEQUENCES)
    penalty_alpha: float = setting(PENALTY_ALPHA)
    dola_layers: str | tuple[int, ...] = setting(DOLA_LAYERS)
    seed: int = setting(SEED)
    max_new_tokens: int = setting(MAX_NEW_TOKENS)
    top_candidates: int = setting(TOP_CANDIDATES)

    # --- more filters ---

    min_p: float = setting(MIN_P)
    typical_p: float = setting(TYPICAL_P)
    top_h: float = setting(TOP_H)
    top_n_sigma: float = setting(TOP_N_SIGMA)
    top_a: float = setting(TOP_A)
    epsilon_cutoff: float = setting(EPSILON_CUTOFF)
    eta_cutoff: float = setting(ETA_CUTOFF)
    xtc_probability: float = setting(XTC_PROBABILITY)
    xtc_threshold: float = setting(XTC_THRESHOLD)
    dynatemp_range: float = setting(DYNATEMP_RANGE)
    dynatemp_exponent: float = setting(DYNATEMP_EXPONENT)
    mirostat_mode: int = setting(MIROSTAT_MODE)
    mirostat_tau: float = setting(MIROSTAT_TAU)
    mirostat_eta: float = setting(MIROSTAT_ETA)

    # --- repetition ---

    repetition_penalty: float = setting(REPETITION_PENALTY)
    frequency_penalty: float = setting(FREQUENCY_PENALTY)
    presence_penalty: float = setting(PRESENCE_PENALTY)
    no_repeat_ngram_size: int = setting(NO_REPEAT_NGRAM_SIZE)
    dry_multiplier: float = setting(DRY_MULTIPLIER)
    dry_base: float = setting(DRY_BASE)
    dry_allowed_length: int = setting(DRY_ALLOWED_LENGTH)

    # --- what the text must and must not contain ---

    min_new_tokens: int = setting(MIN_NEW_TOKENS)
    banned_words: tuple[str, ...] = setting(BANNED_WORDS)
    stop_texts: tuple[str, ...] = setting(STOP_TEXTS)
    logit_bias: tuple[tuple[int, float], ...] = setting(LOGIT_BIAS)
    order: tuple[str, ...] = setting(ORDER)

    def __post_init__(self) -> None:
        for parameter in parameters():
            try:
                value = parameter.checked(self[parameter])
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
        self._spec.check(self)

    def __getitem__(self, parameter: Parameter[T]) -> T:
        """The value of a parameter: `settings[TOP_K]`."""
        return getattr(self, parameter.name)

    @classmethod
    def from_dict(cls, settings: object) -> Self:
        """Settings from JSON or a form; missing ones have their defaults. `AttendError` for unknown names."""
        if not isinstance(settings, Mapping):
            raise AttendError(f"The settings are {quoted(settings)}, but must be a JSON object of names and values.")
        known = [parameter.name for parameter in parameters()]
        for name in settings:
            if name not in known:
                near = did_you_mean(str(name), known) or f"choose from {', '.join(known)}."
                raise AttendError(f"There is no setting {quoted(name)}: {near}")
        checked: dict[str, Any] = dict(settings)
        return cls(**checked)

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON values; `from_dict` reads them back."""
        return {parameter.name: parameter.plain(self[parameter]) for parameter in parameters()}

    def unused(self) -> tuple[str, ...]:
        """The names of settings that were changed but that this strategy does not use."""
        return tuple(
            parameter.name
            for parameter in parameters()
            if self.strategy not in parameter.strategies and self[parameter] != parameter.default
        )

    @property
    def _spec(self) -> StrategySpec:
        """The chosen strategy, whatever the temperature."""
        return SPECS[self.strategy]

    @property
    def _acts_as(self) -> StrategySpec:
        """The strategy that these settings amount to: sampling at temperature 0 is greedy decoding."""
        cold = self._spec.at_zero_temperature if self.temperature < ZERO_TEMPERATURE else None
        return cold or self._spec

    @property
    def greedy(self) -> bool:
        """Whether the most probable token is always taken."""
        return self._acts_as.name == "greedy"

    @property
    def drawn(self) -> bool:
        """Whether tokens are drawn, so that the seed matters."""
        return self._acts_as.samples

    @property
    def beams(self) -> bool:
        """Whether several continuations are followed at once, so that words may change until the search is over."""
        return self._spec.beams

    @property
    def token_by_token(self) -> bool:
        """Whether each choice depends only on the model's distribution at its position.

        One pass over a finished text is then enough to make all choices again.
        """
        return self._spec.token_by_token

    @property
    def resumable(self) -> bool:
        """Whether a text that stopped at its length limit can be continued as if it had not.

        Decoding must then depend only on the tokens of one text and the number of its draws.
        """
        return self.sequences == 1 and self._acts_as.resumable(self)

    @property
    def rows(self) -> int:
        """How many rows a pass of the model has at most."""
        return self._spec.rows(self) if self.beams else self.sequences * self._spec.rows(self)

    @property
    def sequences(self) -> int:
        """How many texts a run returns at most; without beams or draws there is only one."""
        return self.num_return_sequences if self.drawn or self.beams else 1

    def seeded(self) -> Self:
        """The same settings with a definite seed if one is used: -1 becomes a random one, so the run is repeatable."""
        return dataclasses.replace(self, seed=draw_seed()) if self.drawn and self.seed < 0 else self

    def ending_at(self, texts: Sequence[str]) -> Self:
        """The same settings with additional stop texts."""
        combined = tuple(dict.fromkeys((*self.stop_texts, *texts)))
        return self if combined == self.stop_texts else dataclasses.replace(self, stop_texts=combined)

    def strategy_for(self, request: Request) -> Strategy:
        """The strategy for one request; `AttendError` if its model cannot do it."""
        settings = self.seeded()
        if settings.sequences > 1 and not settings.beams:
            return ParallelSamples(request, [sample.strategy_for(request) for sample in settings.each_sample()])
        return settings._spec.build(settings, request, settings.options(request))

    def options(self, request: Request) -> StrategyOptions:
        """What every strategy takes from the settings, which need a definite seed if anything is drawn."""
        acts_as = self._acts_as
        return StrategyOptions(
            max_new_tokens=self.max_new_tokens,
            top_candidates=self.top_candidates,
            stop_texts=self.stop_texts,
            processors=build_chain(
                acts_as.processors, ProcessorOptions(self, request, acts_as.min_tokens_to_keep(request))
            ),
            seed=self.seed if self.drawn else None,
        )

    def each_sample(self) -> list[Self]:
        """The settings of each single sample: the seeds count up from the first and wrap around."""
        return [
            dataclasses.replace(self, seed=(self.seed + index) % SEEDS, num_return_sequences=1)
            for index in range(self.num_return_sequences)
        ]


@cache
def parameters() -> tuple[Parameter[Any], ...]:
    """Every setting, in the order in which they are offered."""
    declared = [field.metadata[DECLARATION] for field in dataclasses.fields(DecodingSettings)]
    used = {name: spec.all_parameters() | {STRATEGY.name} for name, spec in SPECS.items()}
    return tuple(
        dataclasses.replace(parameter, strategies=tuple(name for name in SPECS if parameter.name in used[name]))
        for parameter in declared
    )
