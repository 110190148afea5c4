"""Decoding with the page's models. All runs of one model share its forward passes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from typing import Protocol

from decoding.request import Request
from decoding.scheduled_run import Pass, run_alone
from decoding.schedulers import Schedulers
from decoding.settings import DecodingSettings
from decoding.step import Hypothesis
from decoding.strategies.base import Strategy
from model.loaded import LoadedModel
from ui.runs.comparison import CardStrategy

Passes = Generator[Pass | None, None, None]  # None when there was none for a while; closing it ends the run
DecodeTogether = Callable[[str, tuple[int, ...], Mapping[int, DecodingSettings], bool, str], Passes]


class Decode(Protocol):
    """See `Decoder.decode`."""

    def __call__(
        self,
        name: str,
        prompt: tuple[int, ...],
        settings: DecodingSettings,
        drawn: int = 0,
        resumed: Hypothesis | None = None,
        visitor: str = "",
        /,
    ) -> Passes: ...


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

    def decode(
        self,
        name: str,
        prompt: tuple[int, ...],
        settings: DecodingSettings,
        drawn: int = 0,
        resumed: Hypothesis | None = None,
        visitor: str = "",
    ) -> Passes:
        """Continue a prompt; the Steps have the number 0.

        Args:
            drawn: draws that an earlier run of the same text took from the seed's stream.
            resumed: the last hypothesis of the run, if it is continued.
            visitor: whose run it is; the scheduler takes visitors in turn.
        """
        loaded = self._get(name)
        request = Request.of(loaded, prompt, attention=True, draws_used=drawn, resumed=resumed)
        generated = () if resumed is None else resumed.tokens
        yield from self._run(loaded, (*prompt, *generated), [settings.strategy_for(request)], settings.rows, visitor)

    def decode_together(
        self,
        name: str,
        prompt: tuple[int, ...],
        cards: Mapping[int, DecodingSettings],
        attention: bool,
        visitor: str = "",
    ) -> Passes:
        """Continue a prompt under several settings at once; the Steps have the numbers of the cards.

        Args:
            cards: the settings, by the numbers of their cards.
        """
        loaded = self._get(name)
        request = Request.of(loaded, prompt, attention=attention)
        strategies = [CardStrategy(number, each.strategy_for(request)) for number, each in cards.items()]
        rows, numbers = sum(card.rows for card in cards.values()), tuple(cards)
        with closing(self._run(loaded, prompt, strategies, rows, visitor)) as passes:
            for each in passes:
                yield each and Pass({numbers[index]: step for index, step in each.steps.items()}, each.seconds)

    def forget(self, visitor: str) -> None:
        """Drop the cached prefixes of a visitor who has left."""
        self._schedulers.forget(visitor)

    def _run(
        self, loaded: LoadedModel, prompt: Sequence[int], strategies: Sequence[Strategy], rows: int, visitor: str
    ) -> Passes:
        if self._alone(loaded.name):
            return run_alone(loaded.model, prompt, strategies, loaded.lock)
        scheduler = self._schedulers.of(loaded.lock)
        return scheduler.run(loaded.model, prompt, strategies, rows=rows, visitor=visitor or None)
