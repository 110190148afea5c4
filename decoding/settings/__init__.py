"""The settings of a run: every parameter is a field; they are checked together and turned into a strategy."""

from decoding.settings.decoding_settings import DecodingSettings, parameters
from decoding.settings.presets import PRESETS, TRANSLATION_STRATEGY, for_translator
from decoding.strategies.registry import STRATEGIES, StrategyName

__all__ = [
    "PRESETS",
    "STRATEGIES",
    "TRANSLATION_STRATEGY",
    "DecodingSettings",
    "StrategyName",
    "for_translator",
    "parameters",
]
