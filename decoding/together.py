"""The loop of `generate.py` for several strategies or prompts at once, in one batch through the model.

Equal prompts are read once and their row repeated; different ones are read together by a model that can, else joined.
Every strategy is handed its own rows
of each pass, cut to its own tokens, so none can tell that it has company, and one that has finished leaves the batch.
Knows no strategy by name, and of models only their interface.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from decoding.step import Step
from decoding.strategy import Strategy
from model.errors import AttendError
from model.interface import Attention, CacheT, Forward, LanguageModel, ReadsTogether, Want


def generate_together(
    model: LanguageModel[CacheT], prompts: Sequence[Sequence[int]], strategies: Sequence[Strategy]
) -> Iterator[list[Step | None]]:
    """One list a pass: the Step of every strategy, in their order; None for one that decided nothing or had finished.

    Each strategy's Steps are those it would make alone, but for the rounding of a batch. Closing the generator stops
    the work. Raises `AttendError` where the model cannot read prompts of different lengths side by side.
    """
    _refuse_what_cannot_join(model, prompts)
    living, cache = _read(model, prompts, strategies)
    while living:
        steps: list[Step | None] = [None] * len(strategies)
        for seat in living:
            steps[seat.place] = seat.step if seat.step.hypotheses else None
        yield steps
        living = [seat for seat in living if not seat.step.finished]
        if living:
            cache = _go_on(model, living, cache)


@dataclass(slots=True)
class _Seat:
    """One strategy's place in the batch."""

    place: int  # among the strategies
    strategy: Strategy
    first: int  # the first of its rows in the cache
    source: int  # tokens of the source that all of its rows look at; 0 without an encoder
    length: int  # tokens in each of its rows; every pass adds one
    step: Step  # its newest


def _read(
    model: LanguageModel[CacheT], prompts: Sequence[Sequence[int]], strategies: Sequence[Strategy]
) -> tuple[list[_Seat], CacheT]:
    """Every strategy's first Step, and a cache with one row for each prompt that differs."""
    asked = _all_of(strategy.want for strategy in strategies)
    different = list(dict.fromkeys(map(tuple, prompts)))
    if isinstance(model, ReadsTogether) and len(different) > 1:
        forward = model.prefill_together(different, want=asked)
        passes = {prompt: (forward, row) for row, prompt in enumerate(different)}
        cache = forward.cache
    else:
        passes = {prompt: (model.prefill(prompt, want=asked), 0) for prompt in different}
        cache = reduce(lambda joined, other: joined.join(other), [forward.cache for forward, _ in passes.values()])
    seats = []
    for place, (prompt, strategy) in enumerate(zip(map(tuple, prompts), strategies, strict=True)):
        source = len(prompt) if model.decoder_start else 0
        length = len(model.decoder_start or prompt)
        forward, row = passes[prompt]
        step = strategy.advance(part(forward, asked, slice(row, row + 1), source, length, strategy.want))
        seats.append(_Seat(place, strategy, different.index(prompt), source, length, step))
    return seats, cache


def _go_on(model: LanguageModel[CacheT], living: Sequence[_Seat], cache: CacheT) -> CacheT:
    """One pass over the rows of all who are left, and everybody's next Step."""
    feed = [token for seat in living for token in seat.step.feed]
    parents = [seat.first + parent for seat in living for parent in seat.step.parents]
    asked = _all_of(seat.strategy.want for seat in living)
    forward = model.step(feed, cache.select(parents), want=asked)
    first = 0
    for seat in living:
        rows = slice(first, first + len(seat.step.feed))
        seat.first, seat.length, first = rows.start, seat.length + 1, rows.stop
        seat.step = seat.strategy.advance(part(forward, asked, rows, seat.source, seat.length, seat.strategy.want))
    return forward.cache


def part(forward: Forward[CacheT], asked: Want, rows: slice, source: int, length: int, want: Want) -> Forward[CacheT]:
    """One strategy's share of a pass that was asked for `asked`, as if it had asked alone: its rows, its tokens and
    those of its source without padding, and what it wants. The cache stays whole: only the loop knows caches."""
    attention = hidden = layer_logits = None
    if want.attention and forward.attention is not None:
        cross = forward.attention.cross
        attention = Attention(
            forward.attention.decoder[rows, ..., -length:],  # (rows, layers, heads, queries, length)
            None if cross is None else cross[rows, ..., :source],  # (rows, layers, heads, queries, source)
        )
    if want.hidden and forward.hidden is not None:
        hidden = forward.hidden[rows]  # (rows, fed, width): every row of a pass is fed as many tokens
    if want.layers and forward.layer_logits is not None:
        places = [asked.layers.index(layer) for layer in want.layers]
        layer_logits = forward.layer_logits[rows, places]  # (rows, layers wanted, V)
    return replace(forward, logits=forward.logits[rows], attention=attention, hidden=hidden, layer_logits=layer_logits)


def _all_of(wants: Iterable[Want]) -> Want:
    """What one pass must return so that everybody gets what they want."""
    wants = tuple(wants)
    return Want(
        attention=any(want.attention for want in wants),
        hidden=any(want.hidden for want in wants),
        layers=tuple(sorted({layer for want in wants for layer in want.layers})),
    )


def _refuse_what_cannot_join(model: LanguageModel[Any], prompts: Sequence[Sequence[int]]) -> None:
    lengths = sorted({len(prompt) for prompt in prompts})
    if len(lengths) > 1 and not model.joinable:
        raise AttendError(
            f"The prompts have {lengths[0]:,} to {lengths[-1]:,} tokens, but this model reads only texts of one length "
            "side by side: give prompts of equal length, or run them one after the other."
        )
