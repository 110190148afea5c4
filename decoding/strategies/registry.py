"""All strategies, in the order in which they are offered.

To add one, write a `StrategySpec` beside its strategy, list it here with its name, give parameters of its own a field
in `decoding.settings.DecodingSettings`, and a label on the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, cast

from decoding.parameters.parameter import Parameter
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
    default="sample",
    help="greedy always takes the most probable token, sample draws one at random, beam searches for the most "
    "probable text; beam_sample adds random draws to beam search, diverse_beam makes groups of beams differ; "
    "contrastive avoids tokens that resemble the text so far, dola favours tokens that only the upper layers "
    "predict. Translators use beam by default.",
    neutral=None,
    choices=STRATEGIES,
)
