"""What five settings do to the distribution of one step, computed by the processors of `decoding`.

Shapes: V is the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from torch import Tensor

from decoding.parameters.parameter import Parameter, Parameters
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


@dataclass(frozen=True, slots=True)
class Filters:
    """The settings that a step's distribution passes through."""

    temperature: float = TEMPERATURE.default
    top_k: int = TOP_K.default
    top_p: float = TOP_P.default
    frequency_penalty: float = FREQUENCY_PENALTY.default
    presence_penalty: float = PRESENCE_PENALTY.default

    def changed(self) -> Mapping[str, float]:
        """The settings that do something, by their names."""
        values: dict[str, float] = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if value != _PARAMETERS[name].neutral}

    def chain(self) -> tuple[Processor, ...]:
        """The processors of the settings that do something, in the usual order."""
        stages: Mapping[str, Processor] = {
            "frequency_penalty": FrequencyPenalty(self.frequency_penalty),
            "presence_penalty": PresencePenalty(self.presence_penalty),
            "temperature": Temperature(self.temperature),
            "top_k": TopK(max(1, self.top_k)),
            "top_p": TopP(self.top_p),
        }
        changed = self.changed()
        return tuple(stage for name, stage in stages.items() if name in changed)


_PARAMETERS: Mapping[str, Parameter[Any]] = {parameter.name: parameter for parameter in SLIDERS}


def filter_step(logits: Tensor, used: Sequence[int], filters: Filters) -> Choice:
    """The record of one step: every token's probability before the filters and after each of them.

    Args:
        logits: (V,).
        used: how often each token occurs in the text so far, V numbers.
    """
    written = tuple(token for token, count in enumerate(used) for _ in range(count))
    chain = filters.chain()
    stages = run_chain(chain, logits[None].float(), Context(prompt=(), tokens=(written,)))  # (1, V) each
    names = ("model", *(processor.name for processor in chain))
    return record(names, stages, len(logits))[0].choice(int(stages[-1][0].argmax()))
