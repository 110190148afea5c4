"""The chain between the model's logits and the choice, one small class a stage.

Each processor is pure and has a name; the chain is a tuple, so its order is data. A removed token's logit is -inf, and
at least one always survives. Nothing here chooses a token or knows of a model.
"""

from decoding.processors.bans import BannedWords, MinNewTokens, NeverSaid, NoRepeatNgram
from decoding.processors.base import Context, Processor, run_chain
from decoding.processors.penalties import Dry, FrequencyPenalty, LogitBias, PresencePenalty, RepetitionPenalty
from decoding.processors.temperature import ZERO_TEMPERATURE, DynamicTemperature, Temperature
from decoding.processors.truncation import EpsilonCutoff, EtaCutoff, MinP, TopA, TopH, TopK, TopNSigma, TopP, TypicalP
from decoding.processors.xtc import Xtc

# The default order of the stages. That of transformers, and what it lacks stands where the projects that made it put
# it: other penalties beside its own, the rest last before the draw.
ORDER: tuple[str, ...] = tuple(
    stage.name
    for stage in (
        LogitBias,
        RepetitionPenalty,
        FrequencyPenalty,
        PresencePenalty,
        Dry,
        NoRepeatNgram,
        BannedWords,
        MinNewTokens,
        Temperature,
        TopH,
        TopK,
        TopP,
        MinP,
        TypicalP,
        EpsilonCutoff,
        EtaCutoff,
        TopA,
        TopNSigma,
        Xtc,
    )
)

__all__ = [
    "ORDER",
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
    "NeverSaid",
    "NoRepeatNgram",
    "PresencePenalty",
    "Processor",
    "RepetitionPenalty",
    "Temperature",
    "TopA",
    "TopH",
    "TopK",
    "TopNSigma",
    "TopP",
    "TypicalP",
    "Xtc",
    "run_chain",
]
