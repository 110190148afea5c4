"""Rows of several strategies or prompts that share the passes of one model.

Equal prompts share one prefill, whose row is repeated. Different prompts are read in one pass if the model supports it,
and otherwise one by one. Each strategy sees only its own rows of a pass, without padding, so its Steps are the same as
if it ran alone. Finished strategies leave the batch, and batches can be merged and split between two passes. Knows no
strategy by name, and models only by their interface.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Generic, Self

from decoding.step import Step
from decoding.strategies.base import Strategy
from model.errors import AttendError
from model.interface import Attention, CacheT, Forward, LanguageModel, PrefillsTogether, Want


def generate_batch(
    model: LanguageModel[CacheT], prompts: Sequence[Sequence[int]], strategies: Sequence[Strategy]
) -> Iterator[list[Step | None]]:
    """The loop of `generate.py` for several strategies, all in one batch; close the generator to stop.

    Yields:
        For every pass, each strategy's Step, in order; None if it decided nothing or has finished. Up to rounding, the
        Steps are the same as if each strategy ran alone.

    Raises:
        AttendError: if the prompts have different lengths and the model cannot batch them.
    """
    _check_joinable(model, prompts)
    batch = Batch.read(model, prompts, strategies)
    entries = batch.entries
    while batch.entries:
        for entry in batch.entries:
            if entry.error is not None:
                raise entry.error
        yield [entry.step if entry in batch.entries and entry.step.hypotheses else None for entry in entries]
        batch.step()


@dataclass(slots=True, eq=False)
class Entry:
    """One strategy in a batch."""

    strategy: Strategy
    first: int  # the first of its rows in the cache
    source: int  # length of the source that its rows attend to; 0 without an encoder
    length: int  # tokens in each of its rows; every pass adds one
    rows: int = 1  # in the cache
    step: Step = field(default=Step((), None))  # the newest
    error: Exception | None = None  # raised by its strategy; it ends only this entry

    @property
    def over(self) -> bool:
        return self.error is not None or self.step.finished

    def advance(self, forward: Forward[Any], wanted: Want, rows: slice) -> None:
        """Take the strategy's next Step, from its rows of a pass that was run with `wanted`."""
        try:
            share = slice_forward(forward, wanted, rows, self.source, self.length, self.strategy.want)
            self.step = self.strategy.advance(share)
        except Exception as error:
            self.error = error


