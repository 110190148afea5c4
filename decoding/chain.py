"""From settings to the chain of processors: which stages are on, what each is made of, and in which order they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from decoding.declared import DeclaredSettings, parameters
from decoding.parameter import SettingError
from decoding.processors import (
    ZERO_TEMPERATURE,
    BannedWords,
    Dry,
    DynamicTemperature,
    EpsilonCutoff,
    EtaCutoff,
    FrequencyPenalty,
    LogitBias,
    MinNewTokens,
    MinP,
    NeverSaid,
    NoRepeatNgram,
    PresencePenalty,
    Processor,
    RepetitionPenalty,
    Temperature,
    TopA,
    TopH,
    TopK,
    TopNSigma,
    TopP,
    TypicalP,
    Xtc,
)
from decoding.strategy import Request
from decoding.traits import TRAITS

# The settings that switch a stage on when they are not neutral, and how to make it.
_Stage = tuple[tuple[str, ...], Callable[[DeclaredSettings, Request], Processor]]

BREAKERS = '\n:"*'  # what ends every repetition for DRY: text-generation-webui's default, here always


def _logit_bias(settings: DeclaredSettings, request: Request) -> Processor:
    highest = max(token for token, _ in settings.logit_bias)
    if highest >= request.vocabulary_size:
        raise SettingError(
            f"logit_bias names token {highest}, but this model's vocabulary ends at {request.vocabulary_size - 1}: "
            "choose smaller ids.",
            "logit_bias",
        )
    return LogitBias(settings.logit_bias)


def _temperature(settings: DeclaredSettings, request: Request) -> Processor:
    if settings.dynatemp_range == 0:
        return Temperature(settings.temperature)
    return DynamicTemperature(
        max(0.0, settings.temperature - settings.dynatemp_range),
        settings.temperature + settings.dynatemp_range,
        settings.dynatemp_exponent,
    )


def _dry(settings: DeclaredSettings, request: Request) -> Processor:
    @cache
    def breaks(token: int) -> bool:
        return any(breaker in request.text_of((token,)) for breaker in BREAKERS)

    return Dry(settings.dry_multiplier, settings.dry_base, settings.dry_allowed_length, breaks)


def _banned_words(settings: DeclaredSettings, request: Request) -> Processor:
    """Each text as it is and behind a space, since a word has other tokens inside a sentence."""
    if request.ids_of is None:
        raise ValueError("texts can be banned only where the request says how to encode them")
    texts = dict.fromkeys(spelled for text in settings.banned_words for spelled in (text, f" {text}"))
    return BannedWords(tuple(dict.fromkeys(tuple(request.ids_of(text)) for text in texts)))


def _min_tokens_to_keep(settings: DeclaredSettings, request: Request) -> int:
    """How many tokens a filter must leave: beams that draw need one besides the end tokens, as in transformers."""
    traits = TRAITS[settings.strategy]
    return max(2, 1 + len(request.end_tokens)) if traits.beams and traits.drawn else 1


def _keeping(kind: Callable[[Any, int], Processor], name: str) -> _Stage:
    """The filter that a setting of this name switches on and is all there is to, but for how much it must leave."""
    return (name,), lambda settings, request: kind(getattr(settings, name), _min_tokens_to_keep(settings, request))


_STAGES: Mapping[str, _Stage] = MappingProxyType(
    {
        "logit_bias": (("logit_bias",), _logit_bias),
        "repetition_penalty": (
            ("repetition_penalty",),
            lambda settings, _: RepetitionPenalty(settings.repetition_penalty),
        ),
        "frequency_penalty": (("frequency_penalty",), lambda settings, _: FrequencyPenalty(settings.frequency_penalty)),
        "presence_penalty": (("presence_penalty",), lambda settings, _: PresencePenalty(settings.presence_penalty)),
        "dry": (("dry_multiplier",), _dry),
        "no_repeat_ngram_size": (
            ("no_repeat_ngram_size",),
            lambda settings, _: NoRepeatNgram(settings.no_repeat_ngram_size),
        ),
        "banned_words": (("banned_words",), _banned_words),
        "min_new_tokens": (
            ("min_new_tokens",),
            lambda settings, request: MinNewTokens(settings.min_new_tokens, request.end_tokens),
        ),
        "temperature": (("temperature", "dynatemp_range"), _temperature),
        "top_h": (("top_h",), lambda settings, _: TopH(settings.top_h)),
        "top_k": _keeping(TopK, "top_k"),
        "top_p": _keeping(TopP, "top_p"),
        "min_p": _keeping(MinP, "min_p"),
        "typical_p": _keeping(TypicalP, "typical_p"),
        "epsilon_cutoff": _keeping(EpsilonCutoff, "epsilon_cutoff"),
        "eta_cutoff": _keeping(EtaCutoff, "eta_cutoff"),
        "top_a": _keeping(TopA, "top_a"),
        "top_n_sigma": _keeping(TopNSigma, "top_n_sigma"),
        "xtc": (
            ("xtc_probability",),
            lambda settings, request: Xtc(
                settings.xtc_threshold, settings.xtc_probability, settings.seed, request.end_tokens, request.drawn
            ),
        ),
    }
)

SWITCHES: Mapping[str, tuple[str, ...]] = MappingProxyType({stage: names for stage, (names, _) in _STAGES.items()})


def chain(settings: DeclaredSettings, request: Request) -> tuple[Processor, ...]:
    """The stages that change something under the settings' strategy, in their order."""
    declared = {parameter.name: parameter for parameter in parameters()}

    def is_on(name: str) -> bool:
        parameter = declared[name]
        return settings.strategy in parameter.strategies and getattr(settings, name) != parameter.neutral

    on = [stage for stage in settings.order if any(map(is_on, _STAGES[stage][0]))]
    if settings.temperature < ZERO_TEMPERATURE:  # where that is not greedy, nothing is drawn and no order changes
        on = [stage for stage in on if stage != "temperature"]
    first = (NeverSaid(request.never),) if request.never else ()
    return (*first, *(_STAGES[stage][1](settings, request) for stage in on))
