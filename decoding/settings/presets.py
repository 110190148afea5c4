"""Settings to start from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from decoding.settings.decoding_settings import DecodingSettings, parameters
from decoding.strategies.registry import StrategyName

# "Balanced" is what most similar programs have as their default; the others lie on either side of it.
PRESETS: Mapping[str, DecodingSettings] = MappingProxyType(
    {
        "Precise": DecodingSettings(temperature=0.3, top_k=40, top_p=0.9),
        "Balanced": DecodingSettings(temperature=0.8, top_k=40, top_p=0.95),
        "Creative": DecodingSettings(temperature=1.2, top_k=100, top_p=0.98),
        "Neutral": DecodingSettings(),
    }
)

TRANSLATION_STRATEGY: StrategyName = "beam"  # a translator's default: few translations are right, so search for one


def for_translator(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings by name with a translator's default strategy, beam search, unless they name a strategy, or settings that
    sampling uses and greedy decoding doesn't, such as a temperature, and none that only beam search uses."""
    sampling = _used_by("sample") - _used_by("greedy") - {"num_return_sequences"}  # beams have it as well
    samples = settings.keys() & sampling and not settings.keys() & (_used_by(TRANSLATION_STRATEGY) - _used_by("sample"))
    return settings if samples else {"strategy": TRANSLATION_STRATEGY, **settings}


def _used_by(strategy: StrategyName) -> frozenset[str]:
    return frozenset(parameter.name for parameter in parameters() if strategy in parameter.strategies)