class Batch(Generic[CacheT]):
    """Strategies whose prompts have been read, and the cache of their rows."""

    def __init__(self, model: LanguageModel[CacheT], entries: Sequence[Entry], cache: CacheT) -> None:
        self._model = model
        self._cache = cache
        self.entries = tuple(entries)

    @classmethod
    def read(
        cls, model: LanguageModel[CacheT], prompts: Sequence[Sequence[int]], strategies: Sequence[Strategy]
    ) -> Self:
        """Read one prompt for each strategy, and take the first Steps."""
        wanted = union(strategy.want for strategy in strategies)
        rows = {prompt: row for row, prompt in enumerate(dict.fromkeys(map(tuple, prompts)))}
        if isinstance(model, PrefillsTogether) and len(rows) > 1:
            forward = model.prefill_together(list(rows), want=wanted)
            passes, cache = {prompt: (forward, row) for prompt, row in rows.items()}, forward.cache
        else:
            passes = {prompt: (model.prefill(prompt, want=wanted), 0) for prompt in rows}
            cache = reduce(lambda joined, other: joined.join(other), [forward.cache for forward, _ in passes.values()])
        entries = []
        for prompt, strategy in zip(map(tuple, prompts), strategies, strict=True):
            forward, row = passes[prompt]
            source, length = len(prompt) if model.decoder_start else 0, len(model.decoder_start or prompt)
            entry = Entry(strategy, rows[prompt], source, length)
            entry.advance(forward, wanted, slice(row, row + 1))
            entries.append(entry)
        return cls(model, entries, cache)

    @classmethod
    def after_prefill(
        cls,
        model: LanguageModel[CacheT],
        prompt: Sequence[int],
        strategies: Sequence[Strategy],
        forward: Forward[CacheT],
    ) -> Self:
        """Like `read`, for one prompt that a decoder-only model has already read.

        Args:
            forward: the last pass of the prefill, of one row, with all that the strategies want.
        """
        wanted = union(strategy.want for strategy in strategies)
        entries = [Entry(strategy, 0, 0, len(prompt)) for strategy in strategies]
        for entry in entries:
            entry.advance(forward, wanted, slice(0, 1))
        return cls(model, entries, forward.cache)

    @property
    def rows(self) -> int:
        """How many rows the last pass had."""
        return self._cache.rows

    @property
    def living(self) -> tuple[Entry, ...]:
        """The entries that the next pass advances."""
        return tuple(entry for entry in self.entries if not entry.over)

    def step(self) -> None:
        """Drop the entries that are over, and take the next Step of all others in one pass."""
        self.entries = self.living
        if not self.entries:
            return
        feed = [token for entry in self.entries for token in entry.step.feed]
        parents = [entry.first + parent for entry in self.entries for parent in entry.step.parents]
        wanted = union(entry.strategy.want for entry in self.entries)
        forward = self._model.step(feed, self._cache.select(parents), want=wanted)
        self._cache, first = forward.cache, 0
        for entry in self.entries:
            rows = slice(first, first + len(entry.step.feed))
            entry.first, entry.rows, entry.length, first = first, len(entry.step.feed), entry.length + 1, rows.stop
            entry.advance(forward, wanted, rows)

    def row_of(self, entry: Entry) -> CacheT:
        """The cache of an entry's first row after the last pass."""
        return self._cache.select([entry.first])

    def merge(self, other: Self) -> None:
        """Take over the entries of another batch of the same model; that batch must no longer be used."""
        before = self._cache.rows
        for entry in other.entries:
            entry.first += before
        self._cache = self._cache.join(other._cache)
        self.entries += other.entries

    def drop(self, leaving: Collection[Entry]) -> None:
        """Remove entries; their rows are freed with the next pass."""
        self.entries = tuple(entry for entry in self.entries if entry not in leaving)

    def split(self, leaving: Collection[Entry]) -> Self:
        """Move some of the living entries, with their rows, into a new batch."""
        apart = [entry for entry in self.living if entry in leaving]
        cache = self._cache.select([row for entry in apart for row in range(entry.first, entry.first + entry.rows)])
        first = 0
        for entry in apart:
            entry.first, first = first, first + entry.rows
        self.drop(leaving)
        return type(self)(self._model, apart, cache)


def slice_forward(
    forward: Forward[CacheT], wanted: Want, rows: slice, source: int, length: int, want: Want
) -> Forward[CacheT]:
    """One strategy's part of a batched pass, as if the strategy ran alone.

    Args:
        wanted: what the pass was run with.
        rows: the rows of the strategy.
        source, length: how many keys of its source and of its text are not padding.
        want: what the strategy wants from the pass.

    Returns:
        The same pass with only those rows and keys. The cache is the whole one, since only the loop uses caches.
    """
    attention = hidden = layer_logits = None
    if want.attention and forward.attention is not None:
        cross = forward.attention.cross
        attention = Attention(
            forward.attention.decoder[rows, ..., -length:],  # (rows, layers, heads, queries, length)
            None if cross is None else cross[rows, ..., :source],  # (rows, layers, heads, queries, source)
        )
    if want.hidden and forward.hidden is not None:
        hidden = forward.hidden[rows]  # (rows, fed, width); every row of a pass is fed the same number of tokens
    if want.layers and forward.layer_logits is not None:
        layers = [wanted.layers.index(layer) for layer in want.layers]
        layer_logits = forward.layer_logits[rows, layers]  # (rows, layers wanted, V)
    return replace(forward, logits=forward.logits[rows], attention=attention, hidden=hidden, layer_logits=layer_logits)


def union(wants: Iterable[Want]) -> Want:
    """What a pass must return to satisfy all strategies."""
    wants = tuple(wants)
    return Want(
        attention=any(want.attention for want in wants),
        hidden=any(want.hidden for want in wants),
        layers=tuple(sorted({layer for want in wants for layer in want.layers})),
    )


def _check_joinable(model: LanguageModel[Any], prompts: Sequence[Sequence[int]]) -> None:
    lengths = sorted({len(prompt) for prompt in prompts})
    if len(lengths) > 1 and not model.joinable:
        raise AttendError(
            f"The prompts have {lengths[0]:,} to {lengths[-1]:,} tokens, but this model can only run prompts of "
            "the same length together: make them the same length, or run them one after the other."
        )
