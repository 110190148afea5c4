"""All strategies, in the order in which they are offered.

To add one, write a `StrategySpec` beside its strategy, list it here with its name, and give parameters of its own a
field in `decoding.settings.DecodingSettings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, cast

from decoding.parameters.parameter import Parameter
from decoding.processors.registry import PROCESSORS
from decoding.processors.rules import RULES
from decoding.strategies.base import StrategySpec
from decoding.strategies.beam import Beam, BeamSample, DiverseBeam
from decoding.strategies.contrastive import Contrastive
from decoding.strategies.dola import Dola
from decoding.strategies.sampling import Greedy, Sample

StrategyName = Literal["greedy", "sample", "beam", "beam_sample", "diverse_beam", "contrastive", "dola"]

_SPECS: tuple[StrategySpec, ...] = (
    Greedy(),
    Sample(),
    Beam(),
    BeamSample(),
    DiverseBeam(),
    Contrastive(),
    Dola(),
)
SPECS: Mapping[StrategyName, StrategySpec] = MappingProxyType({cast(StrategyName, spec.name): spec for spec in _SPECS})
STRATEGIES: tuple[StrategyName, ...] = tuple(SPECS)

STRATEGY: Parameter[StrategyName] = Parameter(
    name="strategy",
    label="Strategy",
    default="sample",
    help="greedy always takes the most probable token, sample draws one at random, beam searches for the most "
    "probable text; beam_sample adds random draws to beam search, diverse_beam makes groups of beams differ; "
    "contrastive avoids tokens that resemble the text so far, dola favours tokens that only the upper layers "
    "predict. Translators use beam by default.",
    neutral=None,
    choices=STRATEGIES,
    choice_labels=tuple(spec.label for spec in _SPECS),
)


def stage_labels() -> Mapping[str, str]:
    """What people call the stages of a step, by their names."""
    own = (stage for spec in _SPECS for stage in spec.stages)
    return {stage.name: stage.label for stage in (*PROCESSORS, *RULES, *own)}
