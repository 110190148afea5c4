"""All processors that settings can switch on, in their default order, and the chain of a request.

To add one, write a class as `ConfigurableProcessor` describes it and list it here.
"""

from __future__ import annotations

from collections.abc import Sequence

from decoding.parameters.list_parameter import Order
from decoding.processors.bans import BannedWords, MinNewTokens, NoRepeatNgram
from decoding.processors.base import ConfigurableProcessor, Processor, ProcessorOptions
from decoding.processors.dry import Dry
from decoding.processors.penalties import FrequencyPenalty, LogitBias, PresencePenalty, RepetitionPenalty
from decoding.processors.rules import RuleStages
from decoding.processors.temperature import Temperature
from decoding.processors.threshold import EpsilonCutoff, EtaCutoff, MinP, TopA, TopNSigma
from decoding.processors.truncation import TopH, TopK, TopP, TypicalP
from decoding.processors.xtc import Xtc
from decoding.stop import MAX_NEW_TOKENS

# The order is that of transformers. Processors that it lacks are where their authors put them: penalties beside the
# other penalties, the rest at the end, before the draw.
PENALTIES_AND_BANS: tuple[type[ConfigurableProcessor], ...] = (  # for every strategy, greedy decoding included
    LogitBias,
    RepetitionPenalty,
    FrequencyPenalty,
    PresencePenalty,
    Dry,
    NoRepeatNgram,
    BannedWords,
    MinNewTokens,
)
WARPERS: tuple[type[ConfigurableProcessor], ...] = (  # they reshape or cut the distribution
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
)
RANDOM: tuple[type[ConfigurableProcessor], ...] = (Xtc,)  # random, so only strategies that sample can use them
_RESHAPING = frozenset(processor.name for processor in (*WARPERS, *RANDOM))
PROCESSORS = (*PENALTIES_AND_BANS, *WARPERS, *RANDOM)

_NAMES = tuple(processor.name for processor in PROCESSORS)
ORDER = Order(
    name="order",
    label="Filter order",
    section="Order of the filters",
    default=_NAMES,
    help="The order in which the filters run; those that change nothing are skipped.",
    choices=_NAMES,
)


def switches(processor: type[ConfigurableProcessor]) -> tuple[str, ...]:
    """The names of the settings that switch a processor on when they are not neutral."""
    return tuple(parameter.name for parameter in processor.parameters if parameter.neutral is not None)


def build_chain(processors: Sequence[type[ConfigurableProcessor]], options: ProcessorOptions) -> tuple[Processor, ...]:
    """The processors that the settings switch on, in the order of the settings, with those of the request's rules."""
    position = {name: index for index, name in enumerate(options[ORDER])}
    switched_on = (
        processor
        for processor in sorted(processors, key=lambda processor: position[processor.name])
        if any(
            options[parameter] != parameter.neutral
            for parameter in processor.parameters
            if parameter.neutral is not None
        )
    )
    rules = RuleStages.of(options.request, options[MAX_NEW_TOKENS])
    stages = [stage for processor in switched_on if (stage := processor.of(options)) is not None]
    first_reshaping = next((index for index, stage in enumerate(stages) if stage.name in _RESHAPING), len(stages))
    return (*rules.first, *stages[:first_reshaping], *rules.after_penalties, *stages[first_reshaping:], *rules.last)
