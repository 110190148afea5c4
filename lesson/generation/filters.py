"""What five settings do to the distribution of one step, computed by the processors of `decoding`.

Shapes: V is the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from decoding.parameters.parameter import Parameters
from decoding.processors import (
    Context,
    FrequencyPenalty,
    PresencePenalty,
    Processor,
    Temperature,
    TopK,
    TopP,
    run_chain,
)
from decoding.processors.penalties import FREQUENCY_PENALTY, PRESENCE_PENALTY
from decoding.processors.temperature import TEMPERATURE
from decoding.processors.truncation import TOP_K, TOP_P
from decoding.recorder import record
from decoding.step import Choice

# Temperature has no upper limit; this one is high enough to show all words becoming nearly equal.
SLIDERS: Parameters = (
    replace(TEMPERATURE, minimum=0.1, maximum=5, step=0.1),
    replace(TOP_K, maximum=9),
    TOP_P,
    FREQUENCY_PENALTY,
    PRESENCE_PENALTY,
)


# The processor of each, in the usual order.
_PROCESSORS: Mapping[str, Callable[[Any], Processor]] = {
    "frequency_penalty": FrequencyPenalty,
    "presence_penalty": PresencePenalty,
    "temperature": Temperature,
    "top_k": TopK,
    "top_p": TopP,
}
_NEUTRAL = {parameter.name: parameter.neutral for parameter in SLIDERS}


def changed(filters: Mapping[str, float]) -> dict[str, float]:
    """The settings that do something, by their names."""
    return {name: value for name, value in filters.items() if value != _NEUTRAL[name]}


def chain_of(filters: Mapping[str, float]) -> tuple[Processor, ...]:
    """The processors of the settings that do something."""
    values = changed(filters)
    return tuple(make(values[name]) for name, make in _PROCESSORS.items() if name in values)


def filter_step(logits: Tensor, used: Sequence[int], filters: Mapping[str, float]) -> Choice:
    """The record of one step: every token's probability before the filters and after each of them.

    Args:
        logits: (V,).
        used: how often each token occurs in the text so far, V numbers.
        filters: settings of `SLIDERS`, by their names.
    """
    written = tuple(token for token, count in enumerate(used) for _ in range(count))
    chain = chain_of(filters)
    stages = run_chain(chain, logits[None].float(), Context(prompt=(), tokens=(written,)))  # (1, V) each
    names = ("model", *(processor.name for processor in chain))
    return record(names, stages, len(logits))[0].choice(int(stages[-1][0].argmax()))
