"""The chain between the model's logits and the choice: one small class per stage.

Each processor is pure and has a name; the chain is a tuple, so its order is data. A removed token's logit is -inf, and
at least one always survives. Nothing here chooses a token or knows a model.
"""

from decoding.processors.bans import BannedWords, MinNewTokens, NoRepeatNgram, SuppressTokens
from decoding.processors.base import Context, Processor, ProcessorOptions, run_chain
from decoding.processors.dry import Dry
from decoding.processors.penalties import FrequencyPenalty, LogitBias, PresencePenalty, RepetitionPenalty
from decoding.processors.registry import ORDER, PROCESSORS, build_chain, switches
from decoding.processors.temperature import ZERO_TEMPERATURE, DynamicTemperature, Temperature
from decoding.processors.threshold import EpsilonCutoff, EtaCutoff, MinP, TopA, TopNSigma
from decoding.processors.truncation import TopH, TopK, TopP, TypicalP
from decoding.processors.xtc import Xtc

__all__ = [
    "ORDER",
    "PROCESSORS",
    "ZERO_TEMPERATURE",
    "BannedWords",
    "Context",
    "Dry",
    "DynamicTemperature",
    "EpsilonCutoff",
    "EtaCutoff",
    "FrequencyPenalty",
    "LogitBias",
    "MinNewTokens",
    "MinP",
    "NoRepeatNgram",
    "PresencePenalty",
    "Processor",
    "ProcessorOptions",
    "RepetitionPenalty",
    "SuppressTokens",
    "Temperature",
    "TopA",
    "TopH",
    "TopK",
    "TopNSigma",
    "TopP",
    "TypicalP",
    "Xtc",
    "build_chain",
    "run_chain",
    "switches",
]
