"""A call of decoding, which the page, its endpoints, the scheduler, a leased GPU and replicas pass to each other."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from decoding.request import ModelWithTokenizer, Request, RequestOptions
from decoding.scheduled_run import Pass
from decoding.settings import DecodingSettings

Passes = Generator[Pass | None, None, None]  # None when there was none for a while; closing it ends the run


@dataclass(frozen=True, slots=True)
class DecodeCall:
    """A prompt that is continued with one or several settings, in the same forward passes.

    All of it is plain data, so that it can be sent to another process. `Pass.steps` are numbered as `settings` are.
    """

    model: str  # its name
    prompt: tuple[int, ...]  # what `LanguageModel.prefill` takes
    settings: tuple[DecodingSettings, ...]
    options: RequestOptions = RequestOptions(attention=True)  # a run with interventions shares no passes
    visitor: str = ""  # whose run it is; the scheduler takes visitors in turn

    @property
    def rows(self) -> int:
        """How many rows all settings together need in a pass, at most."""
        return sum(settings.rows for settings in self.settings)

    @property
    def tokens(self) -> tuple[int, ...]:
        """The prompt, and what is already generated."""
        resumed = self.options.resumed
        return self.prompt if resumed is None else (*self.prompt, *resumed.tokens)

    def request(self, loaded: ModelWithTokenizer) -> Request:
        """The request for a model; `AttendError` where the model can't read the prompt."""
        return Request.of(loaded, self.prompt, self.options)


Decode = Callable[[DecodeCall], Passes]
