"""What runs in a browser: some of the strategies, and which settings they use there."""

from __future__ import annotations

from collections.abc import Sequence

from decoding.parameters.parameter import Parameter
from decoding.processors.dry import Dry
from decoding.strategies.base import NUM_RETURN_SEQUENCES
from decoding.strategies.mirostat import MIROSTAT_ETA, MIROSTAT_MODE, MIROSTAT_TAU

STRATEGIES = ("greedy", "sample", "beam", "beam_sample")
_SEARCHES = ("beam", "beam_sample")
_OF_PYTHON = {parameter.name for parameter in (*Dry.parameters, MIROSTAT_MODE, MIROSTAT_TAU, MIROSTAT_ETA)}


def strategies_of(parameter: Parameter) -> Sequence[str]:
    """The strategies that use a setting in a browser; none if it has no effect there."""
    if parameter.name in _OF_PYTHON:
        return ()
    known = _SEARCHES if parameter.name == NUM_RETURN_SEQUENCES.name else STRATEGIES  # which samples one text at a time
    return [strategy for strategy in parameter.strategies if strategy in known]
