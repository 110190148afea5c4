"""A model under interventions: every pass of it is changed, so that a whole text can be generated with a head off.

Shapes: R rows, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from torch import Tensor

from model.errors import AttendError
from model.inspection.anatomy import Anatomy
from model.inspection.intervention import Intervention
from model.inspection.probe import Probe
from model.interface import Cache, Forward, Inspection, LanguageModel, Want


class _PaddedCache(Cache, Protocol):
    """A cache of a model that can be changed, which also tells where its columns are padding."""

    @property
    def length(self) -> int:
        """Columns, padding included."""
        ...

    @property
    def padding(self) -> Sequence[int]:
        """Columns of each row that hold nothing, on the left."""
        ...


CacheT = TypeVar("CacheT", bound=_PaddedCache)


class Intervened(Generic[CacheT]):
    """A `LanguageModel` that wraps another. Its passes can't share a batch with those of the model itself."""

    def __init__(self, model: LanguageModel[CacheT], anatomy: Anatomy, interventions: Sequence[Intervention]) -> None:
        """
        Args:
            model: must compute by its modules alone.

        Raises `AttendError` for parts that the model lacks, and for what needs the whole text at once.
        """
        for one in interventions:
            anatomy.check(one)
            if one.action in ("mean", "replace"):
                raise AttendError(
                    f"A text can't be generated under {one.action}, which needs the whole text at once: choose zero or "
                    "scale."
                )
        self._model, self._anatomy, self._interventions = model, anatomy, tuple(interventions)

        self.vocabulary_size, self.context_length = model.vocabulary_size, model.context_length
        self.decoder_start, self.layer_count = model.decoder_start, model.layer_count
        self.joinable = model.joinable

    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[CacheT]:
        with self._probe([0]):
            return self._model.prefill(prompt, want=want)

    def step(self, tokens: Sequence[int], cache: CacheT, *, want: Want = Want()) -> Forward[CacheT]:
        with self._probe([cache.length - padding for padding in cache.padding]):
            return self._model.step(tokens, cache, want=want)

    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        with self._probe([0]):
            return self._model.logits(prompt, tokens)

    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        with self._probe([0]):
            return self._model.inspect(tokens, source=source)

    @contextmanager
    def _probe(self, starts: Sequence[int]) -> Iterator[None]:
        probe = Probe(self._anatomy, rows=len(starts), interventions=[self._interventions], starts=starts)
        with probe.attached():
            yield
