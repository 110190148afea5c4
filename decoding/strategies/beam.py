"""The three strategies of beam search: the best continuations, drawn ones, and diverse groups."""

from __future__ import annotations

from decoding.parameters.parameter import Parameter, SettingError, Settings
from decoding.processors import PROCESSORS
from decoding.processors.registry import PENALTIES_AND_BANS, WARPERS
from decoding.request import Request
from decoding.strategies.base import NUM_RETURN_SEQUENCES, StrategyOptions, StrategySpec
from decoding.strategies.beam_search import BeamSearch
from decoding.strategies.hypotheses import EARLY_STOPPING, LENGTH_PENALTY
from decoding.uniform import SEED

NUM_BEAMS = Parameter(
    name="num_beams",
    label="Beams",
    default=4,
    help="How many texts beam search follows at once.",
    neutral=1,
    integer=True,
    minimum=1,
    maximum=8,
)
NUM_BEAM_GROUPS = Parameter(
    name="num_beam_groups",
    label="Beam groups",
    default=2,
    help="How many groups the beams are split into.",
    neutral=1,
    integer=True,
    minimum=1,
    maximum=8,
)
DIVERSITY_PENALTY = Parameter(
    name="diversity_penalty",
    label="Diversity penalty",
    default=0.5,
    help="How much a token is penalised for each beam of an earlier group that chose it at the same step.",
    neutral=0.0,
    maximum=5,
    step=0.05,
)


class Beam(StrategySpec):
    name = "beam"
    label = "Beam search"
    help = "Follows several texts at once and keeps the most probable one."
    parameters = (NUM_BEAMS, LENGTH_PENALTY, EARLY_STOPPING, NUM_RETURN_SEQUENCES)
    processors = (*PENALTIES_AND_BANS, *WARPERS)
    beams = True

    def check(self, settings: Settings) -> None:
        returned, beams = settings[NUM_RETURN_SEQUENCES], settings[NUM_BEAMS]
        if returned > beams:
            raise SettingError(
                f"num_return_sequences is {returned}, but num_beams is {beams}, and a search returns at most one text "
                "per beam: lower the first or raise the second.",
                "num_return_sequences",
                "num_beams",
            )

    def rows(self, settings: Settings) -> int:
        return settings[NUM_BEAMS]

    def resumable(self, settings: Settings) -> bool:
        return False

    def build(self, settings: Settings, request: Request, options: StrategyOptions) -> BeamSearch:
        return self._search(settings, request, options)

    def _search(
        self,
        settings: Settings,
        request: Request,
        options: StrategyOptions,
        *,
        num_beam_groups: int = 1,
        diversity_penalty: float = 0.0,
    ) -> BeamSearch:
        return BeamSearch(
            request,
            options,
            num_beams=settings[NUM_BEAMS],
            length_penalty=settings[LENGTH_PENALTY],
            early_stopping=settings[EARLY_STOPPING],
            num_return_sequences=settings[NUM_RETURN_SEQUENCES],
            num_beam_groups=num_beam_groups,
            diversity_penalty=diversity_penalty,
        )


class BeamSample(Beam):
    name = "beam_sample"
    label = "Beam sampling"
    help = "Follows several texts at once, continuing each at random."
    parameters = (*Beam.parameters, SEED)
    processors = PROCESSORS
    samples = True
    at_zero_temperature = Beam()

    def min_tokens_to_keep(self, request: Request) -> int:
        return max(2, 1 + len(request.end_tokens))  # one besides the end tokens, as in transformers


class DiverseBeam(Beam):
    name = "diverse_beam"
    label = "Diverse beams"
    help = "Beam search in groups that avoid each other’s tokens."
    parameters = (*Beam.parameters, NUM_BEAM_GROUPS, DIVERSITY_PENALTY)

    def check(self, settings: Settings) -> None:
        super().check(settings)
        beams, groups = settings[NUM_BEAMS], settings[NUM_BEAM_GROUPS]
        if beams % groups:
            raise SettingError(
                f"num_beams is {beams}, but num_beam_groups is {groups}, and all groups must be the same size: make "
                f"the first a multiple of {groups}, or change the number of groups.",
                "num_beams",
                "num_beam_groups",
            )

    def build(self, settings: Settings, request: Request, options: StrategyOptions) -> BeamSearch:
        return self._search(
            settings,
            request,
            options,
            num_beam_groups=settings[NUM_BEAM_GROUPS],
            diversity_penalty=settings[DIVERSITY_PENALTY],
        )
