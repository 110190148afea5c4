"""A call of decoding, which the page, its endpoints, the scheduler, a leased GPU and replicas pass to each other."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from decoding.request import ModelWithTokenizer, Request
from decoding.scheduled_run import Pass
from decoding.settings import DecodingSettings
from decoding.step import Hypothesis
from model.inspection.intervention import Intervention

Passes = Generator[Pass | None, None, None]  # None when there was none for a while; closing it ends the run


@dataclass(frozen=True, slots=True)
class DecodeCall:
    """A prompt that is continued with one or several settings, in the same forward passes.

    All of it is plain data, so that it can be sent to another process. `Pass.steps` are numbered as `settings` are.
    """

    model: str  # its name
    prompt: tuple[int, ...]  # what `LanguageModel.prefill` takes
    settings: tuple[DecodingSettings, ...]
    cards: tuple[int, ...] = ()  # the number of each settings' card, which errors name; () where there are no cards
    attention: bool = True  # whether every choice carries its attention
    draws_used: int = 0  # random numbers that an earlier run of the same text took from the seed's stream
    resumed: Hypothesis | None = None  # the last hypothesis of the run that is continued
    interventions: tuple[Intervention, ...] = ()  # what is changed inside the model; such a run shares no passes
    visitor: str = ""  # whose run it is; the scheduler takes visitors in turn

    @property
    def rows(self) -> int:
        """How many rows all settings together need in a pass, at most."""
        return sum(settings.rows for settings in self.settings)

    @property
    def tokens(self) -> tuple[int, ...]:
        """The prompt, and what is already generated."""
        return self.prompt if self.resumed is None else (*self.prompt, *self.resumed.tokens)

    def request(self, loaded: ModelWithTokenizer) -> Request:
        """The request for a model; `AttendError` where the model can't read the prompt."""
        return Request.of(
            loaded,
            self.prompt,
            attention=self.attention,
            draws_used=self.draws_used,
            resumed=self.resumed,
            interventions=self.interventions,
        )


Decode = Callable[[DecodeCall], Passes]
