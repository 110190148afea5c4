"""The loop of `generate.py` for several strategies or prompts at once, in one batch.

Equal prompts share one prefill, whose row is repeated; different ones are read in one pass if the model can do that,
or else joined. Every strategy gets its own rows of each pass without their padding, so it makes the same Steps as
alone. One that has finished leaves the batch. Knows no strategy by name, and models only by their interface.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from decoding.step import Step
from decoding.strategies.base import Strategy
from model.errors import AttendError
from model.interface import Attention, CacheT, Forward, LanguageModel, ReadsTogether, Want


def generate_batch(
    model: LanguageModel[CacheT], prompts: Sequence[Sequence[int]], strategies: Sequence[Strategy]
) -> Iterator[list[Step | None]]:
    """Run each strategy on its prompt, all in one batch; close the generator to stop.

    Yields:
        For every pass, each strategy's Step, in order; None for one that decided nothing or has finished. Up to the
        rounding of a batch, the Steps are the same as without the others.

    Raises:
        AttendError: where the prompts have different lengths and the model cannot batch those.
    """
    _check_joinable(model, prompts)
    running, cache = _prefill(model, prompts, strategies)
    while running:
        steps: list[Step | None] = [None] * len(strategies)
        for entry in running:
            steps[entry.index] = entry.step if entry.step.hypotheses else None
        yield steps
        running = [entry for entry in running if not entry.step.finished]
        if running:
            cache = _step(model, running, cache)


@dataclass(slots=True)
class _Entry:
    """One strategy in the batch."""

    index: int  # among the strategies
    strategy: Strategy
    first: int  # the first of its rows in the cache
    source: int  # length of the source that its rows attend to; 0 without an encoder
    length: int  # tokens in each of its rows; every pass adds one
    step: Step  # its newest


def _prefill(
    model: LanguageModel[CacheT], prompts: Sequence[Sequence[int]], strategies: Sequence[Strategy]
) -> tuple[list[_Entry], CacheT]:
    """Every strategy's first Step, and a cache with one row for each different prompt."""
    wanted = _union(strategy.want for strategy in strategies)
    rows = {prompt: row for row, prompt in enumerate(dict.fromkeys(map(tuple, prompts)))}
    if isinstance(model, ReadsTogether) and len(rows) > 1:
        forward = model.prefill_together(list(rows), want=wanted)
        passes, cache = {prompt: (forward, row) for prompt, row in rows.items()}, forward.cache
    else:
        passes = {prompt: (model.prefill(prompt, want=wanted), 0) for prompt in rows}
        cache = reduce(lambda joined, other: joined.join(other), [forward.cache for forward, _ in passes.values()])
    entries = []
    for index, (prompt, strategy) in enumerate(zip(map(tuple, prompts), strategies, strict=True)):
        source = len(prompt) if model.decoder_start else 0
        length = len(model.decoder_start or prompt)
        forward, row = passes[prompt]
        step = strategy.advance(slice_forward(forward, wanted, slice(row, row + 1), source, length, strategy.want))
        entries.append(_Entry(index, strategy, rows[prompt], source, length, step))
    return entries, cache


def _step(model: LanguageModel[CacheT], running: Sequence[_Entry], cache: CacheT) -> CacheT:
    """One pass over the rows of all running strategies, and the next Step of each."""
    feed = [token for entry in running for token in entry.step.feed]
    parents = [entry.first + parent for entry in running for parent in entry.step.parents]
    wanted = _union(entry.strategy.want for entry in running)
    forward = model.step(feed, cache.select(parents), want=wanted)
    first = 0
    for entry in running:
        rows = slice(first, first + len(entry.step.feed))
        entry.first, entry.length, first = rows.start, entry.length + 1, rows.stop
        share = slice_forward(forward, wanted, rows, entry.source, entry.length, entry.strategy.want)
        entry.step = entry.strategy.advance(share)
    return forward.cache


def slice_forward(
    forward: Forward[CacheT], wanted: Want, rows: slice, source: int, length: int, want: Want
) -> Forward[CacheT]:
    """One strategy's part of a batched pass, as if it ran alone.

    Args:
        wanted: what the pass was run with.
        rows: the strategy's.
        source, length: how many keys of its source and of its text are not padding.
        want: what the strategy wants of it.

    Returns:
        The same pass with those rows and keys alone. Its cache is the whole one, since only the loop uses caches.
    """
    attention = hidden = layer_logits = None
    if want.attention and forward.attention is not None:
        cross = forward.attention.cross
        attention = Attention(
            forward.attention.decoder[rows, ..., -length:],  # (rows, layers, heads, queries, length)
            None if cross is None else cross[rows, ..., :source],  # (rows, layers, heads, queries, source)
        )
    if want.hidden and forward.hidden is not None:
        hidden = forward.hidden[rows]  # (rows, fed, width): all rows of a pass are fed equally many tokens
    if want.layers and forward.layer_logits is not None:
        layers = [wanted.layers.index(layer) for layer in want.layers]
        layer_logits = forward.layer_logits[rows, layers]  # (rows, layers wanted, V)
    return replace(forward, logits=forward.logits[rows], attention=attention, hidden=hidden, layer_logits=layer_logits)


def _union(wants: Iterable[Want]) -> Want:
    """What a pass must return to satisfy them all."""
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
