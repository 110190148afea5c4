"""Decoding with the page's models. All runs of one model share its forward passes."""

from __future__ import annotations

from collections.abc import Callable

from decoding.call import DecodeCall, Passes
from decoding.scheduled_run import run_alone
from decoding.schedulers import Schedulers
from model.inspection.inspector import under
from model.loaded import LoadedModel


class Decoder:
    """Runs strategies with models by name. Arguments and results are plain, so a host may run it in another process."""

    def __init__(
        self, get: Callable[[object], LoadedModel], schedulers: Schedulers, *, alone: Callable[[str], bool]
    ) -> None:
        """
        Args:
            get: returns a model by its name.
            schedulers: let the runs of a model share its passes.
            alone: whether each run of a model of this name has passes of its own instead.
        """
        self._get, self._schedulers, self._alone = get, schedulers, alone

    def decode(self, call: DecodeCall) -> Passes:
        """Continue the prompt with all settings of the call."""
        loaded = self._get(call.model)
        request = call.request(loaded)
        strategies = [settings.strategy_for(request) for settings in call.settings]
        if request.options.interventions or self._alone(loaded.name):
            model = under(loaded.model, request.options.interventions)
            yield from run_alone(model, call.tokens, strategies, loaded.lock)
            return
        scheduler = self._schedulers.of(loaded.lock)
        yield from scheduler.run(loaded.model, call.tokens, strategies, rows=call.rows, visitor=call.visitor or None)

    def forget(self, visitor: str) -> None:
        """Drop the cached prefixes of a visitor who has left."""
        self._schedulers.forget(visitor)
